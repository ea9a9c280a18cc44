"""What the tests of `hopscope-engine serve` share. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import os
import unittest
from pathlib import Path

import torch
from safetensors.torch import save_file

import engine_models as models
from engine_process import own_folder
from serve_client import Client, Refused

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
SAMPLES = ROOT / "samples"
KARATE = {"model": str(SAMPLES / "karate/gcn.pt"), "data": [str(SAMPLES / "karate/graph.safetensors")], "roles": []}
DIGITS = {name: {"model": str(SAMPLES / f"digits/{name}.pt"), "data": [str(SAMPLES / "digits/graph.safetensors")],
                 "roles": []} for name in ("gcn", "gat", "sage", "jknet", "residual")}


class ServeTest(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)
        torch.manual_seed(1)
        (self.folder / "tmp").mkdir()

    def client(self, initialize=True):
        client = Client(initialize, env={**os.environ, "TMPDIR": str(self.folder / "tmp")})
        self.addCleanup(client.stop)
        return client

    def opened(self, given=KARATE, **more):
        """A client, and the document that it has opened."""
        client = self.client()
        return client, client.call("model/open", **given, **more)["document"]

    def planned(self, given=KARATE, **more):
        """A client, a document and a plan."""
        client, document = self.opened(given, **more)
        return client, document, self.plan(client, document)["plan"]

    def refused(self, code, says, call, *arguments, **parameters):
        with self.assertRaises(Refused) as caught:
            call(*arguments, **parameters)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertIn(says, caught.exception.error["message"])
        data = caught.exception.error["data"]
        self.assertEqual(data["message"], caught.exception.error["message"])
        self.assertEqual(set(data), {"code", "exit_code", "message", "hint", "where"})
        return caught.exception.error

    def plan(self, client, document, pins=(), strategy="depth", batch=None, memory=None, objective=None):
        return client.call("plan/make", document=document, strategy=strategy, pins=list(pins), device="cpu",
                           memory=memory, batch=batch, objective=objective)

    def start(self, client, document, plan, output=None, verify="none", batch=None, paused=False, **more):
        return client.call("run/start", document=document, plan=plan, device="cpu", memory=None, batch=batch,
                           output=None if output is None else str(output), verify=verify, nan="propagate",
                           paused=paused, **more)

    def leavings(self):
        return sorted(path.name for path in (self.folder / "tmp").iterdir())

    def large(self, nodes=4000, edges=40000):
        """A model and graph that take a while in batches of one."""
        x, edge_index = models.graph(nodes, edges, 8)
        models.save(models.Sage(8, 8, 4), (x, edge_index), self.folder / "model.pt")
        save_file({"x": x, "edge_index": edge_index}, str(self.folder / "graph.safetensors"))
        return {"model": str(self.folder / "model.pt"), "data": [str(self.folder / "graph.safetensors")], "roles": []}
