"""Rules that every estimator keeps.

Parameters are checked, random numbers are private, a fit that fails changes nothing, and every
prediction is finite.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .errors import InputError, ParameterError, brief

Rule = tuple[Callable[[Any], bool], str]


def whole(low: int) -> Rule:
    """A whole number, at least `low`."""
    return (
        lambda v: isinstance(v, numbers.Integral) and not isinstance(v, bool) and int(v) >= low,
        f"a whole number, at least {low}",
    )


def number(low: float, high: float, open_low: bool = False, open_high: bool = False) -> Rule:
    """A number between two bounds."""

    def holds(value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        try:
            exact = float(value)
        except OverflowError:  # an integer beyond the largest float
            return False
        above = exact > low if open_low else exact >= low
        return above and (exact < high if open_high else exact <= high)

    span = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    return holds, f"a number in {span}"


def choice(*names: str) -> Rule:
    """One of these names."""
    return (
        lambda v: isinstance(v, str) and v in names,
        "one of " + ", ".join(repr(name) for name in names),
    )


def or_the_word(word: str | None, rule: Rule) -> Rule:
    """Either this word (or None), or what the rule says."""
    holds, wording = rule
    return (
        lambda v: (v is None if word is None else isinstance(v, str) and v == word) or holds(v),
        f"{word if word is None else chr(34) + word + chr(34)} or {wording}",
    )


FLAG: Rule = (lambda v: isinstance(v, bool | np.bool_ | int), "True or False")


def check_value(name: str, value: Any, rule: Rule) -> None:
    """Raise a ParameterError if the value of this parameter breaks the rule."""
    holds, wording = rule
    if not holds(value):
        fact = f"{name} is {brief(value)}"
        raise ParameterError(fact, f"It must be {wording}", "Pass such a value")


def check_name(kind: str, name: Any, known: Collection[str]) -> None:
    """Raise a ParameterError unless this is one of the known names.

    >>> check_name("colour", "pink", ["red", "blue"])
    Traceback (most recent call last):
    imputefree.errors.ParameterError: there is no colour 'pink'. Valid names are red, blue. \
Pass one of these names.
    """
    if not isinstance(name, str) or name not in known:
        raise ParameterError(
            f"there is no {kind} {brief(name)}",
            f"Valid names are {', '.join(known)}",
            "Pass one of these names",
        )


def check_options(owner: str, options: Iterable[str], known: Collection[str]) -> None:
    """Raise a ParameterError for the first option that its owner does not have."""
    for option in options:
        if option not in known:
            raise ParameterError(
                f"{owner} has no option {option!r}",
                f"Its options are {', '.join(known)}",
                "Leave it out, or pass one of these",
            )


def check_rules(subject: Any, rules: dict[str, Rule]) -> None:
    """Raise a ParameterError for the first parameter of an object that breaks its rule.

    Rules for parameters that the object does not have are skipped.
    """
    for name, rule in rules.items():
        if hasattr(subject, name):
            check_value(name, getattr(subject, name), rule)


def private_generator(random_state: Any) -> np.random.Generator:
    """A random generator for one fit, from any random_state that scikit-learn accepts.

    >>> private_generator(3).random() == private_generator(3).random()
    True
    """
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if the block fails, so that it is not half fitted."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def finite(values: np.ndarray, name: str = "prediction") -> np.ndarray:
    """The same predictions (n, …); one that is not a finite number is an InputError.

    Encoders bound what networks read, and fits refuse weights that are not finite, so that this
    should not happen. It must not be filled in: a filled value would look like a prediction.

    >>> finite(np.array([0.5, np.nan]))
    Traceback (most recent call last):
    imputefree.errors.InputError: the prediction of row 1 is nan. Predictions are finite numbers. \
Look for extreme values in this row and in the data of training; with numeric_encoding='unscaled', \
scale them.
    """
    known = np.isfinite(values)
    if known.all():
        return values
    row = int(np.argmin(known.reshape(len(values), -1).all(1)))
    odd: Any = values[row][~known[row]].flat[0] if values.ndim > 1 else values[row]
    raise InputError(
        f"the {name} of row {row} is {odd}",
        "Predictions are finite numbers",
        "Look for extreme values in this row and in the data of training; with"
        " numeric_encoding='unscaled', scale them",
    )
