"""The networks that predict, and their losses. All weights carry a leading members dimension K.

K networks train side by side in one batched computation: a weight is (K, out, in), a batch
(K, B, in), a layer one `baddbmm`. K = 1 is the paper's setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor, nn
from torch.nn import functional as F

from ..data import FewRows, LoneRow
from ._fused_layers import ACTIVATIONS, fused_layers
from ._importance import ImportanceTap, weighted_linear
from ._team import TeamGenerator
from ._training_data import Batch


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
        self.inputs = inputs
        if bound is None:
            bound = 1.0 / math.sqrt(max(inputs, 1))  # PyTorch's own default for nn.Linear
        weight = torch.empty(members, outputs, inputs).uniform_(-bound, bound, generator=generator)
        bias = torch.empty(members, 1, outputs).uniform_(-bound, bound, generator=generator)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    def forward(self, values: Tensor, tap: ImportanceTap | None = None) -> Tensor:
        return weighted_linear(values, self.weight, self.bias, tap)


class MemberMlp(nn.Sequential):
    """A multilayer perceptron per member with outputs between 0 and 1, such as importance.

    >>> net = MemberMlp(2, [4, 8, 3], torch.Generator().manual_seed(0))
    >>> net(torch.zeros(2, 5, 4)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(
        self,
        members: int,
        sizes: Sequence[int],
        generator: torch.Generator,
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
        super().__init__(*layers, nn.Sigmoid())

    @classmethod
    def of(cls, weights: Mapping[str, Tensor]) -> MemberMlp:
        """The network whose `state_dict` these weights are."""
        layers = {
            int(name.removesuffix(".weight")): tuple(weight.shape)
            for name, weight in weights.items()
            if name.endswith(".weight")
        }
        shapes = [layers[at] for at in sorted(layers)]
        members, _, inputs = shapes[0]
        sizes = [inputs, *(outputs for _, outputs, _ in shapes)]
        with torch.device("meta"):  # takes no memory, whatever the shapes are
            net = cls(members, sizes, torch.Generator())
        assign_state(net, weights)
        return net


def assign_state(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Make these weights those of a network; a ValueError unless they are complete and finite."""
    kinds = {name: weight.dtype for name, weight in network.state_dict().items()}
    if kinds != {name: weight.dtype for name, weight in weights.items()}:
        raise ValueError("the weights are not those of the network")
    if not all(weight.isfinite().all() for weight in weights.values()):
        raise ValueError("a weight is not a finite number")
    network.load_state_dict(dict(weights), assign=True)


class Predictor(nn.Module):
    """An MLP split, as in the paper, into an encoding layer and inference layers.

    The encoding layer is the only one that sees the input, so it is the one whose gradient is
    weighted. With `linear_path` its last O rows map the input straight to the output, so that on a
    small table the network can be close to logistic regression.

    Parameters
    ----------
    members, inputs, outputs : K, D, O
    hidden : widths of the hidden layers; the first is the number of features E
    linear_path : add a linear map from input to output
    dropout : fraction of hidden units dropped in training
    learned_placeholder : one trainable value per input (and member) for missing entries
    gate_sizes : hidden widths of an input gate h(x), multiplied into the input (ablation)
    generator : random generator for the initial weights

    Shapes: values (K, B, D), observed (K, B, D) -> features (K, B, E), raw output (K, B, O).

    >>> net = Predictor(2, 4, 3, hidden=(8,), generator=torch.Generator().manual_seed(0))
    >>> features, raw = net(torch.zeros(2, 5, 4))
    >>> features.shape, raw.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 5, 3]))
    """

    placeholder: nn.Parameter | None
    gate: MemberMlp | None
    activation_name: str
    encoder: Any  # MemberLinear or, for series, MemberRecurrent
    layers: Any  # of MemberLinear
    lone: Any = None  # a `LoneRow`, and of which weights; training, which changes them, removes it
    n_extra = 0  # number of inputs that the inference layers get besides the features

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
        self.shape = {  # arguments to build a network of the same shape: plain JSON types
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
        self.activation_name = activation
        self.activation = ACTIVATIONS[activation][0]
        self.encoder = self._make_encoder(generator)
        sizes = [hidden[0] + self.n_extra, *hidden[1:], outputs]
        self.layers = nn.ModuleList(
            MemberLinear(members, n_in, n_out, generator) for n_in, n_out in pairwise(sizes)
        )
        self.placeholder = (
            nn.Parameter(torch.zeros(members, 1, inputs)) if learned_placeholder else None
        )
        self.gate = (
            MemberMlp(members, [inputs, *gate_sizes, inputs], generator)
            if gate_sizes is not None
            else None
        )

    def _make_encoder(self, generator: torch.Generator) -> nn.Module:
        width = self.n_features + (self.outputs if self.linear_path else 0)
        return MemberLinear(self.members, self.inputs, width, generator)

    @property
    def paced(self) -> nn.Parameter:
        """The first layer's weight, whose columns may learn at a pace of their own."""
        return self.encoder.weight

    def make_tap(self) -> ImportanceTap:
        """A new tap for this kind of encoder."""
        return ImportanceTap()

    def _filled(self, values: Tensor, observed: Tensor | None) -> Tensor:
        """Apply the learned placeholder and the input gate, if there are any."""
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
        *,
        activate: bool = False,
    ) -> Tensor:
        """ŷ before the link function, from the features; (K, B, E) -> (K, B, O).

        activate : the features are still to be activated
        """
        weights = [weight for layer in self.layers for weight in (layer.weight, layer.bias)]
        masks = self._masks(features, generator)
        raw = fused_layers(features, weights, self.activation_name, activate=activate, masks=masks)
        return raw if straight is None else raw + straight

    def forward(
        self,
        values: Tensor,
        observed: Tensor | None = None,
        tap: ImportanceTap | None = None,
        generator: torch.Generator | None = None,
        lengths: Tensor | None = None,
        summaries: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Features (without gradients) and raw output. Dropout is active only with a generator.

        Lengths and summaries are for series, and ignored here.
        """
        encoded, straight = self.encoder(self._filled(values, observed), tap), None
        if self.linear_path:
            encoded, straight = encoded.split([self.n_features, self.outputs], -1)
        features = self.activation(encoded.detach())  # ζ = f_enc(x)
        return features, self.infer(encoded, straight, generator, activate=True)

    def see(
        self,
        batch: Batch,
        tap: ImportanceTap | None = None,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Features and raw output of a batch."""
        parts = batch.values, batch.observed, tap, generator, batch.lengths, batch.summaries
        return self(*parts)

    @property
    def is_plain(self) -> bool:
        """Whether `raw_of_few` is this network: a table's on the CPU, nothing but layers, relu."""
        plain = type(self) is Predictor and self.activation_name == "relu"
        simple = self.placeholder is None and self.gate is None
        return plain and simple and bool(self.encoder.weight.is_cpu)

    def raw_of_few(self, values: np.ndarray) -> np.ndarray:
        """Raw output of a few rows on the CPU, by NumPy; (n, D) -> (K, n, O).

        PyTorch takes longer to begin these products than to do them.
        """
        weight = self.encoder.weight.detach().numpy()
        return self._raw_of_sums(values @ weight.reshape(-1, weight.shape[2]).T)

    def raw_of_lone(self, codes: np.ndarray, few: FewRows) -> np.ndarray:
        """The same for the codes of a row that is alone; (1, C) -> (K, 1, O).

        Only if what networks read is 0 where missing; see `LoneRow`.
        """
        weight = self.encoder.weight
        key = id(few), id(weight), weight.data_ptr(), weight._version
        if self.lone is None or self.lone[0] != key:
            layer = LoneRow(few, weight.detach().flatten(0, 1).numpy())
            self.lone = key, layer, weight  # whose id is not given to another while it is here
        return self._raw_of_sums(self.lone[1].sums(codes[0]))

    def _raw_of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Raw output from what the first layer makes of rows, without its bias."""
        bias = self.encoder.bias.detach().numpy()
        encoded = sums.reshape(-1, len(bias), bias.shape[2]).swapaxes(0, 1) + bias
        raw = encoded[..., : self.n_features]
        for layer in self.layers:
            weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
            raw = np.maximum(raw, 0.0) @ weight.swapaxes(1, 2) + bias
        return raw + encoded[..., self.n_features :] if self.linear_path else raw

    @property
    def wants_observed(self) -> bool:
        """Whether a forward pass needs to know which entries are observed."""
        return self.placeholder is not None

    def labelled(self, features: Tensor, lengths: Tensor | None) -> Tensor:
        """Features of the rows that have a label: all rows of a table."""
        return features

    def everywhere(self, features: Tensor, raw: Tensor, batch: Batch) -> Tensor:
        """Raw output for every row, not just labelled ones; the same for a table."""
        return raw

    def _masks(self, features: Tensor, generator: torch.Generator | None) -> list[Tensor] | None:
        """Dropout: per layer, what the values that it sees are multiplied by; (K, B, ·) each."""
        if generator is None or self.dropout == 0:
            return None
        kept = 1 - min(round(256 * self.dropout), 255) / 256  # exact for bernoulli_mask
        masks = []
        for layer in self.layers:
            shape = (*features.shape[:2], layer.inputs)
            keep = bernoulli_mask(shape, kept, generator).numpy() * np.float32(1 / kept)
            masks.append(torch.from_numpy(keep).to(features))
        return masks

    @torch.no_grad()
    def keep_members(self, kept: Tensor) -> None:
        """Only the members with these numbers stay; `EarlyStopping.restore` brings all back."""
        for weight in self.parameters():
            weight.data, weight.grad = weight.data[kept], None
        self.members = len(kept)


def bernoulli_mask(shape: Sequence[int], probability: float, generator: torch.Generator) -> Tensor:
    """A bool tensor on the CPU, True with the given probability (rounded to 1/256).

    Takes one random byte per entry, eight from each draw. This is several times faster than
    `bernoulli_`, which took a third of the time of a training step.

    >>> mask = bernoulli_mask((1000, 10), 0.25, torch.Generator().manual_seed(0))
    >>> mask.shape, round(mask.float().mean().item(), 2)
    (torch.Size([1000, 10]), 0.25)
    """
    if isinstance(generator, TeamGenerator):
        drawn = _bernoulli_mask(generator.whole(shape), probability, generator)
        return generator.take(drawn, shape)
    return _bernoulli_mask(shape, probability, generator)


def _bernoulli_mask(shape: Sequence[int], probability: float, generator: torch.Generator) -> Tensor:
    count = math.prod(shape)
    draws = torch.empty((count + 7) // 8, dtype=torch.int64)
    draws.random_(-(2**63), None, generator=generator)
    if (threshold := round(256 * probability)) == 256:  # does not fit a byte
        return torch.ones(*shape, dtype=torch.bool)
    chosen = draws.numpy().view(np.uint8)[:count] < threshold  # PyTorch compares bytes one by one
    return torch.from_numpy(chosen).view(*shape)


class CrossEntropy:
    """For classes. The raw output is one logit per class, or a single logit for two classes.

    >>> loss = CrossEntropy(classes=2)
    >>> loss.errors(torch.zeros(1, 1, 1), torch.tensor([[1]])).round(decimals=4)
    tensor([[0.6931]])
    >>> loss.predict(torch.zeros(1, 1, 1))
    tensor([[[0.5000, 0.5000]]])
    """

    def __init__(self, classes: int) -> None:
        self.classes = self.predictions = classes
        self.outputs = 1 if classes == 2 else classes

    def predict(self, raw: Tensor) -> Tensor:
        """(..., O) logits -> (..., classes) probabilities ŷ."""
        if self.classes == 2:
            return torch.cat([torch.sigmoid(-raw), torch.sigmoid(raw)], -1)
        return raw.softmax(-1)

    def predict_few(self, raw: np.ndarray) -> np.ndarray:
        """As `predict`, by NumPy, which begins sooner."""
        if self.classes == 2:
            return expit(raw * (-1.0, 1.0))
        shares = np.exp(raw - raw.max(-1, keepdims=True))
        return shares / shares.sum(-1, keepdims=True)

    def errors(self, raw: Tensor, target: Tensor) -> Tensor:
        """E(ŷ, y) per row: (K, B, O) and (K, B) -> (K, B)."""
        if self.classes == 2:
            truth = target.to(raw.dtype)
            return F.binary_cross_entropy_with_logits(raw.squeeze(-1), truth, reduction="none")
        flat = F.cross_entropy(raw.flatten(0, -2), target.flatten(), reduction="none")
        return flat.view(target.shape)


class SquaredError:
    """For numbers, which training scales to mean 0 and standard deviation 1.

    >>> SquaredError().errors(torch.ones(1, 1, 1), torch.tensor([[3.0]]))
    tensor([[4.]])
    """

    outputs = predictions = 1
    classes = 0

    def predict(self, raw: Tensor) -> Tensor:
        """The raw output is the prediction ŷ."""
        return raw

    def predict_few(self, raw: np.ndarray) -> np.ndarray:
        """The same for NumPy."""
        return raw

    def errors(self, raw: Tensor, target: Tensor) -> Tensor:
        """E(ŷ, y) per row: (K, B, 1) and (K, B) -> (K, B)."""
        return (raw.squeeze(-1) - target).square()


Loss = CrossEntropy | SquaredError
