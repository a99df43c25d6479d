"""Model files: weights and settings in one safetensors file, never code.

A file is a safetensors file whose header carries one JSON string: format version, kind of
estimator, its parameters, what the encoder learned, and a SHA-256 over all of that and the
weights. Reading it parses numbers and strings; there is nothing in it that could run.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from .._files import saving
from ..data import Layout
from ..errors import ModelFileError
from ..gil import POLICIES, MemberMlp, Policy

FORMAT = 2  # 1 had no policy
KEY = "imputefree"
POLICY = "policy."  # before the names of a policy's weights
RULE = "A model file is what the save method of an imputefree estimator wrote"
PLAIN = str | int | float | bool | None
FITTED = ["settings_", "placeholder_", "classes_", "target_mean_", "target_scale_"]
FITTED += ["n_features_in_", "feature_names_in_", "layout_", "history_", "n_iter_"]
FITTED += ["column_importance_"]  # of networks trained with trusted rows
FITTED += ["weights_", "losses_", "out_of_fold_"]  # of a blend
FITTED += ["about_", "card_", "conformal_"]  # of a model made by the command line, see workflow
Estimator = TypeVar("Estimator")


def save_model_file(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator; a failure halfway leaves an older file at `path` untouched."""
    weights, metadata = pack_model(model)
    with saving(Path(path), ModelFileError) as place:
        place.write_bytes(_in_order(to_bytes(weights, metadata)))


def pack_model(model: Any) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Weights and metadata of a fitted estimator; "sha256" identifies both."""
    content, weights = model_content(model)
    text = json.dumps({"format": FORMAT, **content}, sort_keys=True, default=np.generic.item)
    return weights, {KEY: text, "sha256": _digest(text, weights)}


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


def _in_order(file: bytes) -> bytes:
    """The same safetensors file with its header sorted: the library's order differs from run to
    run, and equal models must be equal files."""
    at = 8 + int.from_bytes(file[:8], "little")
    header = json.dumps(json.loads(file[8:at]), sort_keys=True, separators=(",", ":")).encode()
    # Weights start at a multiple of 64 bytes, so that a loaded model is aligned, and predicts, the
    # same to the last bit whatever the length of its card.
    header += b" " * (-(len(header) + 8) % 64)
    return len(header).to_bytes(8, "little") + header + file[at:]


def load_model_file(path: str | os.PathLike[str], cls: type[Estimator]) -> Estimator:
    """Read an estimator of class `cls` (or of the class it names, for the common base)."""
    content, weights = _read(Path(path))
    known = {sub.__name__: sub for sub in _subclasses(cls)}
    kind = str(content.get("estimator"))
    if kind not in known:
        rule = f"{cls.__name__}.load reads {' or '.join(sorted(known))}"
        raise ModelFileError(f"{path} holds a {kind}", rule, f"Call {kind}.load")
    try:
        return rebuild_model(known[kind], content, weights)
    except (LookupError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        fact = f"{path} does not describe a whole model ({error})"
        raise ModelFileError(fact, RULE, "Save the model again") from None


def rebuild_model(cls: Any, content: dict[str, Any], weights: dict[str, torch.Tensor]) -> Any:
    """The inverse of `model_content`; takes the tensors that it uses out of `weights`."""
    parameters = {k: _unpack_parameter(k, v) for k, v in content["parameters"].items()}
    known = cls._get_param_names()
    model = cls(**{k: v for k, v in parameters.items() if k in known and v is not _DROPPED})
    for name in (name for name in FITTED if name in content["fitted"]):
        packed = content["fitted"][name]
        is_array = "array" in packed
        value = np.array(packed["array"], packed["dtype"]) if is_array else packed["value"]
        setattr(model, name, value)
    if hasattr(model, "layout_"):
        Layout.from_dict(model.layout_).check()
    model._restore(content, weights)
    return model


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
    with torch.device("meta"):  # takes no memory, whatever size a crafted file asks for
        network = model.network_class(generator=torch.Generator(), **content["network"])
    policy = _unpack_policy(content.get("policy"), weights)
    if policy is not None:
        model.policy_ = policy
    network.load_state_dict(weights, assign=True)
    model.predictor_ = network
    classes = len(model.classes_) if hasattr(model, "classes_") else 1
    outputs = 1 if classes == 2 else classes  # two classes share one logit
    if (network.inputs, network.outputs) != (len(model.encoder_.input_names), outputs):
        raise ValueError("columns, network and classes do not fit together")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder", "A model is one file", "Check the path")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist", "", "Check the path") from None
    except OSError as error:
        fact = f"{path} cannot be read ({error.strerror or error})"
        raise ModelFileError(fact, "", "Check path and permissions") from None
    except (SafetensorError, ValueError) as error:
        fact = f"{path} is truncated or not a model file ({error})"
        raise ModelFileError(fact, RULE, "Copy it again, or save the model again") from None
    try:
        content = json.loads(metadata[KEY])
        version = content["format"]
    except (KeyError, TypeError, ValueError, RecursionError):
        fact = f"{path} is a safetensors file from elsewhere"
        raise ModelFileError(fact, RULE, "Load it with the program that made it") from None
    if not isinstance(version, int) or version > FORMAT:
        fact = f"{path} has format {version}, newer than this version's {FORMAT}"
        rule = "A newer format may hold what this version does not know"
        raise ModelFileError(fact, rule, "Update imputefree, or save the model with this version")
    if metadata.get("sha256") != _digest(metadata[KEY], weights):
        fact = f"{path} was changed after it was saved (checksum differs)"
        raise ModelFileError(fact, RULE, "Get a fresh copy from where it was made")
    return content, weights


def _digest(text: str, weights: dict[str, torch.Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(weights):
        weight = weights[name].contiguous()
        # With type and shape: the same bytes read as integers would be other weights.
        digest.update(f"{name} {weight.dtype} {list(weight.shape)} ".encode())
        digest.update(weight.flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


_DROPPED = object()  # a parameter that no file can hold, such as a custom policy object


def pack_parameter(value: Any) -> Any:
    """A parameter as plain JSON types; {"dropped": repr} for what JSON cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, list | tuple) and all(isinstance(v, PLAIN | np.generic) for v in value):
        return {"tuple" if isinstance(value, tuple) else "list": list(value)}
    if isinstance(value, dict):
        return {"dict": [[pack_parameter(k), pack_parameter(v)] for k, v in value.items()]}
    return {"dropped": repr(value)[:200]}


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
        policy.network = MemberMlp.of(learned, sigmoid=True)
    return policy


def _pack_fitted(value: Any) -> dict[str, Any]:
    """A fitted attribute that plain JSON can hold; an array with its dtype."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    return {"value": value}


def _subclasses(cls: Any) -> list[Any]:
    return [cls, *(deeper for sub in cls.__subclasses__() for deeper in _subclasses(sub))]
