"""The wheel installs into a fresh environment and runs a model there without a compiler, a checkout or a variable that helps."""
import importlib.metadata
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, torch, hopscope
class Sum(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
    def forward(self, x, edge_index):
        return self.linear(torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]))
model, data = Sum(), {"x": torch.randn(50, 3), "edge_index": torch.randint(0, 50, (2, 200))}
result = hopscope.inference(model, data, verify="full")
here = hopscope.engine()
print(json.dumps({"origin": here.origin, "engine": here.path, "verdict": result.verdict,
                  "same": bool(torch.allclose(result.output, model(**data), atol=1e-5))}))
"""


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        run(ROOT / "packaging/python/build_wheel.sh", "--engine", os.environ["HOPSCOPE_ENGINE"], cls.folder / "dist")
        (cls.wheel,) = (cls.folder / "dist").iterdir()

    def test_it_holds_the_engine_its_libraries_and_types_but_not_torch(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
            (place,) = (name for name in names if name.endswith("/hopscope-engine-torch"))
            engine = archive.read(place)
        self.assertLessEqual({"hopscope/py.typed", "hopscope/__main__.py", place.removesuffix("-torch")}, names)
        self.assertFalse([name for name in names if "libtorch" in name or "c10" in name])
        minor = ".".join(importlib.metadata.version("torch").split(".")[:2])
        self.assertEqual(place, f"hopscope/bin/torch-{minor}/hopscope-engine-torch")
        self.assertNotIn(b"site-packages/torch/lib", engine)
        self.assertRegex(self.wheel.name, r"^hopscope-[\d.]+-py3-none-linux_\w+\.whl$")

    def test_every_library_in_it_comes_with_its_terms(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            libraries = [Path(name).name for name in names if name.startswith("hopscope/bin/lib/")]
            terms = {name: archive.read(f"hopscope/bin/licenses/{name}.txt").decode() for name in libraries}
        self.assertTrue(any(name.startswith("libhighs") for name in libraries))
        for name, text in terms.items():
            self.assertIn("opyright", text, name)

    def test_a_fresh_environment_runs_a_model_without_a_compiler(self):
        fresh = self.folder / "fresh"
        run(sys.executable, "-m", "venv", "--without-pip", fresh)  # installing pip would take longer than all else here
        python = fresh / "bin/python"
        # On top of this environment, so that no torch is downloaded.
        packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        (Path(packages) / "below.pth").write_text(sysconfig.get_path("purelib") + "\n")
        run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", self.wheel)
        alone = {"cwd": self.folder, "env": {"PATH": "/nowhere", "HOME": str(self.folder)}}
        self.assertIn("hopscope-engine", run(fresh / "bin/hopscope-engine", "--version", **alone))
        bare = subprocess.run([fresh / "bin/hopscope"], capture_output=True, text=True, check=False, **alone)
        self.assertEqual(bare.returncode, 7)
        self.assertIn('error: the window is not installed\nhint: pip install "hopscope[window]"', bare.stderr)
        sample = ROOT / "samples/karate"
        self.assertIn("depth 2", run(fresh / "bin/hopscope-engine", "inspect", sample / "gcn.pt", "--data",
                                     sample / "graph.safetensors", **alone))
        said = json.loads(run(python, "-c", PROGRAM, **alone))
        self.assertEqual((said["origin"], said["verdict"], said["same"]), ("wheel", "equal", True))
        self.assertTrue(said["engine"].startswith(str(fresh)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
