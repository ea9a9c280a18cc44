"""Every limit of the device's memory is kept, or refused with one that is enough: for limits from half of the smallest peak that
any strategy and batch has to four times as much, on the command line and by the window's request. The number in a refusal is
at most 1.5 times that peak. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository, HOPSCOPE_ZOO generated models,
HOPSCOPE_CORA a folder with trained ones or nothing; HOPSCOPE_TIER=full takes all of them."""
import itertools
import json
import os
import re
import unittest
import zlib
from pathlib import Path

from engine_process import ENGINE, own_folder, run
from serve_client import Client, Refused
from strategies import RULES
from tiers import FULL

SAMPLES = Path(os.environ["HOPSCOPE_ROOT"]) / "samples"
ZOO, CORA = Path(os.environ["HOPSCOPE_ZOO"]), os.environ.get("HOPSCOPE_CORA")
FACTORS = (0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4) if FULL else (0.5, 1, 2)
MOST = 1.5  # times the smallest peak, in a refusal
ZOO_MODELS = 60 if FULL else 1


def samples():
    for name in ("gat", "gcn", "jknet", "residual", "sage") if FULL else ("gat",):
        yield name, SAMPLES / f"digits/{name}.pt", SAMPLES / "digits/graph.safetensors"
    if FULL:
        yield "karate", SAMPLES / "karate/gcn.pt", SAMPLES / "karate/graph.safetensors"


def cora():
    if CORA:
        models = sorted((Path(CORA) / "cora_models").glob("*.pt"))
        for model in models if FULL else [path for path in models if path.stem == "gat_t"]:
            yield f"cora {model.stem}", model, Path(CORA) / "cora.safetensors"


def zoo(count=ZOO_MODELS):
    """Those of the generated models that need no roles, in an order that their names decide."""
    found = []
    for listed in sorted(ZOO.glob("*.list")):
        for line in listed.read_text().splitlines():
            case = dict(word.split("=", 1) for word in line.split("\t"))
            if case["expect"] == "ok" and not any(key.startswith("role") for key in case):
                found.append((case["name"], Path(case["model"]), Path(case["data0"])))
    found.sort(key=lambda case: zlib.crc32(case[0].encode()))
    return found[:count]


class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)

    def result(self, model, data, **options):
        """The peak, or the sentence of the refusal and its limit."""
        words = [ENGINE, "run", model, "--data", data, "-o", self.folder / "out", "--verify", "none", "--device", "cpu",
                 "--json", *itertools.chain(*((f"--{name}", value) for name, value in options.items()))]
        done = run(list(map(str, words)), capture_output=True, text=True, timeout=120)
        document = json.loads(done.stdout)
        if done.returncode == 0:
            return max(stage["peak_memory"] for stage in document["stages"]), None
        self.assertEqual(done.returncode, 6, done.stdout)
        return document["error"]["message"], self.named(document["error"]["hint"])

    def named(self, hint):
        found = re.search(r"--memory (\d+)$", hint)
        self.assertIsNotNone(found, hint)
        return int(found[1])

    def smallest(self, model, data):
        return min(self.result(model, data, strategy=strategy, batch=batch)[0]
                   for strategy in ("optimal", *RULES) for batch in ("auto", 64, 1))

    def keep(self, smallest, limit, outcome, again):
        """`again`: the outcome with another limit."""
        peak, named = outcome
        if named is not None:
            self.assertLessEqual(named, MOST * smallest, peak)
            self.assertGreater(named, limit, peak)
            limit, (peak, refused) = named, again(named)
            self.assertIsNone(refused, peak)
        self.assertLessEqual(peak, limit)

    def hold(self, name, model, data):
        smallest = self.smallest(model, data)
        for factor, batch in itertools.product(FACTORS, ("auto", 64)):
            limit = max(int(factor * smallest), 1)
            with self.subTest(model=name, smallest=smallest, limit=limit, batch=batch):
                self.keep(smallest, limit, self.result(model, data, memory=limit, batch=batch),
                          lambda other, size=batch: self.result(model, data, memory=other, batch=size))

    def test_a_limit_is_kept_or_refused_with_one_that_is_enough(self):
        for name, model, data in itertools.chain(samples(), cora(), zoo()):
            self.hold(name, model, data)


class Served(Limits):
    """The same by the window's requests."""

    def result(self, model, data, memory=None, batch=None, strategy="optimal"):
        asked = {"document": self.document, "device": "cpu", "memory": memory, "batch": None if batch == "auto" else batch}
        try:
            plan = self.client.call("plan/make", strategy=strategy, objective="time", pins=[], **asked)["plan"]
            started = self.client.call("run/start", plan=plan, output=None, verify="none", nan="propagate", paused=False,
                                       **asked)
        except Refused as refusal:
            data = refusal.error["data"]
            self.assertEqual(data["exit_code"], 6, refusal.error)
            return data["message"], self.named(data["hint"])
        finished = self.client.finished(started["run"])
        self.assertIn("report", finished, finished)
        return max(stage["peak_memory"] for stage in finished["report"]["stages"]), None

    def test_a_limit_is_kept_or_refused_with_one_that_is_enough(self):
        self.client = Client()
        self.addCleanup(self.client.stop)
        for name, model, data in itertools.chain(samples(), cora() if FULL else ()):
            self.document = self.client.call("model/open", model=str(model), data=[str(data)], roles=[])["document"]
            self.hold(name, model, data)


if __name__ == "__main__":
    unittest.main(verbosity=2)
