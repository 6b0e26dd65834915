"""Writes what comes in pieces to files."""

from __future__ import annotations

from typing import BinaryIO


def write_whole(file: BinaryIO, piece: bytes) -> int:
    """Write all of a piece: a file without a buffer may take less of it at a time.

    :returns: how many bytes it has
    """
    left = memoryview(piece)
    while left:
        left = left[file.write(left) :]
    return len(piece)
