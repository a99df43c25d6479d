"""From the bytes of a body to plain values; what they mean is for `rows` to say."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from ._refusals import RequestError

LONGEST_WHOLE = 400  # digits; more are infinite as a float, and slow to read


class Word:
    """NaN, Infinity or -Infinity: Python reads them, JSON does not have them.

    Kept as a value, since only who looks at the fields can say where it stands.
    """

    def __init__(self, text: str) -> None:
        self.text = text


def read_json(body: bytes) -> Any:
    """A body as dicts, lists, texts, numbers, True, False, None and `Word`.

    >>> read_json(b'{"age": 31, "sex": null}')
    {'age': 31, 'sex': None}
    >>> read_json(b'{"age": 31, "age": 32}')
    Traceback (most recent call last):
    imputefree.serve._refusals.RequestError: 'age' is given twice. A field has one value. Leave \
one out.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed(f"byte {error.start} of the body is no UTF-8") from None
    try:
        return json.loads(text, parse_constant=Word, parse_int=_whole, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise _malformed(
            f"the body is no JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise RequestError(
            400,
            None,
            "the body is nested too deep",
            "A row is an object of plain values, a series an object of lists of such",
            "GET /schema has an example",
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise RequestError(
            422, twice, f"{shown(twice)} is given twice", "A field has one value", "Leave one out"
        )
    return found


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST_WHOLE else float(digits)


def _malformed(fact: str) -> RequestError:
    return RequestError(
        400, None, fact, "A body is JSON in UTF-8", "GET /schema has an example of a row"
    )


def shown(value: Any, limit: int = 60) -> str:
    """A value in an error: short, and never the inside of a list or an object.

    >>> shown("ab"), shown([1, [2]]), shown(None), shown(True)
    ("'ab'", 'a list', 'null', 'true')
    """
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Word):
        return value.text
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"
