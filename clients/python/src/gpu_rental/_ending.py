"""Sees to it that a program which ends takes its machines along: by signals, and when the interpreter ends."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import warnings
from types import FrameType
from typing import Callable, Dict, Iterator, Optional

from .errors import StillRunningError

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


def tell(text: str) -> None:
    """Say something to whoever started the program. A terminal that is gone must not keep a machine from its end."""
    with contextlib.suppress(Exception):
        print(text, file=sys.stderr)


def soften() -> None:
    """From here on a SIGTERM leaves the blocks of the program one by one, as an exception does.

    Who catches such signals already goes on doing so. Python sets handlers in the main thread alone: others are warned.
    """
    global _softened
    if _in_main_thread():
        for number in _FATAL:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _unwind)
    elif uncaught := [number for number in _FATAL if signal.getsignal(number) in (signal.SIG_DFL, _unwind)]:
        names = " or ".join(number.name for number in uncaught)
        warnings.warn(
            f"A {names} ends this program and leaves a machine that is rented in a thread to its limits. Rent it in "
            "the main thread; for several at once there is AsyncClient.",
            RuntimeWarning,
            stacklevel=4,
        )
    _softened += 1


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
        tell(f"{what} Once more leaves it as it is.")

    def hand_over() -> None:
        handler = before[signal.Signals(got[0])] if got else None
        if callable(handler):
            handler(got[0], None)

    for number in waiting:
        signal.signal(number, note)
    try:
        try:
            yield
        finally:
            for number in waiting:
                signal.signal(number, before[number])
    except Exception as error:
        if not outranks(error):
            hand_over()
        raise
    hand_over()


def outranks(error: BaseException) -> bool:
    """Whether what was done tells more by its failure than that the program is to end.

    A refusal does not: a program that catches it and tries again would go on after it was told to end.
    """
    return not isinstance(error, Exception) or isinstance(error, StillRunningError)


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
    told: Optional[BaseException] = None
    for end in list(_live.values()):
        try:
            end()
        except Exception as error:
            tell(str(error))
        except BaseException as error:
            # A signal that came during one end comes after it, and before no other one.
            told = told or error
    if told is not None:
        raise told
