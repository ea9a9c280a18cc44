"""`hopscope-scale run`: one run on many machines (docs/guides/clusters.md). Several workers, each a process of the
engine, compute the shards of each stage; they meet in the output folder, which all of them see. `hopscope-scale serve`
does so for the window."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from ._cluster import run
from ._driver import Event
from ._options import Setting, bytes_of
from ._progress import suits_terminal
from ._served_run import Workers, absolute
from ._serving import serve
from ._settings import of_workers
from ._version import __version__
from .errors import Cancelled, HopscopeError, UsageError, document_of


def main(words: list[str] | None = None) -> int:
    """Returns the exit code, with the meanings of hopscope-engine."""
    asked = _parser().parse_args(words)
    try:
        with _ended_by_signals():
            return int(asked.carry_out(asked))
    except HopscopeError as problem:
        return _failed(problem, asked.json)
    except KeyboardInterrupt:
        return _failed(Cancelled("cancelled", asked.afterwards), asked.json)


def _run(asked: argparse.Namespace) -> int:
    with _events(asked.events) as told:
        console = _Console(asked, told)
        with contextlib.redirect_stdout(sys.stderr):  # Ray prints there
            report = run(
                _request(asked), asked.address, workers=asked.workers, threads=asked.threads, told=console.told,
                progress=suits_terminal() and not (asked.quiet or asked.json),
            )  # fmt: skip
        console.end(report)
        return 5 if (report["verify"] or {}).get("verdict") == "different" else 0


def _serve(asked: argparse.Namespace) -> int:
    folder = asked.folder and str(Path(asked.folder).absolute())
    memory = bytes_of(asked.memory)
    return serve(Workers(asked.address, asked.workers, asked.threads, memory, asked.wait, folder))


def _failed(problem: HopscopeError, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"error": document_of(problem)}))
    hint = f"; {problem.hint}" if problem.hint else ""
    print(f"error: {problem.message}{hint}", file=sys.stderr)
    return problem.exit_code


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP have the effect of Ctrl+C."""

    def interrupt(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _events(path: str | None) -> Iterator[Callable[[Event], None]]:
    """Writes each event at once, as a line of JSON."""
    if path is None:
        yield lambda _event: None
        return
    try:
        file: IO[str] = Path(path).open("a", buffering=1)  # noqa: SIM115 (closed below)
    except OSError as problem:
        raise UsageError(
            f"{path}: cannot be written: {problem.strerror}", "name another file with --events"
        ) from problem
    with file:
        yield lambda event: print(json.dumps(event), file=file)


class _Console:
    """Reports events of workers on standard error, and the outcome on standard output."""

    def __init__(self, asked: argparse.Namespace, also: Callable[[Event], None]) -> None:
        self._quiet, self._json, self._also = asked.quiet, asked.json, also
        self._said: set[str] = set()

    def told(self, event: Event) -> None:
        self._also(event)
        sentence = _sentence(event)
        if sentence and not self._quiet and sentence not in self._said:
            self._said.add(sentence)
            print(f"note: {sentence}", file=sys.stderr)

    def end(self, report: dict[str, Any]) -> None:
        if self._json:
            print(json.dumps(report, indent=2))
        elif not self._quiet:
            print(_table(report))


def _sentence(event: Event) -> str:
    where = f"worker {event.get('worker')}" + (f" on {event['host']}" if event.get("host") else "")
    sentences = {
        "note": event.get("message", ""),
        "waiting": event.get("message", ""),
        "lost": f"{where} was lost: {event.get('message')}; other workers compute its unfinished shards",
        "late": f"{where} is slow on destinations from {event.get('first')}; another worker computes them as well",
        "refused": f"{where} was excluded from the run: {event.get('message')}",
    }
    return str(sentences.get(event["event"], ""))


def _table(report: dict[str, Any]) -> str:
    scale = report["scale"]
    lines = [
        f"  worker {item['worker']} on {item['host'] or '?'}: {item['shards']} shards, "
        f"{item['destinations']:,} destinations"
        for item in scale["workers"]
    ]
    gone, again = scale["lost"], scale["again"]
    lost = f"; {gone} workers lost, {again} shards given out again" if gone or again else ""
    verdict = (report["verify"] or {}).get("verdict", "not verified")
    outputs = ", ".join(item["file"] for item in report["outputs"])
    return "\n".join(
        [f"{outputs}: {verdict}; {len(scale['workers'])} workers of {scale['threads']} cores{lost}", *lines]
    )


def _request(asked: argparse.Namespace) -> dict[str, Any]:
    """The parameters of worker/open: workers have other working directories."""
    request: dict[str, Any] = {"model": str(Path(asked.model).absolute()), "output": str(Path(asked.output).absolute())}
    request["data"] = [absolute(word) for word in asked.data]
    request["roles"] = asked.role
    request |= {name: str(Path(value).absolute()) for name in ("plan", "pins") if (value := getattr(asked, name))}
    given = {name: getattr(asked, name) for name in of_workers()}
    request |= {name: of_workers()[name].checked(value) for name, value in given.items() if value is not None}
    request["wait"], request["trusted"] = asked.wait, asked.trust
    return {name: value for name, value in request.items() if value is not None}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hopscope-scale", description="One run of Hopscope on many machines.")
    parser.add_argument("--version", action="version", version=f"hopscope-scale {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="Evaluate a model layer by layer for all nodes, by several workers"))
    _add_serve(commands.add_parser("serve", help="An engine for the window that distributes runs across workers"))
    return parser


def _add_run(command: argparse.ArgumentParser) -> None:
    command.set_defaults(carry_out=_run, afterwards="the same command resumes the run")
    command.add_argument("model", metavar="MODEL", help="TorchScript file; all paths are the same on all machines")
    command.add_argument("--data", metavar="D", action="append", required=True, help="As for hopscope-engine run")
    command.add_argument("--role", metavar="R", action="append", default=[], help="As for hopscope-engine run")
    command.add_argument("-o", "--output", metavar="DIR", required=True, help="The folder that all workers see")
    _add_workers(command)
    for name in ("plan", "pins"):
        command.add_argument(f"--{name}", metavar="FILE", help="As for hopscope-engine run")
    command.add_argument("--trust", action="store_true", help="As for hopscope-engine run")
    for setting in of_workers().values():
        if setting.name != "memory":  # which _add_workers adds
            _add_setting(command, setting)
    command.add_argument(
        "--events", metavar="FILE", help="Append what happens to workers and shards, a line of JSON each"
    )
    command.add_argument("--json", action="store_true", help="Print the report as a JSON document")
    command.add_argument("--quiet", action="store_true", help="Suppress progress and notes")


def _add_setting(command: argparse.ArgumentParser, setting: Setting) -> None:
    option = "--" + setting.name.replace("_", "-")
    help_text = setting.meaning.replace("%", "%%")
    if setting.kind == "Flag":
        command.add_argument(option, action="store_true", help=help_text)
        return
    types: dict[str, tuple[str, Callable[[str], Any]]]
    types = {"Count": ("N", _positive), "Seconds": ("SECONDS", float), "Size": ("SIZE", str)}
    metavar, kind = types.get(setting.kind, ("HOW", str))
    choices = f": {', '.join(setting.choices)}" if setting.choices else ""
    command.add_argument(option, metavar=metavar, type=kind, help=help_text + choices)


def _add_serve(command: argparse.ArgumentParser) -> None:
    command.set_defaults(carry_out=_serve, json=False, afterwards="")
    _add_workers(command)
    command.add_argument(
        "--folder", metavar="DIR",
        help="Where runs that name no folder have their results meanwhile; all workers see it. "
        "Default: temporary files, with the address local",
    )  # fmt: skip


def _add_workers(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--address", metavar="A", default="auto",
        help="A Ray cluster: auto (of this machine) or HOST:PORT; local: processes of this machine, without Ray",
    )  # fmt: skip
    command.add_argument(
        "--workers", metavar="N", type=_positive, default=0, help="Default: as many as there is room for"
    )
    command.add_argument(
        "--threads", metavar="N", type=_positive, default=0, help="Cores of each worker; default: a node's"
    )
    command.add_argument("--memory", metavar="SIZE", help="Limit for each worker: 500M, 1Gi, ..")
    command.add_argument(
        "--wait",
        metavar="SECONDS",
        type=float,
        help="End where there is no worker, or one waits for others, for so long",
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
