"""The recipes of docs/gallery: each page has one picture, one block of Python, and one block with its output. They run as they stand, each
in a folder of its own; output and texts of the picture are those of the page, but for times and memory.

    gallery.py [--write] [NAME..]     --write stores outputs and pictures anew, of all recipes or of those with these names"""
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("HOPSCOPE_ROOT", Path(__file__).parents[2]))
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "packaging/python/src"), str(ROOT / "tests/support")]

import by_forks  # noqa: E402, F401 (has an effect)
from gallery_pictures import PICTURES  # noqa: E402
from pages import TIMES, blocks, found, without  # noqa: E402

FOLDER, IMAGES = ROOT / "docs/gallery", ROOT / "docs/images/gallery"
MEMORY = re.compile(TIMES.pattern + r"|[\d.,]+ [KMG]i?B")
LINES, BYTES = 22, 1_500_000


def recipes():
    return [page.stem for page in sorted(FOLDER.glob("*.md")) if page.stem != "README"]


def parts(name):
    """The code and the output of a recipe."""
    code, output = blocks(FOLDER / f"{name}.md")
    return code, output


def run(name):
    """(the output of the recipe, its picture)"""
    code, _ = parts(name)
    output, names = io.StringIO(), {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(output):
        exec(compile(code.text, str(code), "exec"), names)  # noqa: S102
        picture = PICTURES[name](names)
    return output.getvalue(), picture


def texts(picture):
    """The texts of a picture."""
    return [without(MEMORY, text) for text in re.findall(r">([^<>\n]+)<", picture)]


def write(names):
    for name in names:
        page, (_, shown) = FOLDER / f"{name}.md", parts(name)
        printed, picture = run(name)
        text = page.read_text()
        at = text.rindex(f"```\n{shown.text}```")
        page.write_text(text[:at] + f"```\n{printed}```" + text[at + len(shown.text) + 7:])
        (IMAGES / f"{name}.svg").write_text(picture + "\n")


def differences(name):
    """Between a page and what its recipe prints and draws."""
    printed, picture = run(name)
    _, missing = found(parts(name)[1].text.splitlines(), printed.splitlines(), TIMES)
    before = texts((IMAGES / f"{name}.svg").read_text())
    return [*([f"prints {printed}"] if missing else []), *([f"draws {texts(picture)}"] if texts(picture) != before else [])]


class Recipes(unittest.TestCase):
    def test_recipes_print_and_draw_what_their_pages_show(self):
        for name in recipes():
            with self.subTest(recipe=name):
                self.assertEqual(differences(name), [])

    def test_other_texts_are_noticed(self):
        picture = (IMAGES / "graphsage.svg").read_text()
        self.assertIn("stage 1 · node", texts(picture))
        self.assertNotEqual(texts(picture.replace("stage 2", "stage 3")), texts(picture))


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if not word.startswith("-")]
    if "--write" in sys.argv:
        write(chosen or recipes())
    else:
        unittest.main(verbosity=2)
