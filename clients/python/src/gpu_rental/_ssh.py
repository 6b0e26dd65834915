"""Enters a machine by OpenSSH: with a key made for it alone, and by the host key that it came up with."""

from __future__ import annotations

import base64
import hashlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, List, Optional, Sequence, TextIO, Union

from .errors import MachineError

if TYPE_CHECKING:
    from . import types

PROGRAMS = ("ssh", "ssh-keygen", "ssh-keyscan")


class Entrance:
    """The key pair of one machine, in a folder of its own."""

    def __init__(self) -> None:
        missing = [program for program in PROGRAMS if shutil.which(program) is None]
        if missing:
            raise MachineError(f"There is no {', '.join(missing)} on this computer. Install OpenSSH, and try again.")
        self._folder = Path(tempfile.mkdtemp(prefix="gpu-rental-"))
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "gpu-rental", "-f", str(self._folder / "key")]
        subprocess.run(key, check=True, capture_output=True, timeout=30)
        self.public_key = (self._folder / "key.pub").read_text().strip()

    def remove(self) -> None:
        """Remove the private key with its folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def command(self, rental: types.Rental) -> List[str]:
        """The command line of ssh, which takes one host key and no other. The machine is asked for it once.

        :raises MachineError: when the machine shows none, or another one than when it came up
        """
        known_hosts = self._folder / "known_hosts"
        if not known_hosts.exists():
            known_hosts.write_text(self._scan(rental))
        settings = (
            f"UserKnownHostsFile={known_hosts}",
            "GlobalKnownHostsFile=/dev/null",
            "StrictHostKeyChecking=yes",
            "UpdateHostKeys=no",
            "CheckHostIP=no",
            f"HostKeyAlias={rental['id']}",
            "ControlPath=none",
            "BatchMode=yes",
            "ConnectTimeout=20",
            "ServerAliveInterval=15",
            "IdentitiesOnly=yes",
            f"IdentityFile={self._folder / 'key'}",
        )
        options = [word for setting in settings for word in ("-o", setting)]
        host, port, username = rental["host"] or "", rental["port"] or 22, rental["username"] or ""
        return ["ssh", "-p", str(port), "-l", username, *options, "--", host]

    def _scan(self, rental: types.Rental) -> str:
        host, port = rental["host"] or "", rental["port"] or 22
        asked = ["ssh-keyscan", "-T", "10", "-p", str(port), "--", host]
        shown = subprocess.run(asked, capture_output=True, text=True, timeout=60).stdout
        lines = [line.split() for line in shown.splitlines() if not line.startswith("#")]
        keys = [(words[1], words[2]) for words in lines if len(words) >= 3]
        for kind, key in keys:
            if _fingerprint(key) == rental["hostKeyFingerprint"]:
                return f"{rental['id']} {kind} {key}\n"
        if not keys:
            raise MachineError(f"{rental['id']} does not answer at {host} port {port}. Does your network block it?")
        raise MachineError(
            f"{rental['id']} has another host key than when it started, so we did not connect. Expected: "
            f"{rental['hostKeyFingerprint']}. Someone may be between you and the machine: send nothing secret."
        )


def run_shown(
    line: Sequence[str],
    command: Union[str, Sequence[str]],
    *,
    show: bool,
    input: Optional[str],
    timeout: Optional[float],
) -> subprocess.CompletedProcess[str]:
    """Run a command on a machine, and show what it writes as it comes: in a notebook too."""
    remote = command if isinstance(command, str) else shlex.join(command)
    told: List[List[str]] = [[], []]
    process = subprocess.Popen(
        [*line, remote],
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        with process:
            assert process.stdout is not None and process.stderr is not None
            pumps = [
                threading.Thread(target=_pump, args=(process.stdout, told[0], sys.stdout if show else None)),
                threading.Thread(target=_pump, args=(process.stderr, told[1], sys.stderr if show else None)),
            ]
            if process.stdin is not None:
                # What is not read blocks who writes it.
                pumps.append(threading.Thread(target=_feed, args=(process.stdin, input or "")))
            for pump in pumps:
                pump.start()
            try:
                process.wait(timeout)
            except BaseException:
                process.kill()
                raise
            finally:
                for pump in pumps:
                    pump.join()
    except subprocess.TimeoutExpired as late:
        raise subprocess.TimeoutExpired(remote, late.timeout, "".join(told[0]), "".join(told[1])) from None
    return subprocess.CompletedProcess(remote, process.returncode, "".join(told[0]), "".join(told[1]))


def _feed(stdin: IO[str], text: str) -> None:
    try:
        with stdin:
            stdin.write(text)
    except BrokenPipeError:
        pass  # It ended before it read all: its exit code says why.


def _pump(source: IO[str], kept: List[str], shown: Optional[TextIO]) -> None:
    for text in source:
        kept.append(text)
        if shown is not None:
            shown.write(text)
            shown.flush()


def _fingerprint(key: str) -> str:
    try:
        digest = hashlib.sha256(base64.b64decode(key, validate=True)).digest()
    except ValueError:
        return ""
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
