"""The networks that predict. All weights carry a leading members dimension K.

K networks train side by side in one batched computation: a weight is (K, out, in), a batch
(K, B, in), a layer one `baddbmm`. K = 1 is the paper's setting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._importance import ImportanceTap, weighted_linear
from ._noise import switches

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "tanh": torch.tanh,
}


class MemberLinear(nn.Module):
    """K linear layers side by side.

    Shapes: (K, B, inputs) -> (K, B, outputs).

    >>> MemberLinear(3, 4, 2, torch.Generator().manual_seed(0))(torch.zeros(3, 5, 4)).shape
    torch.Size([3, 5, 2])
    """

    def __init__(
        self,
        members: int,
        inputs: int,
        outputs: int,
        generator: torch.Generator,
        bound: float | None = None,
    ) -> None:
        super().__init__()
        if bound is None:
            bound = 1.0 / math.sqrt(max(inputs, 1))  # PyTorch's own default for nn.Linear
        weight = torch.empty(members, outputs, inputs).uniform_(-bound, bound, generator=generator)
        bias = torch.empty(members, 1, outputs).uniform_(-bound, bound, generator=generator)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    def forward(self, values: Tensor, tap: ImportanceTap | None = None) -> Tensor:
        return weighted_linear(values, self.weight, self.bias, tap)


class MemberMlp(nn.Sequential):
    """A plain multilayer perceptron per member, with a sigmoid at its end if asked.

    >>> net = MemberMlp(2, [4, 8, 3], torch.Generator().manual_seed(0), sigmoid=True)
    >>> net(torch.zeros(2, 5, 4)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(
        self,
        members: int,
        sizes: Sequence[int],
        generator: torch.Generator,
        sigmoid: bool = False,
        last_bound: float | None = None,
    ) -> None:
        layers: list[nn.Module] = []
        for i, (inputs, outputs) in enumerate(pairwise(sizes)):
            last = i == len(sizes) - 2
            layers.append(
                MemberLinear(members, inputs, outputs, generator, last_bound if last else None)
            )
            if not last:
                layers.append(nn.ReLU())
        if sigmoid:
            layers.append(nn.Sigmoid())
        super().__init__(*layers)

    @classmethod
    def of(cls, weights: Mapping[str, Tensor], sigmoid: bool = False) -> MemberMlp:
        """The network that `state_dict` gave these weights."""
        layers = {
            int(name.removesuffix(".weight")): tuple(weight.shape)
            for name, weight in weights.items()
            if name.endswith(".weight")
        }
        shapes = [layers[at] for at in sorted(layers)]
        members, _, inputs = shapes[0]
        sizes = [inputs, *(outputs for _, outputs, _ in shapes)]
        net = cls(members, sizes, torch.Generator().manual_seed(0), sigmoid)
        net.load_state_dict(weights)
        return net


class Predictor(nn.Module):
    """An MLP split, as in the paper, into an encoding layer and inference layers.

    The encoding layer is the only one that sees the input, so it is the one whose gradient is
    weighted. With `linear_path` it also carries a straight line from input to output (its last
    O rows), which lets a small table be nearly logistic regression.

    Parameters
    ----------
    members, inputs, outputs : K, D, O
    hidden : widths of the hidden layers; the first is the number of features E
    linear_path : add a linear map from input to output
    dropout : share of hidden units switched off in training
    learned_placeholder : one trainable value per input (and member) for missing entries
    gate_sizes : hidden widths of an input gate h(x), multiplied into the input (ablation)
    generator : source of the initial weights

    Shapes: values (K, B, D), observed (K, B, D) -> features (K, B, E), raw output (K, B, O).

    >>> net = Predictor(2, 4, 3, hidden=(8,), generator=torch.Generator().manual_seed(0))
    >>> features, raw = net(torch.zeros(2, 5, 4))
    >>> features.shape, raw.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 5, 3]))
    """

    placeholder: nn.Parameter | None
    gate: MemberMlp | None
    n_beside = 0  # what the inference layers get beside the features

    def __init__(
        self,
        members: int,
        inputs: int,
        outputs: int,
        hidden: Sequence[int],
        *,
        generator: torch.Generator,
        activation: str = "relu",
        dropout: float = 0.0,
        linear_path: bool = False,
        learned_placeholder: bool = False,
        gate_sizes: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.shape = {  # what builds a network of the same shape: plain JSON types
            "members": members,
            "inputs": inputs,
            "outputs": outputs,
            "hidden": list(hidden),
            "activation": activation,
            "dropout": dropout,
            "linear_path": linear_path,
            "learned_placeholder": learned_placeholder,
            "gate_sizes": None if gate_sizes is None else list(gate_sizes),
        }
        self.members, self.inputs, self.outputs = members, inputs, outputs
        self.n_features, self.dropout, self.linear_path = hidden[0], dropout, linear_path
        self.activation = ACTIVATIONS[activation]
        self.encoder = self._make_encoder(generator)
        sizes = [hidden[0] + self.n_beside, *hidden[1:], outputs]
        self.layers = nn.ModuleList(
            MemberLinear(members, n_in, n_out, generator) for n_in, n_out in pairwise(sizes)
        )
        self.placeholder = (
            nn.Parameter(torch.zeros(members, 1, inputs)) if learned_placeholder else None
        )
        self.gate = (
            MemberMlp(members, [inputs, *gate_sizes, inputs], generator, sigmoid=True)
            if gate_sizes is not None
            else None
        )

    def _make_encoder(self, generator: torch.Generator) -> nn.Module:
        width = self.n_features + (self.outputs if self.linear_path else 0)
        return MemberLinear(self.members, self.inputs, width, generator)

    def make_tap(self) -> ImportanceTap:
        """What carries importance into this kind of encoder."""
        return ImportanceTap()

    def encode(
        self, values: Tensor, observed: Tensor | None = None, tap: ImportanceTap | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """ζ = f_enc(x), and the linear path's share of the output.

        Shapes: (K, B, D) -> (K, B, E) and (K, B, O) or None.
        """
        out = self.encoder(self._filled(values, observed), tap)
        if not self.linear_path:
            return self.activation(out), None
        hidden, straight = out.split([self.n_features, self.outputs], -1)
        return self.activation(hidden), straight

    def _filled(self, values: Tensor, observed: Tensor | None) -> Tensor:
        """The learned placeholder where an entry is missing, and the input gate, if there are."""
        if self.placeholder is not None:
            if observed is None:
                raise ValueError("a learned placeholder needs to know which entries are observed")
            values = torch.where(observed, values, self.placeholder)
        if self.gate is not None:
            values = values * self.gate(values)
        return values

    def infer(
        self,
        features: Tensor,
        straight: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """ŷ before its link function, from the features; (K, B, E) -> (K, B, O)."""
        hidden = self._drop(features, generator)
        for layer in self.layers[:-1]:
            hidden = self._drop(self.activation(layer(hidden)), generator)
        raw = self.layers[-1](hidden)
        return raw if straight is None else raw + straight

    def forward(
        self,
        values: Tensor,
        observed: Tensor | None = None,
        tap: ImportanceTap | None = None,
        generator: torch.Generator | None = None,
        lengths: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Features and raw output. Dropout acts only when a generator is given.

        `lengths` is there for series; a row of a table has none.
        """
        features, straight = self.encode(values, observed, tap)
        return features, self.infer(features, straight, generator)

    @property
    def wants_observed(self) -> bool:
        """Whether a forward pass must be told which entries are observed."""
        return self.placeholder is not None

    def labelled(self, of_rows: Tensor, lengths: Tensor | None) -> Tensor:
        """The rows that a label belongs to: all rows of a table."""
        return of_rows

    def everywhere(
        self,
        features: Tensor,
        raw: Tensor,
        values: Tensor,
        observed: Tensor | None,
        lengths: Tensor | None,
    ) -> Tensor:
        """Raw output for every row, given that of the labelled ones; the same for a table."""
        return raw

    def _drop(self, hidden: Tensor, generator: torch.Generator | None) -> Tensor:
        if generator is None or self.dropout == 0:
            return hidden
        dropped = min(round(256 * self.dropout), 255) / 256  # what `switches` can do exactly
        keep = switches(hidden.shape, 1 - dropped, generator).to(hidden)
        return hidden * keep.div_(1 - dropped)
