"""Where the engine is found, that it fits, and `python -m hopscope`."""
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import hopscope
from hopscope import _engine as engines
from support import ROOT, PackageTest

STAND_IN = Path(__file__).with_name("stand_in.py")
KARATE = [str(ROOT / "samples/karate/gcn.pt"), "--data", str(ROOT / "samples/karate/graph.safetensors")]


def command_line(*words, **options):
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "packaging/python/src"), **options)
    return subprocess.run([sys.executable, "-m", "hopscope", *words], capture_output=True, text=True, env=environment,
                          check=False, stdin=subprocess.DEVNULL)


class Finding(PackageTest):
    def setUp(self):
        super().setUp()
        self.real = hopscope.engine().path
        self.bin = self.folder / "bin"
        self.bin.mkdir()

    def place(self, folder):
        """A program that is the real engine."""
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "hopscope-engine"
        program.write_text(f'#!/bin/sh\nexec "{self.real}" "$@"\n')
        program.chmod(0o755)
        return program

    def minor(self):
        return ".".join(engines.torch_version(engines.torch_folder()).split(".")[:2])

    def found(self, here=None, **environment):
        """The engine's origin, with nothing else to be found."""
        clean = {name: value for name, value in os.environ.items() if name != "HOPSCOPE_ENGINE"}
        clean.update({"PATH": "/nowhere", **environment})
        with mock.patch.dict(os.environ, clean, clear=True), mock.patch.object(engines, "_HERE", here or self.folder):
            return engines.engine()

    def test_the_named_engine_goes_before_the_wheel_the_path_and_the_checkout(self):
        (self.folder / "checkout/app/engine").mkdir(parents=True)
        package = self.folder / "checkout/packaging/python/src/hopscope"
        built = self.place(self.folder / "checkout/build/dev/bin")
        self.assertEqual((self.found(package).origin, self.found(package).path), ("checkout", str(built)))
        on_path = self.place(self.bin)
        path = f"{self.bin}:/usr/bin:/bin"
        self.assertEqual(self.found(package, PATH=path).path, str(on_path))
        inside = self.place(package / "bin" / f"torch-{self.minor()}")
        self.assertEqual((self.found(package, PATH=path).origin, self.found(package).path), ("wheel", str(inside)))
        named = self.place(self.folder / "named")
        self.assertEqual(self.found(package, PATH=path, HOPSCOPE_ENGINE=str(named)).origin, "HOPSCOPE_ENGINE")

    def test_the_script_that_the_package_installs_is_not_taken_for_the_engine(self):
        """It would start itself; a program in the same folder is one."""
        scripts = self.folder / "scripts"
        script = self.place(scripts)
        script.write_text("#!/usr/bin/python3\nimport sys\nfrom hopscope.__main__ import main\nsys.exit(main())\n")
        self.assertRaisesRegex(hopscope.EngineError, "was not found", self.found, PATH=f"{scripts}:/usr/bin:/bin")
        script.unlink()
        shutil.copy(self.real, script)
        shutil.copy(Path(self.real).resolve().with_name("hopscope-engine-torch"), scripts)
        self.assertEqual(self.found(PATH=str(scripts)).path, str(script))

    def test_where_there_is_none_it_is_said(self):
        self.assertRaisesRegex(hopscope.EngineError, "was not found", self.found)
        gone = str(self.folder / "gone")
        self.assertRaisesRegex(hopscope.EngineError, "is not a program", self.found, HOPSCOPE_ENGINE=gone)

    def test_an_engine_of_another_version_is_refused(self):
        with self.assertRaisesRegex(hopscope.EngineError, r"is version 7\.1\.0, this package is"):
            self.found(PATH=os.environ["PATH"], HOPSCOPE_ENGINE=str(STAND_IN), STAND_IN_ENGINE=self.real,
                       STAND_IN_VERSION="7.1.0")

    def test_a_program_that_is_no_engine_is_refused(self):
        self.assertRaises(hopscope.EngineError, self.found, HOPSCOPE_ENGINE=shutil.which("false"))
        text = self.bin / "text"
        text.write_text("no program")
        text.chmod(0o755)
        self.assertRaisesRegex(hopscope.EngineError, "cannot be started", self.found, HOPSCOPE_ENGINE=str(text))

    def test_a_wheel_starts_the_engine_of_this_environments_torch(self):
        for minor in ("2.9", "2.11"):
            self.place(self.bin / f"torch-{minor}")
        with self.assertRaisesRegex(hopscope.EngineError, r"engines for torch 2\.9, 2\.11, and this environment has torch"):
            self.found()
        with mock.patch.object(engines, "torch_folder", lambda: None):
            with self.assertRaisesRegex(hopscope.EngineError, r"has no torch\nhint: pip install 'torch==2\.11\.\*'"):
                self.found()
        program = self.place(self.bin / f"torch-{self.minor()}")
        (self.bin / "lib").mkdir()
        found = self.found()
        self.assertEqual((found.origin, found.path), ("wheel", str(program)))
        self.assertEqual(found.libraries, (str(engines.torch_folder() / "lib"), str(self.bin / "lib")))

    def test_an_engine_that_misses_a_library_gets_this_environments_torch(self):
        program = self.bin / "hopscope-engine"
        program.write_text('#!/bin/sh\ncase "$LD_LIBRARY_PATH" in *torch*) echo hopscope-engine 0.1.0;;\n'
                           "*) echo 'error while loading shared libraries: libtorch.so: no such file' >&2; exit 127;; esac\n")
        program.chmod(0o755)
        found = self.found(HOPSCOPE_ENGINE=str(program))
        self.assertIn("torch/lib", found.environment()["LD_LIBRARY_PATH"])
        program.write_text("#!/bin/sh\necho 'symbol lookup error: undefined symbol: _ZN3c105ErrorC1' >&2; exit 127\n")
        with self.assertRaisesRegex(hopscope.EngineError, "cannot be started with torch"):
            self.found(HOPSCOPE_ENGINE=str(program))

    def test_what_the_program_beside_it_misses_is_seen_though_its_version_takes_no_library(self):
        shutil.copy(self.real, self.bin / "hopscope-engine")
        program = Path(shutil.copy(Path(self.real).resolve().with_name("hopscope-engine-torch"), self.bin))
        self.assertEqual(self.found(HOPSCOPE_ENGINE=str(self.bin / "hopscope-engine")).libraries, ())
        program.write_bytes(program.read_bytes().replace(b"libtorch_cpu.so\0", b"libtorch_cup.so\0"))
        with self.assertRaisesRegex(hopscope.EngineError, "cannot be started with torch .*libtorch_cup.so => not found"):
            self.found(HOPSCOPE_ENGINE=str(self.bin / "hopscope-engine"))


class CommandLine(unittest.TestCase):
    def test_it_is_the_engines_with_its_exit_codes(self):
        self.assertIn("hopscope-engine", command_line("--version").stdout)
        done = command_line("inspect", *KARATE, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["format"]), (0, "hopscope-inspect"))
        self.assertEqual(command_line("fly").returncode, 2)
        self.assertEqual(command_line("inspect", "missing.pt").returncode, 3)

    def test_without_an_engine_it_says_so(self):
        done = command_line("--version", HOPSCOPE_ENGINE="/nowhere/engine")
        self.assertEqual(done.returncode, 7)
        self.assertTrue(done.stderr.startswith("error: HOPSCOPE_ENGINE names"))


if __name__ == "__main__":
    unittest.main()
