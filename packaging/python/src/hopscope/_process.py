"""Runs a command of the engine and reads its JSON document; ends processes without leaving files behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._engine import engine
from ._log import log
from .errors import EngineError, HopscopeError, error_from, kind_of

_PATIENCE = 20.0  # seconds for the engine to remove its files


@dataclass
class Answer:
    """The answer of a command: its document, its exit code, and the notes on standard error."""

    document: dict[str, Any]
    exit_code: int
    notes: list[str] = field(default_factory=list)


def start(
    words: Iterable[str], *, ends: bool = False, trusted: Sequence[str] = (), **streams: Any
) -> subprocess.Popen[bytes]:
    """Starts the engine in a session of its own, so that Ctrl+C in a terminal reaches Python alone. `ends`: the process
    ends with the thread that has started it, for processes that do not read their input. `trusted`: files with
    the caller's own code."""
    here = engine()
    words = list(words)
    log.debug("starting %s %s", here.path, " ".join(words))
    environment = {**here.environment(), **({"HOPSCOPE_PARENT": str(os.getpid())} if ends else {})}
    if trusted:
        environment["HOPSCOPE_TRUST"] = ":".join([*trusted, environment.get("HOPSCOPE_TRUST", "")])
    return subprocess.Popen([here.path, *words], env=environment, start_new_session=True, **streams)


def stop(process: subprocess.Popen[bytes], number: int = signal.SIGINT) -> None:
    """Ends a process by a signal that lets it clean up; kills it and its children if that takes too long."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
    try:
        process.wait(_PATIENCE)
    except BaseException:
        kill(process)
        raise


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and its children at once."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def command(*words: str, given: bytes | None = None, trusted: Sequence[str] = ()) -> Answer:
    """Carries out a command with --json; `given` is its standard input. Raises the errors that the engine reports."""
    source = subprocess.DEVNULL if given is None else subprocess.PIPE
    streams = {"stdin": source, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = start([*words, "--json", "--verbose"], ends=True, trusted=trusted, **streams)
    try:
        out, err = process.communicate(given)
    except BaseException:
        with contextlib.suppress(subprocess.TimeoutExpired):
            stop(process)
        raise
    document = _document(out)
    if document is None:
        raise ended(process.returncode, err)
    if "error" in document:
        raise error_from(document["error"])
    return Answer(document, process.returncode, _notes(err))


def _document(out: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(out)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _notes(err: bytes) -> list[str]:
    lines = err.decode(errors="replace").splitlines()
    return [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]


def ended(code: int, err: bytes) -> HopscopeError:
    """Returns the exception for a process that ended without saying in JSON why."""
    said = [line for line in err.decode(errors="replace").splitlines() if not line.startswith("note: ")]
    text = "\n".join(said)[-500:].strip().removeprefix("error: ")
    if code == -signal.SIGKILL:
        message = "the engine was killed, as the system does when memory runs out"
        return kind_of(6)(message, "limit it with memory=, or use a smaller batch")
    if code < 0:
        return EngineError(
            f"the engine was ended by signal {-code} {text}".strip(), "please report this with the model"
        )
    return kind_of(code)(text or f"the engine ended with {code}", "" if text else "please report this with the model")


def become(place: Callable[[], tuple[str, Mapping[str, str]]], words: list[str]) -> int:
    """Becomes a program, with its streams and its exit code. `place` gives its path and its environment variables."""
    try:
        path, environment = place()
        sys.stdout.flush()
        os.execve(path, [path, *words], environment)
    except HopscopeError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.exit_code


def pass_through(words: list[str]) -> int:
    """`hopscope-engine` and `python -m hopscope`: becomes the engine."""

    def place() -> tuple[str, Mapping[str, str]]:
        here = engine()
        return here.path, here.environment()

    return become(place, words)
