"""Exports by the window's protocol: what a folder would hold, writing it, its record, and whether it is still valid."""
import unittest

import torch
from safetensors.torch import load_file, save_file
from serve_case import DIGITS, KARATE, ServeTest


class Exports(ServeTest):
    def setUp(self):
        super().setUp()
        self.engine = self.client()
        self.target = self.folder / "exported"

    def opened(self, files):
        document = self.engine.call("model/open", **files)["document"]
        return document, self.plan(self.engine, document)["plan"]

    def write(self, plan, files=KARATE, folder=None):
        return self.engine.call("export/write", **files, plan=plan, device="cpu", memory=None, batch=None,
                                folder=str(folder or self.target))

    def test_a_preview_shows_the_files_that_are_written(self):
        document, plan = self.opened(KARATE)
        preview = {file["name"]: file["text"]
                   for file in self.engine.call("export/preview", document=document, plan=plan)["files"]}
        self.assertFalse(self.target.exists())
        record = self.write(plan)
        self.assertEqual({file.name for file in self.target.iterdir()}, set(preview))
        for name, text in preview.items():
            if name.startswith(("prologue", "stage_")) and name.endswith(".py"):
                self.assertEqual((self.target / name).read_text(), text)
        self.assertIn("class Stage1(nn.Module)", preview["stage_1.py"])
        self.assertEqual((record["stages"], record["strategy"], record["inputs"]), (2, "depth", ["x", "edge_index"]))
        self.assertEqual(record["verification"]["verdict"], "equal")

    def test_a_record_can_be_read_without_the_model(self):
        _, plan = self.opened(KARATE)
        written = self.write(plan)
        read = self.engine.call("export/read", folder=str(self.target))
        self.assertEqual(read, {name: written[name] for name in read})
        self.refused(-32003, "", self.engine.call, "export/read", folder=str(self.folder / "none"))

    def test_an_export_holds_until_the_model_changes(self):
        _, plan = self.opened(KARATE)
        self.write(plan)
        found = self.engine.call("export/check", **KARATE, folder=str(self.target))
        self.assertEqual((found["verification"]["verdict"], found["notes"]), ("equal", []))
        tensors = load_file(KARATE["data"][0])
        save_file({**tensors, "x": tensors["x"] * 2}, self.folder / "other.safetensors")
        other = {**KARATE, "data": [str(self.folder / "other.safetensors")]}
        found = self.engine.call("export/check", **other, folder=str(self.target))
        self.assertTrue(any("differ from the data of the export" in note for note in found["notes"]), found)
        module = torch.jit.load(KARATE["model"])
        with torch.no_grad():
            next(module.parameters()).mul_(1.5)
        module.save(str(self.folder / "changed.pt"))
        self.refused(-32003, "the model has changed", self.engine.call, "export/check", folder=str(self.target),
                     **{**KARATE, "model": str(self.folder / "changed.pt")})

    def test_what_cannot_be_written_has_a_sentence_and_leaves_nothing(self):
        _, plan = self.opened(KARATE)
        self.target.mkdir()
        self.refused(-32003, "exists already", self.write, plan)
        self.refused(-32602, "plan", self.write, None, folder=self.folder / "other")
        _, gat = self.opened(DIGITS["gat"])
        self.refused(-32003, "", self.write, gat, folder=self.folder / "other")
        self.assertFalse((self.folder / "other").exists())
        self.assertEqual(list(self.target.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
