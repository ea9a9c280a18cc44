"""The version is that of packaging/python/src/hopscope/_version.py, and the releases of torch are those of packaging/torch.txt, wherever
a file has to repeat them."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIES = {
    "CITATION.cff": r"^version: (\S+)$",
    "resources/desktop/org.hopscope.Hopscope.metainfo.xml": r'<release version="([^"]+)"',
}
OLDEST_TORCH = {  # to build with
    "packaging/common.sh": r"oldest_torch=([\d.]+)",
    "docs/start/install.md": r"LibTorch of version ([\d.]+) or newer",
    "docs/dev/building.md": r"LibTorch ([\d.]+) or newer",
    "packaging/setup.sh": r"torch ([\d.]+) or newer",
}


class Version(unittest.TestCase):
    def test_copies_agree_with_the_python_package(self):
        (version,) = re.findall(r'^__version__ = "(\d+\.\d+\.\d+)"$',
                                (ROOT / "packaging/python/src/hopscope/_version.py").read_text(), re.M)
        for file, pattern in COPIES.items():
            found = re.findall(pattern, (ROOT / file).read_text(), re.M)
            self.assertEqual(found[:1], [version], file)

    def test_files_that_name_the_oldest_torch_agree(self):
        found = {file: re.findall(pattern, (ROOT / file).read_text()) for file, pattern in OLDEST_TORCH.items()}
        self.assertEqual(len({tuple(versions) for versions in found.values()}), 1, found)

    def test_the_wheel_is_for_the_releases_of_the_table(self):
        lines = (ROOT / "packaging/torch.txt").read_text().splitlines()
        minors = [tuple(map(int, line.split(".")[:2])) for line in lines if not line.startswith("#")]
        self.assertEqual(minors, sorted(set(minors)))
        (least,) = re.findall(r'"torch>=([\d.]+)"', (ROOT / "packaging/python/pyproject.toml").read_text())
        self.assertEqual(tuple(map(int, least.split("."))), minors[0])
        (built,) = re.findall(r'^torch_package="torch==([\d.]+)"$', (ROOT / "packaging/setup.sh").read_text(), re.M)
        self.assertIn(built, lines)


if __name__ == "__main__":
    unittest.main(verbosity=2)
