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
import warnings
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
            f"UserKnownHostsFile={_quoted(known_hosts)}",
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
            f"IdentityFile={_quoted(self._folder / 'key')}",
        )
        options = [word for setting in settings for word in ("-o", setting)]
        host, port, username = rental["host"] or "", rental["port"] or 22, rental["username"] or ""
        return ["ssh", "-p", str(port), "-l", username, *options, "--", host]

    def _scan(self, rental: types.Rental) -> str:
        host, port = rental["host"] or "", rental["port"] or 22
        if rental["hostKeyFingerprint"] is None:
            raise MachineError(f"{rental['id']} has not shown its host key yet. Try again in a minute.")
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


def _quoted(path: Path) -> str:
    """ssh reads the value of an option as a line of its configuration, where % begins a token."""
    text = path.as_posix()
    for special, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%")):
        text = text.replace(special, written)
    return f'"{text}"'


class Leash:
    """Ends a command of another thread that nobody waits for any more, also one that has not begun yet."""

    def __init__(self) -> None:
        self._process: Optional[subprocess.Popen[str]] = None
        self._is_pulled = False

    def hold(self, process: subprocess.Popen[str]) -> None:
        """It has begun."""
        self._process = process
        if self._is_pulled:
            process.kill()

    def pull(self) -> None:
        """End it. One that has ended is left alone."""
        self._is_pulled = True
        if self._process is not None:
            self._process.kill()


def run_shown(
    line: Sequence[str],
    command: Union[str, Sequence[str]],
    *,
    show: bool,
    input: Optional[str],
    timeout: Optional[float],
    leash: Optional[Leash] = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command on a machine, and show what it writes as it comes: in a notebook too.

    :param leash: ends it from another thread

    :raises BrokenPipeError: when nobody reads any more what is shown, as a print does
    """
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
    if leash is not None:
        leash.hold(process)
    try:
        with process:
            assert process.stdout is not None and process.stderr is not None
            shown = [_Shown(sys.stdout, process), _Shown(sys.stderr, process)] if show else []
            pumps = [
                threading.Thread(target=_pump, args=(process.stdout, told[0], shown[:1])),
                threading.Thread(target=_pump, args=(process.stderr, told[1], shown[1:])),
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
    for error in (one.error for one in shown):
        if isinstance(error, BrokenPipeError):
            raise error
        if error is not None:
            warnings.warn(f"The output of the command is no longer shown: {error}", RuntimeWarning, stacklevel=4)
    return subprocess.CompletedProcess(remote, process.returncode, "".join(told[0]), "".join(told[1]))


def _feed(stdin: IO[str], text: str) -> None:
    try:
        with stdin:
            stdin.write(text)
    except BrokenPipeError:
        pass  # It ended before it read all: its exit code says why.


class _Shown:
    """Where one of a command's outputs is shown, until that fails."""

    def __init__(self, stream: Optional[TextIO], process: subprocess.Popen[str]) -> None:
        self._stream = stream
        self._process = process
        self.error: Optional[Exception] = None

    def write(self, text: str) -> None:
        if self._stream is None or self.error is not None:
            return
        try:
            try:
                self._stream.write(text)
            except UnicodeEncodeError as error:
                self._stream.write(text.encode(error.encoding, "replace").decode(error.encoding))
            self._stream.flush()
        except Exception as error:
            self.error = error
            if isinstance(error, BrokenPipeError):
                # Whoever closes the pipe wants no more of it: a command that goes on costs money for nobody.
                self._process.kill()


def _pump(source: IO[str], kept: List[str], shown: Sequence[_Shown]) -> None:
    # It reads to the end, whatever becomes of what it shows: a full pipe stops ssh, and who waits for it, for good.
    for text in source:
        kept.append(text)
        for one in shown:
            one.write(text)


def _fingerprint(key: str) -> str:
    try:
        digest = hashlib.sha256(base64.b64decode(key, validate=True)).digest()
    except ValueError:
        return ""
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
