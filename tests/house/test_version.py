"""The version is that of packaging/python/src/hopscope/_version.py wherever a file has to repeat it."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIES = {
    "CITATION.cff": r"^version: (\S+)$",
    "resources/desktop/org.hopscope.Hopscope.metainfo.xml": r'<release version="([^"]+)"',
}


class Version(unittest.TestCase):
    def test_copies_agree_with_the_python_package(self):
        (version,) = re.findall(r'^__version__ = "(\d+\.\d+\.\d+)"$',
                                (ROOT / "packaging/python/src/hopscope/_version.py").read_text(), re.M)
        for file, pattern in COPIES.items():
            found = re.findall(pattern, (ROOT / file).read_text(), re.M)
            self.assertEqual(found[:1], [version], file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
