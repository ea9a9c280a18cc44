"""Has the commands of the Python package in this process carried out by forks of one process that has loaded LibTorch
(engine_process.py in tests/app, which names the exceptions); without HOPSCOPE_ENGINE_FORKS they start the program."""
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("app", "support")]
import engine_process  # noqa: E402
import hopscope._process  # noqa: E402

hopscope._process.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": engine_process.start})
