"""packaging/release.sh --check on a small copy of the checkout: each reason against a release is named, and without one it passes."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from test_version import COPIES, OLDEST_TORCH, ROOT

FILES = {*COPIES, *OLDEST_TORCH, "CHANGELOG.md", "cmake/HopscopePackage.cmake", "packaging/bundle.sh", "packaging/release.sh", "packaging/torch.txt",
         "packaging/python/pyproject.toml", "packaging/python/src/hopscope/_version.py", "tests/house/test_version.py"}
METAINFO, CITATION = "resources/desktop/org.hopscope.Hopscope.metainfo.xml", "CITATION.cff"
VERSION, DAY = "7.1.0", "2030-01-02"


class Release(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.copy = Path(holder.name)
        for name in FILES:
            (self.copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.copy / name)
        for name, pattern in {**COPIES, "packaging/python/src/hopscope/_version.py": r'"([\d.]+)"'}.items():
            self.make(name, pattern=pattern, text=lambda found: found[0].replace(found[1], VERSION))
        self.make("CHANGELOG.md", pattern="^## .*$", text=f"## {VERSION}, {DAY}")
        self.make(METAINFO, pattern=r'(?<= date=")[^"]*', text=DAY)
        self.make("cmake/HopscopePackage.cmake", "packaging/bundle.sh", pattern="@[a-z]+[.](invalid)?[a-z]*>", text="@example.org>")
        self.git("init", "-q")
        self.commit()

    def make(self, *names, pattern, text):
        """Replaces the first place in each file that has one."""
        for name in names:
            path = self.copy / name
            path.write_text(re.sub(pattern, text, path.read_text(), count=1, flags=re.M))

    def change(self, name, old, new):
        text = (self.copy / name).read_text()
        self.assertIn(old, text)
        (self.copy / name).write_text(text.replace(old, new))

    def git(self, *words):
        who = {f"GIT_{role}_{what}": "someone@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", *words], cwd=self.copy, check=True, env={**os.environ, **who})

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")

    def check(self):
        done = subprocess.run(["packaging/release.sh", "--check"], cwd=self.copy, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def refused(self, says):
        code, said = self.check()
        self.assertEqual(code, 1, said)
        self.assertIn(says, said)
        self.assertIn(f"{VERSION} cannot be released", said)

    def test_a_checkout_that_is_ready(self):
        code, said = self.check()
        self.assertEqual((code, said.strip()), (0, f"== {VERSION} can be released"))

    def test_each_reason_is_named(self):
        for name, old, new, says in (
            ("CHANGELOG.md", f", {DAY}", ", soon", f"CHANGELOG.md has no heading '## {VERSION}, YEAR-MONTH-DAY'"),
            (METAINFO, DAY, "2029-01-02", f"describes the release of '2029-01-02', not of '{DAY}'"),
            (CITATION, f"version: {VERSION}", "version: 7.1.1", "the version is not the same everywhere"),
            ("packaging/bundle.sh", "example.org", "hopscope.invalid", "need the address of a maintainer"),
        ):
            with self.subTest(says):
                self.change(name, old, new)
                self.refused("the checkout has changes")
                self.commit()
                self.refused(says)
                self.change(name, new, old)
                self.commit()
        self.git("tag", f"v{VERSION}")
        self.refused(f"the tag v{VERSION} exists")


if __name__ == "__main__":
    unittest.main(verbosity=2)
