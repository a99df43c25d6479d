"""Model files: weights and settings in one sealed file, never code.

The content is JSON: kind of estimator, its parameters, what the encoder learned. Reading a file
parses numbers and strings; there is nothing in it that could run. See `_sealed.py` for the file
itself.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from sklearn.base import is_classifier

from .._sealed import (
    Seal,
    checksum,
    pack_tree,
    read_sealed,
    sealed_text,
    unpack_tree,
    write_sealed,
)
from ..data import Layout, Panel
from ..errors import ModelFileError
from ..gil import POLICIES, MemberMlp, Policy, assign_state

RULE = "A model file is what the save method of an imputefree estimator wrote"
# Before format 3 (version 0.1.0 has 2) networks read their inputs in another order.
MODEL = Seal("model file", 3, RULE, "Copy it again, or save the model again", oldest=3)
POLICY = "policy."  # before the names of a policy's weights
PLAIN = str | int | float | bool | None
NUMBER = int | float
FITTED: dict[str, Any] = {  # fitted attributes that a file may hold, and what they are
    **{"settings_": dict, "placeholder_": NUMBER, "n_features_in_": int, "layout_": dict},
    **{"classes_": np.ndarray, "feature_names_in_": np.ndarray},
    **{"target_mean_": NUMBER, "target_scale_": NUMBER, "history_": dict, "n_iter_": int},
    "column_importance_": np.ndarray,  # of networks trained with trusted rows
    **{"weights_": dict, "losses_": dict, "out_of_fold_": dict},  # of a blend
    # of a model made by the command line, see workflow
    **{"about_": dict, "card_": str, "conformal_": dict},
}
NAMES = ("classes_", "feature_names_in_")
MOST_STRINGS = 2**28  # bytes of an array of strings, each as long as the longest
LAYERS, MOST_LAYERS = ("hidden", "gate_sizes"), 100
Estimator = TypeVar("Estimator")


def save_model_file(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator; a failure halfway leaves an older file at `path` untouched."""
    write_sealed(Path(path), MODEL, *model_content(model))


def model_digest(model: Any) -> str:
    """The SHA-256 that the file of a fitted estimator has."""
    content, weights = model_content(model)
    return checksum(sealed_text(MODEL, content), weights)


def model_content(model: Any) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """What a file holds of an estimator, as plain JSON types and tensors by name.

    The estimator adds what only it knows: `_parts` puts tensors into a dict and returns the rest,
    `_restore` is its inverse. A blend holds the content of other estimators.
    """
    weights: dict[str, torch.Tensor] = {}
    content = {
        "estimator": type(model).__name__,
        "parameters": {k: pack_parameter(v) for k, v in model.get_params(deep=False).items()},
        "fitted": {k: _pack_fitted(getattr(model, k)) for k in FITTED if hasattr(model, k)},
        **model._parts(weights),
    }
    return content, weights


def load_model_file(path: str | os.PathLike[str], cls: type[Estimator]) -> Estimator:
    """Read an estimator of class `cls` (or of the class it names, for the common base)."""
    content, weights = read_sealed(Path(path), MODEL)
    known = {sub.__name__: sub for sub in _subclasses(cls)}
    kind = str(content.get("estimator"))
    if kind not in known:
        rule = f"{cls.__name__}.load reads {' or '.join(sorted(known))}"
        raise ModelFileError(f"{path} holds the estimator {kind}", rule, f"Call {kind}.load")
    try:
        model = rebuild_model(known[kind], content, weights)
        _try_out(model)
        return model
    except (LookupError, TypeError, ValueError, RuntimeError, AttributeError, ArithmeticError) as e:
        raise MODEL.refuse(Path(path), f"does not describe a whole model ({e})") from None


def rebuild_model(cls: Any, content: dict[str, Any], weights: dict[str, torch.Tensor]) -> Any:
    """The inverse of `model_content`; takes the tensors that it uses out of `weights`."""
    parameters = {k: _unpack_parameter(k, v) for k, v in content["parameters"].items()}
    known = cls._get_param_names()
    model = cls(**{k: v for k, v in parameters.items() if k in known and v is not _DROPPED})
    for name, kind in FITTED.items():
        if name in content["fitted"]:
            setattr(model, name, _unpack_fitted(content["fitted"][name]))
            if not isinstance(getattr(model, name), kind):
                raise TypeError(f"{name} is not what it should be")
    if any(getattr(model, name).ndim != 1 for name in NAMES if hasattr(model, name)):
        raise ValueError("classes or columns are not one after the other")
    target = ["classes_"] if is_classifier(model) else ["target_mean_", "target_scale_"]
    if lacking := [name for name in (*model._kept, *target) if not hasattr(model, name)]:
        raise ValueError(f"{', '.join(lacking)} is missing")
    if hasattr(model, "layout_"):
        Layout.from_dict(model.layout_).check()
    model._restore(content, weights)
    return model


def _try_out(model: Any) -> None:
    """Raise an error unless the model predicts a row of which nothing is known."""
    nothing = model.encoder_.nothing()
    if isinstance(nothing, Panel) and not hasattr(model, "layout_"):
        raise ValueError("layout_ is missing")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = model._predict_inputs(nothing)
    if not np.isfinite(values).all():
        raise ValueError("its predictions are not finite")


def pack_network(model: Any, weights: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Encoder, networks and policy of a `GILEstimator`; their tensors go into `weights`."""
    weights |= {name: w.detach().cpu() for name, w in model.predictor_.state_dict().items()}
    return {
        "encoder": model.encoder_.state(),
        "network": model.predictor_.shape,
        "policy": _pack_policy(model, weights),
    }


def unpack_network(model: Any, content: dict[str, Any], weights: dict[str, torch.Tensor]) -> None:
    """The inverse of `pack_network`: sets encoder_, predictor_ and policy_."""
    model.encoder_ = model.encoder_class.from_state(content["encoder"])
    if any(len(content["network"].get(name) or ()) > MOST_LAYERS for name in LAYERS):
        raise ValueError(f"a network of more than {MOST_LAYERS} layers")
    with torch.device("meta"):  # takes no memory, whatever size a crafted file asks for
        network = model.network_class(generator=torch.Generator(), **content["network"])
    policy = _unpack_policy(content["policy"], weights)
    if policy is not None:
        model.policy_ = policy
    assign_state(network, weights)
    model.predictor_ = network
    classes = len(model.classes_) if hasattr(model, "classes_") else 1
    outputs = 1 if classes == 2 else classes  # two classes share one logit
    if (network.inputs, network.outputs) != (len(model.encoder_.input_names), outputs):
        raise ValueError("columns, network and classes do not fit together")


_DROPPED = object()  # a parameter that no file can hold, such as a custom policy object


def pack_parameter(value: Any, levels: int = 10) -> Any:
    """A parameter as plain JSON types; {"dropped": repr} for what JSON cannot hold.

    levels : how deep dicts may lie in dicts
    """
    if hasattr(value, "tolist"):  # of NumPy and pandas, such as an Index of columns
        value = value.tolist()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, list | tuple) and all(isinstance(v, PLAIN | np.generic) for v in value):
        return {"tuple" if isinstance(value, tuple) else "list": list(value)}
    if isinstance(value, dict) and levels:
        pairs = [[pack_parameter(part, levels - 1) for part in pair] for pair in value.items()]
        parts = [part for pair in pairs for part in pair if isinstance(part, dict)]
        return next((part for part in parts if "dropped" in part), {"dict": pairs})
    return {"dropped": "a dict" if isinstance(value, dict) else repr(value)[:200]}


def _unpack_parameter(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "dropped" in value:
        warnings.warn(
            f"The file could not keep the parameter {name}={value['dropped']}; the loaded model"
            " predicts the same, but a new fit would use the default.",
            stacklevel=5,
        )
        return _DROPPED
    if "dict" in value:
        return {_unpack_parameter(name, k): _unpack_parameter(name, v) for k, v in value["dict"]}
    return tuple(value["tuple"]) if "tuple" in value else value["list"]


def _pack_policy(model: Any, weights: dict[str, torch.Tensor]) -> str | None:
    """The policy's name; the network that gives its importance goes among the weights.

    A custom policy cannot be kept, and what learning needs beyond that network is not.
    """
    policy: Any = getattr(model, "policy_", None)
    name = next((name for name, kind in POLICIES.items() if type(policy) is kind), None)
    if name is not None and policy.network is not None:
        learned = policy.network.state_dict()
        weights |= {POLICY + key: weight.detach().cpu() for key, weight in learned.items()}
    return name


def _unpack_policy(name: str | None, weights: dict[str, torch.Tensor]) -> Policy | None:
    """The reverse of `_pack_policy`; takes the policy's weights out of the others."""
    keys = [key for key in weights if key.startswith(POLICY)]
    learned = {key.removeprefix(POLICY): weights.pop(key) for key in keys}
    if name is None:
        return None
    policy = POLICIES[name]()
    if learned:
        policy.network = MemberMlp.of(learned)
    return policy


def _pack_fitted(value: Any) -> dict[str, Any]:
    """A fitted attribute that plain JSON can hold; an array with its dtype."""
    if isinstance(value, np.ndarray):
        return {"array": pack_tree(value.tolist(), {}), "dtype": value.dtype.str}
    return {"value": pack_tree(value, {})}


def _unpack_fitted(packed: dict[str, Any]) -> Any:
    """The inverse of `_pack_fitted`; the length of strings is that of the longest one."""
    if "array" not in packed:
        return unpack_tree(packed["value"], {})
    cells, dtype = unpack_tree(packed["array"], {}), np.dtype(packed["dtype"])
    if dtype.kind == "U":
        longest = max(map(len, cells), default=0)
        if 4 * longest * len(cells) > MOST_STRINGS:
            raise ValueError("strings that are too long")
        dtype = np.dtype(str)
    elif dtype.kind not in "biufO":
        raise ValueError(f"values of type {dtype}")
    return np.array(cells, dtype=dtype)


def _subclasses(cls: Any) -> list[Any]:
    return [cls, *(deeper for sub in cls.__subclasses__() for deeper in _subclasses(sub))]
