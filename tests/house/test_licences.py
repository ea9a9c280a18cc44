"""Every file has a licence (REUSE.toml), and no built program combines licences that exclude each other."""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("HOPSCOPE_BUILD", ROOT / "build/dev"))
UNDER_GPL = {"hopscope"}
UNDER_APACHE = {"hopscope-engine", "hopscope-engine-torch", "hopscope-layout"}
# Shared libraries by their names, and the folders of our own static ones.
GPL = re.compile(r"\blib(qcustomplot|QCustomPlot)|(^|/)widgets/|(^|/)app/hopscope/")
EPL = re.compile(r"\blib(gvc|cgraph|cdt|pathplan|xdot)")


def linked(program):
    """The files that the build links into a program: the inputs of its rule in build.ninja, and the libraries that are named there."""
    text = (BUILD / "build.ninja").read_text().replace("$\n", "")
    block = re.search(rf"^build bin/{re.escape(program)}: (.*?)\n\n", text, re.M | re.S)
    if block is None:
        raise AssertionError(f"{BUILD}/build.ninja has no rule for {program}")
    inputs, *variables = block.group(1).split("\n")
    libraries = [line for line in variables if "LINK_LIBRARIES" in line]
    return (inputs.split(" || ")[0] + " " + " ".join(libraries)).split()


def excluded(words, pattern):
    return sorted({word for word in words if pattern.search(word)})


class Licences(unittest.TestCase):
    def test_every_file_has_a_licence_whose_text_is_there(self):
        found = subprocess.run([sys.executable, "-m", "reuse", "--root", str(ROOT), "lint", "--lines"], capture_output=True, text=True)
        if "No module named reuse" in found.stderr:
            self.fail("reuse is missing: run packaging/setup.sh")
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_no_program_under_apache_links_code_under_the_gpl(self):
        for program in sorted(UNDER_APACHE):
            self.assertEqual(excluded(linked(program), GPL), [], program)

    def test_no_program_under_the_gpl_links_a_library_under_the_epl(self):
        for program in sorted(UNDER_GPL):
            words = linked(program)
            self.assertEqual(excluded(words, EPL), [], program)
            self.assertTrue(excluded(words, GPL), "the window links QCustomPlot")

    def test_such_a_link_would_be_seen(self):
        self.assertEqual(excluded(["bin/x", "widgets/plots/libhopscope_w_plots.a"], GPL), ["widgets/plots/libhopscope_w_plots.a"])
        self.assertEqual(excluded(["/usr/lib/libcgraph.so", "/usr/lib/libz.so"], EPL), ["/usr/lib/libcgraph.so"])
        self.assertTrue(excluded(linked("hopscope-layout"), EPL), "the layout helper links Graphviz")


if __name__ == "__main__":
    unittest.main(verbosity=2)
