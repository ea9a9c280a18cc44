"""The desktop entry, the metainfo and the MIME type: valid, of one id, and installed where a desktop looks for them. The window's
man page: all options of its help."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESOURCES = ROOT / "resources"
BUILD = Path(os.environ.get("HOPSCOPE_BUILD", ROOT / "build/dev"))
DESKTOP = RESOURCES / "desktop"
ID = "org.hopscope.Hopscope"


def run(*command):
    if not shutil.which(command[0]):
        raise AssertionError(f"{command[0]} is not installed; packaging/setup.sh does it")
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


class DesktopFiles(unittest.TestCase):
    def entry(self):
        lines = (DESKTOP / f"{ID}.desktop").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def test_the_desktop_entry_is_valid(self):
        result = run("desktop-file-validate", DESKTOP / f"{ID}.desktop")
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_the_metainfo_is_valid(self):
        result = run("appstreamcli", "validate", "--no-net", DESKTOP / f"{ID}.metainfo.xml")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_mime_type_is_taken_by_the_database_and_covers_sessions_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            packages = Path(folder) / "packages"
            packages.mkdir()
            shutil.copy(DESKTOP / f"{ID}.xml", packages)
            result = run("update-mime-database", folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            globs = [line for line in (Path(folder) / "globs").read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(globs, ["application/x-hopscope-session:*.hopscope"])

    def test_all_of_them_have_one_id_and_name_the_same_type(self):
        entry = self.entry()
        self.assertEqual(entry["Icon"], ID)
        self.assertEqual(entry["MimeType"], "application/x-hopscope-session;")
        component = ElementTree.parse(DESKTOP / f"{ID}.metainfo.xml").getroot()
        self.assertEqual(component.findtext("id"), ID)
        self.assertEqual(component.findtext("launchable"), f"{ID}.desktop")
        self.assertEqual(component.findtext("provides/mediatype"), "application/x-hopscope-session")

    def test_every_icon_is_well_formed_and_scales(self):
        icons = sorted((RESOURCES / "icons").glob("*.svg"))
        self.assertIn(f"{ID}.svg", [icon.name for icon in icons])
        for icon in icons:
            with self.subTest(icon=icon.name):
                self.assertIn("viewBox", ElementTree.parse(icon).getroot().attrib)

    def test_each_of_them_is_installed(self):
        rules = (RESOURCES / "CMakeLists.txt").read_text()
        for file in sorted(DESKTOP.iterdir()):
            self.assertRegex(rules, re.escape(f"desktop/{file.name}") + r"\s")

    def test_the_man_page_has_the_window_s_options(self):
        shown = run(BUILD / "bin/hopscope", "--help").stdout
        options = re.findall(r"^  (?:-\w, )?(--[a-z]+)", shown, re.M)
        self.assertGreater(len(options), 10)
        with tempfile.TemporaryDirectory() as folder:
            made = run("cmake", "--install", BUILD, "--prefix", folder, "--component", "window_texts")
            self.assertEqual(made.returncode, 0, made.stderr)
            page = (Path(folder) / "share/man/man1/hopscope.1").read_text().replace("\\-", "-")
        self.assertEqual([option for option in options if option not in page], [])
        self.assertIn(".SH OPTIONS\n.EX\n  --data <DATA>", page)
        self.assertIn(".B hopscope\n[options] [MODEL | SESSION.hopscope]\n", page)
        self.assertNotIn(str(ROOT), page)


if __name__ == "__main__":
    unittest.main()
