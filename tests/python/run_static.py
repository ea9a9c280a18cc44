"""The package is clean under ruff and mypy --strict, together with a program that uses all of it."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "packaging/python"


def checked(*words):
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, MYPY_CACHE_DIR=cache, RUFF_NO_CACHE="true")
        return subprocess.run([sys.executable, "-m", *words], cwd=PACKAGE, capture_output=True, text=True, env=environment,
                              check=False)


def has(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"{name} is not installed")


class Static(unittest.TestCase):
    def clean(self, *words):
        done = checked(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @has("ruff")
    def test_ruff_has_no_findings(self):
        self.clean("ruff", "check", "src")

    @has("ruff")
    def test_it_is_formatted(self):
        self.clean("ruff", "format", "--check", "src")

    @has("mypy")
    def test_types_hold_strictly(self):
        self.clean("mypy", "src", str(Path(__file__).with_name("typed_program.py")))

    def test_the_typed_program_uses_every_public_name(self):
        sys.path.insert(0, str(PACKAGE / "src"))
        import hopscope

        text = Path(__file__).with_name("typed_program.py").read_text()
        listed = [*hopscope.__all__, "open", "inspect", *(f"debug.{name}" for name in hopscope.debug.__all__)]
        self.assertEqual([name for name in listed if not re.search(rf"hopscope\.{name}\b", text)], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
