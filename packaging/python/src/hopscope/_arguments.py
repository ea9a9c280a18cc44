"""Command lines that report mistakes as hopscope-engine does."""

from __future__ import annotations

import argparse
import difflib
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from .errors import UsageError


class Arguments(argparse.ArgumentParser):
    """Raises UsageError, also for a misspelt command or option next to --help; the hint names the nearest one.
    `commands`: the choices of `add_subparsers`, if the program has commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self.commands: dict[str, Arguments] = {}

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"see `{self.prog} --help`")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self._check(args or [])
        return super().parse_known_args(args, namespace)

    def _check(self, words: Sequence[str]) -> None:
        for word in itertools.takewhile(lambda word: word != "--", words):
            if word.startswith("-") and not word[1:2].isdigit() and len(word) > 1:
                name = word.partition("=")[0] if word.startswith("--") else word[:2]
                self._expect("option", name, self._option_string_actions)
            elif self.commands:
                self._expect("command", word, self.commands)
                return  # whose parser checks the rest

    def _expect(self, kind: str, word: str, known: Iterable[str]) -> None:
        if word in known:
            return
        near = difflib.get_close_matches(word, known, 1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise UsageError(f"unknown {kind} '{word}'", f"{hint}see `{self.prog} --help`")
