"""A request, before it is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, Literal, Mapping, Optional
from urllib.parse import quote

Repeats = Literal["read", "same", "keyed", "once"]
"""What sending a request a second time may do.

read: nothing. same: what the first did. keyed: what the first did, because both carry one Idempotency-Key.
once: more than the first, so only a request that certainly was not begun is sent again.
"""


@dataclass(frozen=True)
class Ask:
    """One operation of the API, with what it is asked."""

    method: str
    path: str
    repeats: Repeats
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Optional[object] = None
    key: Optional[str] = None
    gone: Optional[int] = None
    """The status of the refusal that a repetition gets where the first request has ended it."""

    def params(self) -> Dict[str, str]:
        """The query as it is written: a list is one text."""
        return {name: _text(value) for name, value in self.query.items() if value is not None}


def segment(text: str) -> str:
    """Write an id as one segment of a path, whatever it holds."""
    if text in ("", ".", ".."):
        raise ValueError(f"an id is a text such as rent_01JZ8Q4M6T3V5X7Y9A1B2C3D4E, not {text!r}")
    return quote(text, safe="")


def written(body: object) -> str:
    """Write a body as JSON.

    :raises ValueError: when JSON has no such number
    :raises TypeError: when JSON has no form for it
    """
    return json.dumps(body, allow_nan=False)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)
