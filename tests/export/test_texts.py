"""Texts of a model in exported folders: whatever they hold, the code is that of the clean model, in Python's files and in
stages.pt. HOPSCOPE_ENGINE names the program, HOPSCOPE_TIER how many tables are changed."""
import ast
import os
import pickletools
import random
import re
import struct
import sys
import tempfile
import unittest
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from safetensors.torch import save_file

from exported import ENGINE, ROOT, engine

sys.path.insert(0, str(ROOT / "tests/app"))
from engine_process import run  # noqa: E402
from tiers import sized  # noqa: E402

KARATE = ROOT / "samples/karate"
CALL = 'open("owned", "w").close()'
ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0", "\x1b[2J", "\t"]
MARKS = ['"', "'", '"""', "'''", "\\", "\\\n", "|", "`", "```", "#", "{", "}", "\u202e", "\u2066", "\u200b", "\ufeff", "\U0001f47e",
         "\udcff", "\udce2\udc80",
         "%s", "<script>", "]]>", "--", "\xa0", "x" * 5000]


class Scripted(torch.nn.Module):
    """Its debug table has files and texts."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(34, 4)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        '''A doc string with "quotes" | and \\ marks.'''
        rows = self.linear(x)
        summed = torch.zeros_like(rows).index_add(0, edge_index[1], rows[edge_index[0]])
        return torch.relu(summed) + torch.zeros_like(rows).index_add(0, edge_index[1], torch.tanh(summed)[edge_index[0]])


def hostile(text, draw):
    """Marks and calls within what is the name of a file, a function, or a line of source."""
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(text) + 1)
        end = draw.choice(ENDS)
        text = text[:at] + draw.choice((f"{end}{CALL}{draw.choice(ENDS)}", f"{end}        {CALL}{end}#", draw.choice(MARKS),
                                        f'"""{end}{CALL}{end}"""', f"\\{end}{CALL}", f'"){end}{CALL} #')) + text[at:]
    return text


def with_other_texts(table, draw):
    """A debug table, a pickle, of which all but its kind and the text of what has no source is changed."""
    found = [(at, len(text.encode())) for code, text, at in pickletools.genops(table) if code.name == "BINUNICODE"][1:]
    for at, size in reversed(found):
        text = table[at + 5: at + 5 + size].decode()
        if text and draw.random() < 0.8:
            other = hostile(text, draw).encode(errors="surrogateescape")
            table = table[:at + 1] + struct.pack("<I", len(other)) + other + table[at + 5 + size:]
    return table


def changed(model, draw, target):
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, with_other_texts(content, draw) if name.endswith(".debug_pkl") else content)


def trees(folder):
    """The code of an exported folder, without comments: of its files, and of what TorchScript has compiled. A line of a file
    is one for whoever reads it."""
    for file in (*folder.glob("*.py"), folder / "README.md"):
        text = file.read_text()
        assert len(text.splitlines()) == text.count("\n"), file
    found = {file.name: ast.dump(ast.parse(file.read_bytes())) for file in sorted(folder.glob("*.py"))}
    with zipfile.ZipFile(folder / "stages.pt") as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                code = archive.read(name).decode()
                found[Path(name).name] = "\n".join(line.partition("  #")[0].rstrip() for line in code.split("\n")
                                                   if not line.lstrip().startswith("#"))
    return found


def tables(text):
    """The shape of the tables of a document: cells in each row."""
    return [len(re.findall(r"(?<!\\)\|", line)) for line in text.split("\n") if line.startswith("|")]


class Texts(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "work").mkdir()

    def exported(self, model, name):
        out = self.folder / name
        made = run([ENGINE, "export", model, "--data", KARATE / "graph.safetensors", "-o", out, "--quiet"], capture_output=True,
                   text=True, errors="replace", cwd=str(self.folder / "work"))
        self.assertEqual(made.returncode, 0, made.stderr)
        return out

    def test_changed_debug_tables_leave_the_code_as_it_is(self):
        scripted = self.folder / "scripted.pt"
        torch.manual_seed(3)
        torch.jit.script(Scripted()).save(str(scripted))
        for model in (KARATE / "gcn.pt", scripted):
            clean = self.exported(model, f"{model.stem}-clean")
            expected, count = trees(clean), sized(16, 500)

            def one(seed, model=model, expected=expected, clean=clean):
                file = self.folder / f"{model.stem}-{seed}.pt"
                changed(model, random.Random(f"{model.stem} {seed}"), file)
                out = self.exported(file, f"{model.stem}-{seed}")
                readme = (out / "README.md").read_text()
                return trees(out) == expected and tables(readme) == tables((clean / "README.md").read_text())

            with ThreadPoolExecutor(2) as pool:
                same = list(pool.map(one, range(count)))
            self.assertEqual([seed for seed in range(count) if not same[seed]], [])
        self.assertEqual(os.listdir(self.folder / "work"), [])

    def test_names_of_types_and_inputs_stay_in_their_cells(self):
        """Keys of dictionaries, which become names of tables and outputs."""
        class Named(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 3)

            def forward(self, x_dict: dict[str, torch.Tensor], edge_index: torch.Tensor) -> dict[str, torch.Tensor]:
                rows = self.linear(x_dict['a|b"c\\d`e'])
                return {'o|u"t\\`': torch.zeros_like(rows).index_add(0, edge_index[1], rows[edge_index[0]])}

        model, data = self.folder / "named.pt", self.folder / "data.safetensors"
        torch.jit.script(Named()).save(str(model))
        save_file({'x_dict.a|b"c\\d`e': torch.randn(9, 4), "edge_index": torch.randint(0, 9, (2, 30))}, str(data))
        made = engine("export", model, "--data", data, "-o", self.folder / "named", "--quiet")
        self.assertEqual(made.returncode, 0, made.stderr)
        trees(self.folder / "named")
        readme = (self.folder / "named/README.md").read_text()
        self.assertEqual(set(tables(readme)), {3, 4})
        self.assertIn("without conditions and without any warranty (0BSD)", readme)
        self.assertTrue((self.folder / "named/run.py").read_text().split("\n")[0].endswith("Identifier: 0BSD"))
        self.assertEqual(readme.count("`") % 2, 0)
        ran = run([sys.executable, self.folder / "named/run.py", "--data", data, "-o", self.folder / "out", "--quiet"],
                  capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)


if __name__ == "__main__":
    unittest.main()
