"""Sees to it that a program which ends takes its machines along: by signals, and when the interpreter ends."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
from types import FrameType
from typing import Callable, Dict, Iterator, Optional

_FATAL = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""What ends a program at once where nobody catches it."""

_live: Dict[object, Callable[[], None]] = {}
_owner = os.getpid()
_softened = 0


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _unwind(number: int, _frame: Optional[FrameType]) -> None:
    raise SystemExit(128 + number)


def soften() -> None:
    """From here on a SIGTERM leaves the blocks of the program one by one, as an exception does.

    Who catches such signals already goes on doing so.
    """
    global _softened
    _softened += 1
    if _in_main_thread():
        for number in _FATAL:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _unwind)


def harden() -> None:
    """As before the first soften()."""
    global _softened
    _softened -= 1
    if _softened == 0 and _in_main_thread():
        for number in _FATAL:
            if signal.getsignal(number) is _unwind:
                signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def not_now(what: str) -> Iterator[None]:
    """Lets a signal wait until what must not be left half done is done. The second one does not wait.

    :param what: is told to whoever sends the first one
    """
    if not _in_main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *_FATAL)}
    waiting = [number for number, handler in before.items() if callable(handler)]
    got: list[int] = []

    def note(number: int, frame: Optional[FrameType]) -> None:
        handler = before[signal.Signals(number)]
        if got and callable(handler):
            handler(number, frame)
        got.append(number)
        print(f"{what} Once more leaves it as it is.", file=sys.stderr)

    for number in waiting:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number in waiting:
            signal.signal(number, before[number])
    if got:
        handler = before[signal.Signals(got[0])]
        if callable(handler):
            handler(got[0], None)


def keep(machine: object, end: Callable[[], None]) -> None:
    """Have a machine ended when the interpreter ends, unless it has ended before."""
    global _owner
    _owner = os.getpid()
    _live[machine] = end


def forget(machine: object) -> None:
    """It has ended."""
    _live.pop(machine, None)


@atexit.register
def _end_all() -> None:
    # A forked child has a copy of the list, and no machine of its own in it.
    if os.getpid() != _owner:
        return
    for end in list(_live.values()):
        try:
            end()
        except Exception as error:
            print(error, file=sys.stderr)
