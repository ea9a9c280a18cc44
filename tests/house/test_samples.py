"""The bundled samples are whole, small, and tell nothing of the machine they were made on."""

import json
import re
import struct
import unittest
import zipfile
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "samples"
BYTES_LIMIT = 3_000_000
# An absolute path of a Python file, in a record of source lines.
ABSOLUTE = re.compile(rb"(?:^|[^\w.])(/[\w./-]+\.py)")


def header(path):
    """The keys of a .safetensors file with dtype, shape and offsets."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + length])


def models():
    return sorted(SAMPLES.glob("*/*.pt"))


def absolute_paths(archive):
    with zipfile.ZipFile(archive) as records:
        return [path for name in records.namelist() for path in ABSOLUTE.findall(records.read(name))]


class Samples(unittest.TestCase):
    def test_every_promised_model_is_there(self):
        names = {path.relative_to(SAMPLES).as_posix() for path in models()}
        digits = {f"digits/{name}.pt" for name in ("gcn", "sage", "gat", "jknet", "residual")}
        self.assertEqual(names, {"karate/gcn.pt", "lessons/gcn_blocks.pt"} | digits)

    def test_every_model_has_its_expected_outputs_for_every_node_of_its_graph(self):
        for model in models():
            if model.parent.name == "lessons":
                continue  # a wrong model, on the graph of another folder
            with self.subTest(model=model.name):
                nodes = header(model.parent / "graph.safetensors")["x"]["shape"][0]
                expected = header(model.with_name(model.stem + ".expected.safetensors"))["out"]
                self.assertEqual((expected["dtype"], expected["shape"][0]), ("F32", nodes))

    def test_the_karate_club_has_34_members_and_78_friendships_in_both_directions(self):
        graph = header(SAMPLES / "karate" / "graph.safetensors")
        self.assertEqual((graph["x"]["shape"], graph["edge_index"]["shape"]), ([34, 34], [2, 2 * 78]))

    def test_all_of_them_stay_small(self):
        self.assertLess(sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()), BYTES_LIMIT)

    def test_no_model_names_a_folder_of_the_machine_that_made_it(self):
        for model in models():
            with self.subTest(model=model.name):
                self.assertEqual(absolute_paths(model), [])


if __name__ == "__main__":
    unittest.main()
