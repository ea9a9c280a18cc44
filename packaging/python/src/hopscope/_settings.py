"""Settings (docs/reference/settings.md) as keyword arguments: checked, completed, and shown in signatures."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._contract import DEFAULTS, SETTINGS
from ._options import Setting
from .errors import passing

_Function = TypeVar("_Function", bound=Callable[..., Any])
_BY_NAME = {setting.name: setting for setting in SETTINGS}
_NOT_OF_WORKERS = ("device", "cache", "resume", "threads")
_WIDTH = 120


def by_name(task: str) -> dict[str, Setting]:
    """Those that a task takes."""
    return {name: _BY_NAME[name] for name in DEFAULTS[task]}


def of_workers() -> dict[str, Setting]:
    """Those of a run by workers, which compute on CPUs, cache nothing, can be resumed, and share out the cores."""
    return {name: setting for name, setting in by_name("run").items() if name not in _NOT_OF_WORKERS}


def settings_of(task: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings that a task takes, as the engine reads them: those given, and the defaults of the others."""
    return {name: _BY_NAME[name].checked(given.get(name, usual)) for name, usual in DEFAULTS[task].items()}


def taken_by(task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those that a task takes."""
    return {name: settings[name] for name in DEFAULTS[task]}


def of_search(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those that say how a plan is looked for: of no use beside a given one."""
    return {name: value for name, value in settings.items() if _BY_NAME[name].of_search}


def beside_plan(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that may be given together with a plan: all except those of the search."""
    return {name: value for name, value in settings.items() if not _BY_NAME[name].of_search}


def words_of(settings: Mapping[str, Any]) -> list[str]:
    """As options of a command line, without those that are None or False."""
    return [
        word
        for name, value in settings.items()
        if value is not None and value is not False
        for word in ([_option(name)] if value is True else [_option(name), str(value)])
    ]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def takes(task: str) -> Callable[[_Function], _Function]:
    """For functions with **settings: they stand in the signature and, in place of a line SETTINGS, in the docstring."""

    def named(function: _Function) -> _Function:
        *own, _settings = inspect.signature(function).parameters.values()
        keyword = inspect.Parameter.KEYWORD_ONLY
        added = [inspect.Parameter(name, keyword, default=usual) for name, usual in DEFAULTS[task].items()]
        signature = inspect.signature(function).replace(parameters=[*own, *added])

        @functools.wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            try:
                signature.bind(*arguments, **options)
            except TypeError as problem:
                raise passing(TypeError(f"{function.__name__}(): {problem}")) from None
            return function(*arguments, **options)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        checked.__doc__ = _told(function.__doc__ or "", task)
        return checked  # type: ignore[return-value]

    return named


def _told(doc: str, task: str) -> str:
    return "\n".join(
        line if line.strip() != "SETTINGS" else _lines(task, line[: len(line) - len(line.lstrip())])
        for line in doc.split("\n")
    )


def _lines(task: str, indent: str) -> str:
    return "\n".join(
        textwrap.fill(
            _BY_NAME[name].told(usual),
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "    ",
            break_on_hyphens=False,
        )
        for name, usual in DEFAULTS[task].items()
    )
