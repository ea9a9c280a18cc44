"""The documentation builds as a site without a warning: links and anchors lead somewhere, and every page is in the navigation."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Site(unittest.TestCase):
    def test_the_site_builds_without_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder], cwd=ROOT,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for page in ("index.html", "start/python.html", "project/CONTRIBUTING.html", "images/window-light.png"):
                self.assertTrue((Path(folder) / page).is_file(), page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
