"""Devices as a user meets them: the list, what is said where a GPU cannot be used, plans and models that name a device of
another machine. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository, HOPSCOPE_STAND_IN the folder of a driver's
library without a driver (tests/gpu)."""
import json
import os
import re
import unittest
import zipfile

import numpy
import torch
from safetensors.torch import save_file
from torch import nn

import engine_models as models
from engine_process import ENGINE, own_folder, run
from serve_case import KARATE, ServeTest

# A driver that serves CUDA 1.0 is too old for every LibTorch that has CUDA; the others say that they have none.
OLD_DRIVER = {"LD_LIBRARY_PATH": os.environ["HOPSCOPE_STAND_IN"], "STAND_IN_GPUS": "NVIDIA H100;85899345920;9;0",
              "STAND_IN_CUDA": "1000"}
ELSEWHERE = "cuda:99"


class OnAGpu(nn.Module):
    """Makes tensors on the device of its input, as models do; traced on a GPU that is a constant."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 4)

    def forward(self, x, edge_index):
        here = torch.device("cpu")
        ones = torch.ones(edge_index.size(1), device=here)
        degree = torch.zeros(x.size(0), device=here).index_add(0, edge_index[1], ones).to(here)
        h = torch.zeros_like(x, device=here).index_add(0, edge_index[1], x[edge_index[0]])
        loops = torch.arange(x.size(0), device=here)
        mean = h / degree.clamp(min=1).unsqueeze(1) + torch.full((x.size(0), 1), 0.5, device=here)
        return self.lin(mean) + x[loops][:, :4]


def name_another_device(path):
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in records.items():
            if not name.endswith(".debug_pkl"):
                archive.writestr(name, content.replace(b'torch.device("cpu")', b'torch.device("cuda:0")')
                                 if name.endswith(".py") else content)


class Devices(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)

    def engine(self, *words, code=0, **environment):
        done = run([ENGINE, *map(str, words)], capture_output=True, text=True, timeout=300, check=False,
                   env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def listed(self, **environment):
        return json.loads(self.engine("devices", "--json", **environment).stdout)

    def test_the_cpu_is_listed_first_with_its_memory(self):
        first = self.listed()["devices"][0]
        self.assertEqual((first["id"], first["driver"]), ("cpu", ""))
        self.assertGreater(first["memory"], 1 << 28)
        printed = self.engine("devices").stdout
        self.assertRegex(printed, r"^cpu +\S")
        self.assertIn(first["name"], printed)

    def test_a_gpu_that_cannot_be_used_is_named_with_the_reason_wherever_it_is_asked_for(self):
        found = self.listed(**OLD_DRIVER)
        self.assertEqual([device["id"] for device in found["devices"]], ["cpu"])
        self.assertEqual(len(found["missing"]), 1)
        self.assertRegex(found["missing"][0], "without CUDA|too old")
        self.assertIn(found["missing"][0], self.engine("devices", **OLD_DRIVER).stdout)
        model, data = KARATE["model"], KARATE["data"][0]
        for command in (("plan", model, "--data", data), ("run", model, "--data", data, "-o", self.folder / "out"),
                        ("verify", model, "--data", data), ("bench", "machine")):
            refused = self.engine(*command, "--device", "cuda", code=2, **OLD_DRIVER)
            self.assertIn("no GPU can be used: " + found["missing"][0], refused.stderr)
        self.engine("run", model, "--data", data, "-o", self.folder / "auto", "--device", "auto", **OLD_DRIVER)

    def test_a_device_that_is_not_there_and_a_word_that_is_none_are_told_apart(self):
        model, data = KARATE["model"], KARATE["data"][0]
        for device, words in ((ELSEWHERE, f"there is no GPU {ELSEWHERE} here|no GPU can be used"),
                              ("abacus", "unknown device abacus"), ("cuda:x", "unknown device cuda:x")):
            refused = self.engine("plan", model, "--data", data, "--device", device, code=2)
            self.assertRegex(refused.stderr, words)

    def plan_from_elsewhere(self, asked):
        file = self.folder / "plan.json"
        self.engine("plan", *asked, "--device", "cpu", "-o", file)
        plan = json.loads(file.read_text())
        self.assertEqual(plan["device"], "cpu")
        file.write_text(json.dumps({**plan, "device": ELSEWHERE}))
        return file

    def test_a_plan_for_a_device_that_is_not_here_runs_and_says_so(self):
        asked = (KARATE["model"], "--data", KARATE["data"][0])
        file = self.plan_from_elsewhere(asked)
        sentence = re.compile(f"note: the plan was made for {ELSEWHERE}, but .*; it runs on (cpu|cuda:0)")
        ran = self.engine("run", *asked, "--plan", file, "-o", self.folder / "out", "--verify", "full")
        self.assertRegex(ran.stderr, sentence)
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual(report["device"], sentence.search(ran.stderr)[1])
        self.assertEqual(report["verify"]["verdict"], "equal")
        self.assertRegex(self.engine("verify", *asked, "--plan", file).stderr, sentence)
        self.assertNotRegex(self.engine("verify", *asked, "--plan", file, "--device", "cpu").stderr, sentence)
        for command in (("run", "-o", self.folder / "no"), ("verify",)):
            refused = self.engine(command[0], *asked, "--plan", file, "--device", ELSEWHERE, *command[1:], code=2)
            self.assertIn("error: ", refused.stderr)

    def test_a_model_that_was_traced_on_a_gpu_is_the_same_without_one(self):
        torch.manual_seed(3)
        x, edge_index = models.graph(60, 240, 6)
        model = OnAGpu().eval()
        with torch.no_grad():
            expected = model(x, edge_index)
        models.save(model, (x, edge_index), self.folder / "model.pt")
        name_another_device(self.folder / "model.pt")
        save_file({"x": x, "edge_index": edge_index}, str(self.folder / "graph.safetensors"))
        asked = (self.folder / "model.pt", "--data", self.folder / "graph.safetensors")
        looked = json.loads(self.engine("inspect", *asked, "--json").stdout)
        said = [lint["message"] for lint in looked["lints"] if lint["code"] == "baked-device"]
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r"cuda:0 in \d+ places")
        self.assertEqual(looked["depth"], 1)
        self.engine("plan", *asked, "--device", "cpu")
        self.assertIn("equal", self.engine("verify", *asked, "--device", "cpu", "--verify", "full").stdout)
        self.engine("run", *asked, "--device", "cpu", "--verify", "full", "-o", self.folder / "out")
        numpy.testing.assert_allclose(numpy.load(self.folder / "out/out.npy"), expected.numpy(), atol=1e-5)


class Served(ServeTest):
    def test_the_greeting_names_devices_and_what_is_missing(self):
        os.environ.update(OLD_DRIVER)
        for name in OLD_DRIVER:
            self.addCleanup(os.environ.pop, name)
        greeting = self.client().greeting
        self.assertEqual([device["id"] for device in greeting["devices"]], ["cpu"])
        self.assertRegex(greeting["missing"][0], "without CUDA|too old")

    def test_a_plan_for_a_device_that_is_not_here_is_loaded_and_run_with_a_note(self):
        client, document = self.opened()
        plan = {**self.plan(client, document)["plan"], "device": ELSEWHERE}
        loaded = client.call("plan/load", document=document, text=json.dumps(plan))
        self.assertRegex(loaded["notes"][0], f"made for {ELSEWHERE}, but .*; it runs on ")
        self.assertNotEqual(loaded["plan"]["device"], ELSEWHERE)
        started = client.call("run/start", document=document, plan=plan, device=None, memory=None, batch=None, output=None,
                              verify="none", nan="propagate", paused=False)
        report = client.finished(started["run"])["report"]
        self.assertEqual(report["device"], loaded["plan"]["device"])
        notes = [event["message"] for event in client.events(started["run"]) if event["type"] == "note"]
        self.assertEqual([note for note in notes if ELSEWHERE in note], loaded["notes"][:1])
        self.refused(-32002, "there is no GPU cuda:99 here", client.call, "run/start", document=document, plan=plan,
                     device=ELSEWHERE, memory=None, batch=None, output=None, verify="none", nan="propagate", paused=False)


if __name__ == "__main__":
    unittest.main()
