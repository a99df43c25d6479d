"""What a request is refused with: a status and an error that names the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ImputefreeError

WORDS = {  # status: what it stands for, in the OpenAPI document
    400: "The body is no JSON, or the request was sent to another host's name",
    401: "The server wants a bearer token, and this is not it",
    404: "There is nothing at this path",
    405: "The path is there, but not for this method",
    408: "The body did not arrive in time",
    413: "The body is larger, or has more rows, than the server takes",
    415: "The body is of another content type than application/json",
    422: "A field holds what it cannot hold; the error names it",
    500: "The server could not answer, and it is not the request's fault",
    503: "Too many requests wait already, or the server is stopping",
    504: "The answer took longer than the server's limit",
}


class RequestError(ImputefreeError):
    """A request that gets no answer; `field` says which part of it is wrong, where one is.

    >>> RequestError(422, "age", "age holds a text", "It must be a number", "Send 31").body()
    {'error': {'field': 'age', 'fact': 'age holds a text', 'rule': 'It must be a number', \
'remedy': 'Send 31'}}
    """

    def __init__(
        self,
        status: int,
        field: str | None,
        fact: str,
        rule: str = "",
        remedy: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(fact, rule, remedy)
        self.status, self.field, self.headers = status, field, dict(headers or {})

    def body(self) -> dict[str, Any]:
        """What is sent, as plain JSON."""
        return {
            "error": {
                "field": self.field,
                "fact": self.fact,
                "rule": self.rule,
                "remedy": self.remedy,
            }
        }
