"""Model and data as the files that the engine reads."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ._scratch import Scratch, data_words
from .data import Inputs
from .saving import Prepared, prepare


def as_files(model: Any, data: Any, roles: Any, place: Scratch) -> tuple[Prepared, list[str]]:
    """What `prepare` finds, and the words for `--data`. Tensors are written while the model is traced."""
    with ThreadPoolExecutor(1, "hopscope-write") as pool:
        words: list[Future[list[str]]] = []

        def known(inputs: Inputs) -> None:
            words.append(pool.submit(data_words, inputs, place))

        prepared = prepare(model, data, place.folder, roles, known)
        return prepared, words[0].result()
