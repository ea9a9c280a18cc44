"""Options in sentences of the engine as keyword arguments: `--memory 4096` as `memory=4096`."""

from __future__ import annotations

import re

from ._contract import SETTINGS
from ._options import Setting

_BY_NAME = {setting.name: setting for setting in SETTINGS}
_NUMBERS = ("Count", "Seconds", "Size")


def in_python(sentence: str) -> str:
    """Options that are not arguments of functions, such as --shard, stay as they are."""
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)((?: |=)([^\s,;)]+))?", _keyword, sentence)


def _keyword(found: re.Match[str]) -> str:
    name, rest, value = found[1].replace("-", "_"), found[2] or "", found[3] or ""
    if name == "role":
        return f'roles=["{value}"]' if "=" in value else "roles" + rest
    setting = _BY_NAME.get(name)
    if setting is None:
        return found[0]
    if setting.kind == "Flag":
        return f"{name}=True{rest}"
    if setting.kind in _NUMBERS and value[:1].isdigit():
        return f"{name}={value if value.isdigit() else repr(value)}"
    return f'{name}="{value}"' if _has(setting, value) else name + rest


def _has(setting: Setting, value: str) -> bool:
    if setting.kind == "DeviceName":
        return re.fullmatch(r"auto|cpu|cuda(:\d+)?(,cuda:\d+)*", value) is not None
    return value in setting.choices
