"""`hopscope-scale run`: one run on one machine or many (docs/guides/clusters.md). The workers, each a process of the
engine, compute the shards of each stage; they share the output folder. `hopscope-scale serve` does so for the
window."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from ._arguments import Arguments
from ._cluster import run
from ._driver import Event
from ._options import Setting, bytes_of
from ._progress import suits_terminal
from ._served_run import Workers, absolute
from ._serving import serve
from ._settings import of_workers
from ._version import __version__
from ._words import counted
from .errors import Cancelled, HopscopeError, UsageError, document_of


def main(words: list[str] | None = None) -> int:
    """Returns the exit code, with the meanings of hopscope-engine."""
    words = sys.argv[1:] if words is None else words
    try:
        asked = _parser().parse_args(words)
    except UsageError as problem:
        return _failed(problem, "--json" in words)
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
    """Gives SIGTERM and SIGHUP the effect of Ctrl+C."""

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
        f"  worker {item['worker']} on {item['host'] or '?'}: {counted(item['shards'], 'shard')}, "
        f"{counted(item['destinations'], 'destination')}"
        for item in scale["workers"]
    ]
    gone, again = scale["lost"], scale["again"]
    lost = f"; {counted(gone, 'worker')} lost, {counted(again, 'shard')} given out again" if gone or again else ""
    verdict = (report["verify"] or {}).get("verdict", "not verified")
    outputs = ", ".join(item["file"] for item in report["outputs"])
    return "\n".join(
        [f"{outputs}: {verdict}; workers: {len(scale['workers'])}, cores of each: {scale['threads']}{lost}", *lines]
    )


def _request(asked: argparse.Namespace) -> dict[str, Any]:
    """Returns the parameters of worker/open, with absolute paths, because the working directories of workers differ."""
    request: dict[str, Any] = {"model": str(Path(asked.model).absolute()), "output": str(Path(asked.output).absolute())}
    request["data"] = [absolute(word) for word in asked.data]
    request["roles"] = asked.role
    request |= {name: str(Path(value).absolute()) for name in ("plan", "pins") if (value := getattr(asked, name))}
    given = {name: getattr(asked, name) for name in of_workers()}
    request |= {name: of_workers()[name].checked(value) for name, value in given.items() if value is not None}
    request["wait"], request["trusted"], request["device"] = asked.wait, asked.trust, asked.device
    return {name: value for name, value in request.items() if value is not None}


def _parser() -> Arguments:
    parser = Arguments(prog="hopscope-scale", description="One run of Hopscope on one machine or many.")
    parser.add_argument("--version", action="version", version=f"hopscope-scale {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    parser.commands = commands.choices
    _add_run(
        commands.add_parser(
            "run",
            usage="hopscope-scale run [OPTIONS] MODEL --data DATA... -o DIR",
            help="Evaluate a model layer by layer for all nodes, by several workers",
        )
    )
    _add_serve(
        commands.add_parser(
            "serve",
            usage="hopscope-scale serve [OPTIONS]",
            help="An engine for the window that distributes runs across workers",
        )
    )
    return parser


def _add_run(command: Arguments) -> None:
    command.set_defaults(carry_out=_run, afterwards="the same command resumes the run")
    command.add_argument(
        "model",
        metavar="MODEL",
        help="TorchScript file (.pt) or exported program (.pt2). All paths must be the same on all machines",
    )
    command.add_argument(
        "--data", metavar="DATA", action="append", required=True, help="Inputs, as for hopscope-engine run"
    )
    command.add_argument(
        "--role", metavar="ROLE", action="append", default=[], help="Role of an input, as for hopscope-engine run"
    )
    command.add_argument("-o", "--output", metavar="DIR", required=True, help="The folder that all workers see")
    _add_workers(command)
    command.add_argument(
        "--device",
        metavar="DEVICES",
        default="cpu",
        help="Devices that the workers use in turn: cpu, cuda:N, or several, as in cuda:0,cuda:1. Default: cpu",
    )
    command.add_argument("--plan", metavar="FILE", help="Run this plan, a file of hopscope-engine plan")
    command.add_argument("--pins", metavar="FILE", help="Decisions that the plan has to respect")
    command.add_argument(
        "--trust", action="store_true", help="Agree to run the code of the model file, for this run only"
    )
    for setting in of_workers().values():
        if setting.name != "memory":  # which _add_workers adds
            _add_setting(command, setting)
    command.add_argument(
        "--events", metavar="FILE", help="Append the events of workers and shards to FILE, one JSON document per line"
    )
    command.add_argument("--json", action="store_true", help="Print the report as a JSON document")
    command.add_argument("-q", "--quiet", action="store_true", help="Suppress progress, notes and the summary")


def _add_setting(command: Arguments, setting: Setting) -> None:
    option = "--" + setting.name.replace("_", "-")
    help_text = setting.meaning.replace("%", "%%")
    if setting.kind == "Flag":
        command.add_argument(option, action="store_true", help=help_text)
        return
    types: dict[str, tuple[str, Callable[[str], Any]]]
    types = {"Count": ("N", _positive), "Seconds": ("SECONDS", _seconds), "Size": ("SIZE", str)}
    metavar, kind = types.get(setting.kind, ("HOW", str))
    choices = f": {', '.join(setting.choices)}" if setting.choices else ""
    command.add_argument(option, metavar=metavar, type=kind, help=help_text + choices)


def _add_serve(command: Arguments) -> None:
    command.set_defaults(carry_out=_serve, json=False, afterwards="")
    _add_workers(command)
    command.add_argument(
        "--folder", metavar="DIR",
        help="A folder that all workers see, for the results of runs without an output folder. "
        "Default with the address local: temporary files",
    )  # fmt: skip


def _add_workers(command: Arguments) -> None:
    command.add_argument(
        "--address", metavar="ADDRESS", default="auto",
        help="A Ray cluster: auto (of this machine) or HOST:PORT; local: processes of this machine, without Ray",
    )  # fmt: skip
    command.add_argument(
        "--workers",
        metavar="N",
        type=_positive,
        default=0,
        help="Number of workers. Default: as many as fit into the cluster; local needs a number",
    )
    command.add_argument(
        "--threads",
        metavar="N",
        type=_positive,
        default=0,
        help="Cores of each worker. Default: all cores of the smallest node; local: an equal share of the cores",
    )
    command.add_argument("--memory", metavar="SIZE", help="Limit for each worker: 500M, 1Gi, ..")
    command.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_seconds,
        help="End the run if there is no worker, or if a worker waits for others, for this time",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive integer")
    return int(text)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds") from None


if __name__ == "__main__":
    sys.exit(main())
