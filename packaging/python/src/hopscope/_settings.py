"""Settings (docs/reference/settings.md) as keyword arguments: checked, completed, and shown in signatures."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from . import _options
from ._contract import DEFAULTS, SETTINGS, RunSettings
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
    """Returns the settings of a run by workers, which have devices of their own, cache nothing, can resume, and divide
    the cores among themselves."""
    return {name: setting for name, setting in by_name("run").items() if name not in _NOT_OF_WORKERS}


def settings_of(task: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns all settings that a task takes, as the engine reads them: those given, and the defaults of the others."""
    return {name: _BY_NAME[name].checked(given.get(name, usual)) for name, usual in DEFAULTS[task].items()}


def taken_by(task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those that a task takes."""
    return {name: settings[name] for name in DEFAULTS[task]}


def of_search(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of the search for a plan, which do not apply to a given plan."""
    return {name: value for name, value in settings.items() if _BY_NAME[name].of_search}


def beside_plan(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that may be given together with a plan: all except those of the search."""
    return {name: value for name, value in settings.items() if not _BY_NAME[name].of_search}


def words_of(settings: Mapping[str, Any]) -> list[str]:
    """Returns the settings as options of a command line, without those that are None or False."""
    return [
        word
        for name, value in settings.items()
        if value is not None and value is not False
        for word in ([_option(name)] if value is True else [_option(name), str(value)])
    ]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def takes(task: str) -> Callable[[_Function], _Function]:
    """For functions with **settings: the settings of a task appear in the signature and, in place of the line
    "**settings: ...", in the docstring."""

    def named(function: _Function) -> _Function:
        added = [_parameter(name, usual) for name, usual in DEFAULTS[task].items()]
        return _with_options(function, added, _told(function.__doc__ or "", task))

    return named


def accepts(other: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """For functions with **options: the other options of a function appear in the signature."""

    def named(function: _Function) -> _Function:
        own = inspect.signature(function).parameters
        options = [item for item in inspect.signature(other).parameters.values() if item.kind is item.KEYWORD_ONLY]
        return _with_options(function, [item for item in options if item.name not in own], function.__doc__ or "")

    return named


def _with_options(function: _Function, added: list[inspect.Parameter], doc: str) -> _Function:
    """Returns the function, with keyword options instead of its last parameter. Unknown options raise a TypeError."""
    *own, _options = inspect.signature(function).parameters.values()
    signature = inspect.signature(function).replace(parameters=[*own, *added])

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        try:
            signature.bind(*arguments, **options)
        except TypeError as problem:
            near = _nearest(options, signature)
            raise passing(TypeError(f"{function.__name__}(): {problem}{near}")) from None
        return function(*arguments, **options)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    checked.__doc__ = doc
    return checked  # type: ignore[return-value]


def _nearest(options: Mapping[str, Any], signature: inspect.Signature) -> str:
    """Returns the parameter that was meant by the first unknown option, as the end of a sentence; empty if none is
    similar."""
    unknown = next((name for name in options if name not in signature.parameters), "")
    near = difflib.get_close_matches(unknown, signature.parameters, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _parameter(name: str, usual: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=type_of(name))


def type_of(name: str) -> str:
    """Returns the readable type of a setting: choices are texts."""
    declared = RunSettings.__annotations__[name].__forward_arg__
    kind = str(getattr(_options, declared, declared))
    return re.sub(r"Literal\[.*?\]", "str", kind).replace("os.PathLike[str]", "Path")


def _told(doc: str, task: str) -> str:
    return "\n".join(
        line if not line.strip().startswith("**settings:") else _entries(task, line[: len(line) - len(line.lstrip())])
        for line in doc.split("\n")
    )


def _entries(task: str, indent: str) -> str:
    return "\n".join(
        textwrap.fill(
            _BY_NAME[name].told(usual, type_of(name).removesuffix(" | None")),
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "    ",
            break_on_hyphens=False,
        )
        for name, usual in DEFAULTS[task].items()
    )
