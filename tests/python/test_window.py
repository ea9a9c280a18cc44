"""Where the window is found, what its process gets, `hopscope.open` and the command `hopscope`."""
import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import hopscope
from support import ROOT, PackageTest, Plain, graph, made

KARATE = str(ROOT / "samples/karate/gcn.pt")


class TheWindow(PackageTest):
    def test_it_opens_with_the_model_its_data_a_plan_and_this_engine(self):
        said = self.folder / "said"
        window = self.folder / "window"
        window.write_text(f'#!/bin/sh\nfor word in "$@"; do echo "$word"; test -f "$word" && echo there; done > {said}.part\n'
                          f"mv {said}.part {said}\nexec sleep 60\n")
        window.chmod(0o755)
        model, data = made(Plain), graph()
        plan = hopscope.plan(model, data, scratch=self.scratch)
        with mock.patch.dict(os.environ, HOPSCOPE_WINDOW=str(window)):
            with hopscope.open(model, data, plan=plan, roles={"x": "node"}) as opened:
                while not said.exists():
                    self.assertTrue(opened.is_open)
                words = said.read_text().splitlines()
            self.assertFalse(opened.is_open)
        kinds = [word if word.startswith("--") or "=" in word else Path(word).name for word in words]
        self.assertEqual(kinds, ["Plain.pt", "there", "--data", "inputs.safetensors", "there", "--role", "x=node",
                                 "--plan", "plan.json", "there", "--engine", f"{Path(hopscope.engine().path).name} serve"])
        self.assertFalse(Path(words[0]).exists())

    def test_where_it_is_not_installed_it_is_said(self):
        with mock.patch("hopscope._window._candidates", lambda: iter([])):
            self.assertRaisesRegex(hopscope.EngineError, "is not installed\nhint: pip install", hopscope.open, KARATE)


class TheCommand(PackageTest):
    """The packages that wheels install, made up: the window prints its words and its variables."""

    def setUp(self):
        super().setUp()
        self.package("hopscope_window", hopscope.__version__)
        self.package("PySide6", "6.12.0")
        window = self.folder / "hopscope_window/bin/hopscope"
        window.parent.mkdir()
        window.write_text('#!/bin/sh\necho "$@"; echo "$PATH"; echo "$LD_LIBRARY_PATH"\n')
        window.chmod(0o755)
        for name in ("libc.so.6", "libnowhere.so.9"):
            (self.folder / "hopscope_window/system" / name).mkdir(parents=True)

    def package(self, name, version):
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "__init__.py").touch()
        record = self.folder / f"{name}.dist-info"
        record.mkdir(exist_ok=True)
        (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    def said(self, *words, expected=0, **variables):
        environment = {**os.environ, "PYTHONPATH": f"{self.folder}:{ROOT / 'packaging/python/src'}", **variables}
        done = subprocess.run([sys.executable, "-c", "import sys; from hopscope._window import main; sys.exit(main())", *words],
                              capture_output=True, text=True, env=environment, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done.stdout.splitlines() if expected == 0 else done.stderr

    def test_the_window_gets_its_libraries_qt_what_the_system_lacks_and_the_engine(self):
        known = f"/mine:{os.environ.get('LD_LIBRARY_PATH', '/yours')}"
        words, path, libraries = self.said("a model.pt", "--run", LD_LIBRARY_PATH=known)
        self.assertEqual((words, Path(path.split(":")[0])), ("a model.pt --run", Path(hopscope.engine().path).parent))
        package = self.folder / "hopscope_window"
        first = [f"{package}/lib", f"{self.folder}/PySide6/Qt/lib", f"{package}/system/libnowhere.so.9"]
        self.assertEqual(libraries.split(":"), [*first, *known.split(":")])

    def test_help_and_remote_engines_need_no_engine_here(self):
        for word in ("--help", "--version", "--engine=ssh host hopscope-engine serve"):
            self.assertEqual(self.said(word, HOPSCOPE_ENGINE="/nowhere/engine")[0], word)
        self.assertIn("HOPSCOPE_ENGINE names", self.said("model.pt", expected=7, HOPSCOPE_ENGINE="/nowhere/engine"))

    def test_a_package_of_another_version_or_without_qt_is_refused(self):
        (self.folder / "PySide6/__init__.py").unlink()
        self.assertIn("this environment has no PySide6", self.said("--help", expected=7))
        self.package("hopscope_window", "7.1.0")
        self.assertIn("hopscope-window is version 7.1.0, hopscope is", self.said("--help", expected=7))


if __name__ == "__main__":
    unittest.main()
