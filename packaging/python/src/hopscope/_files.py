"""Model and data as the files that the engine reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._options import parse_roles
from ._scratch import Data
from .documents import Plan
from .saving import Prepared, Saved


@dataclass
class Files:
    """The arguments of a command that name a model and its data, the model first."""

    words: list[str]
    saved: Saved | None
    notes: Sequence[str] = ()  # from preparing them

    def told(self, by_engine: list[str]) -> list[str]:
        """Their notes and those of the engine, without duplicates."""
        return list(dict.fromkeys([*self.notes, *by_engine]))


def files_of(found: Prepared, given: Data, roles: Any) -> Files:
    """Returns the arguments for a prepared model and its data."""
    data = [word for name in given.words for word in ("--data", name)]
    words = [*model_words(found.path, found.saved), *data, *role_options(roles, found.saved)]
    return Files(words, found.saved, found.notes)


def model_words(path: str | os.PathLike[str], saved: Saved | None) -> list[str]:
    """Returns the arguments for a model file. A file that this package saved contains the caller's own code."""
    return [str(Path(path).absolute()), *(["--trust"] if saved is not None else [])]


def beside(words: list[str], second: str, own: bool) -> tuple[list[str], list[str]]:
    """The words of a command that also reads the model file `second`, without `--trust`, which would cover both files,
    and the paths of those with the caller's own code. `own`: the second one has such code."""
    others = [word for word in words if word != "--trust"]
    return others, [*(words[:1] if len(others) < len(words) else []), *([second] if own else [])]


def role_words(roles: Any, saved: Saved | None) -> list[str]:
    """Roles as `--role` takes them."""
    inside = saved.in_file if saved is not None else str
    return [f"{inside(name)}={role}" for name, role in parse_roles(roles).items()]


def role_options(roles: Any, saved: Saved | None) -> list[str]:
    """Returns the same roles, each after its option."""
    return [word for role in role_words(roles, saved) for word in ("--role", role)]


def same_model(plan: Plan, saved: Saved) -> bool:
    """Returns whether a plan was made for this model with these weights, possibly in another file."""
    return bool(plan.fingerprint) and plan.fingerprint == saved.fingerprint
