"""The hand-written backward pass, against autograd on the same layers one by one."""

import pytest
import torch

from imputefree.gil._fused_layers import ACTIVATIONS, fused_layers

K, B, WIDTHS = 3, 5, (4, 6, 2)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("activate", [True, False])
@pytest.mark.parametrize("dropout", [True, False])
def test_output_and_gradients_are_those_of_autograd(activation, activate, dropout):
    g = torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64).requires_grad_()

    first = draw(K, B, WIDTHS[0])
    shapes = list(zip(WIDTHS[1:], WIDTHS[:-1], strict=True))
    weights = [draw(K, *shape) for out, width in shapes for shape in ((out, width), (1, out))]
    masks = None
    if dropout:
        masks = [
            (torch.rand(K, B, width, generator=g) < 0.7).double() / 0.7 for width in WIDTHS[:2]
        ]
    function = getattr(torch.nn.functional, activation)
    raw = first
    for layer in range(2):
        hidden = function(raw) if layer or activate else raw
        hidden = hidden * masks[layer] if dropout else hidden
        raw = torch.stack(
            [hidden[k] @ weights[2 * layer][k].T + weights[2 * layer + 1][k] for k in range(K)]
        )
    upstream = torch.randn(raw.shape, generator=g, dtype=torch.float64)
    wanted = torch.autograd.grad(raw, [first, *weights], upstream)
    fused = fused_layers(first, weights, activation, activate=activate, masks=masks)
    found = torch.autograd.grad(fused, [first, *weights], upstream)
    assert torch.allclose(fused, raw, rtol=1e-12, atol=1e-12)
    for mine, theirs in zip(found, wanted, strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-12, atol=1e-12)
