"""What people get wrong is an exception of the package with a sentence and a hint, whichever function they call; what they leave out
or bring along is said."""
import itertools
import os
import unittest
from unittest import mock

import hopscope
import networkx
import numpy
import scipy.sparse
import torch
from hopscope import errors
from support import EDGES, FEATURES, NODES, Gcn, Hetero, PackageTest, Plain, edges, graph, made, shop
from torch import nn


def features():
    return torch.randn(NODES, FEATURES)


def index():
    return edges(NODES, NODES, EDGES)


def odd_data(folder):
    """Data that no model can use, by name."""
    damaged = {"short": b"abc", "list": b"\2\0\0\0\0\0\0\0[]", "entry": b"\x0b\0\0\0\0\0\0\0" + b'{"x":[1,2]}',
               "shape": b"\x3b\0\0\0\0\0\0\0" + b'{"x":{"dtype":"F32","shape":[-1,3],"data_offsets":[0,4]}}  '}
    for name, content in damaged.items():
        (folder / f"{name}.safetensors").write_bytes(content)
    (folder / "junk.npy").write_bytes(b"\x93NUMPY junk")
    (folder / "text.txt").write_text("no data")
    found = {name: folder / f"{name}.safetensors" for name in (*damaged, "missing")}
    found |= {"junk": [f"x={folder}/junk.npy"], "text": folder / "text.txt", "folder": folder / "nowhere", "number": 3,
              "nothing": None, "bytes": b"x", "generator": iter(()), "empty dict": {}, "empty list": [], "tuple of none": (None, None),
              "many": (features(), index(), None, 5, 6), "other keys": {1: features(), 2: index()}, "nx": networkx.path_graph(5),
              "scipy": scipy.sparse.eye(NODES)}
    x = {"a text": "abc", "objects": numpy.array([object()] * NODES), "texts": numpy.array(["a"] * NODES),
         "times": numpy.array(["2020-01-01"] * NODES, "M8[D]"), "records": numpy.zeros(NODES, [("a", "f4")]),
         "huge": [2 ** 70] * NODES, "none": None, "function": features, "set": {1, 2}, "meta": features().to("meta"),
         "csc": features().to_sparse_csc(), "nested": torch.nested.nested_tensor([features()[:3], features()[:5]]),
         "quantized": torch.quantize_per_tensor(features(), 0.1, 0, torch.qint8), "float8": features().to(torch.float8_e4m3fn),
         "wide": torch.randn(NODES, FEATURES + 1), "no rows": torch.tensor(3.0), "dict": {"a": features()},
         "ragged": [[1, 2], [3]]}
    found |= {f"x: {name}": {"x": value, "edge_index": index()} for name, value in x.items()}
    ends = {"floats": index().float(), "one row": index()[0], "three rows": torch.randint(0, NODES, (3, EDGES)),
            "beyond": index() + 10 * NODES, "ragged": [[0, 1], [1, 2, 3]], "text": "edges", "far": torch.full((2, 3), 2 ** 62)}
    return found | {f"edges: {name}": {"x": features(), "edge_index": value} for name, value in ends.items()}


class Raises(nn.Module):
    def forward(self, x, edge_index):
        raise KeyError("boom")


class Ends(nn.Module):
    def forward(self, x, edge_index):
        raise SystemExit(3)


class Text(nn.Module):
    def forward(self, x, edge_index):
        return "text"


class NoForward(nn.Module):
    """As PyG's autoencoders were."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(FEATURES, 3)

    def encode(self, x, edge_index):
        return self.linear(x)

    def decode(self, z, edge_index):
        return (z[edge_index[0]] * z[edge_index[1]]).sum(1)


def odd_models():
    return {"none": None, "number": 3, "missing": "no.pt", "class": Gcn, "function": lambda x, edge_index: x, "weights": made(Gcn).state_dict(),
            "raises": Raises(), "ends": Ends(), "text": Text(), "no forward": NoForward(),
            "lazy": nn.LazyLinear(3), "meta": made(Plain).to("meta")}


class Odd(PackageTest):
    def refused(self, function, *given, **options):
        with self.assertRaises(hopscope.HopscopeError) as caught:
            function(*given, **options)
        problem = caught.exception
        self.assertTrue(problem.message, problem)
        self.assertTrue(problem.hint, problem)
        self.assertNotRegex(problem.hint, "please report", problem)  # that is for what nobody foresaw
        return problem

    def test_odd_data_are_refused_by_each_function(self):
        functions = {"save": lambda model, data: hopscope.save(model, data, self.scratch / "a.pt"),
                     "inference": lambda model, data: hopscope.inference(model, data, scratch=self.scratch),
                     "inspect": lambda model, data: hopscope.inspect(model, data, scratch=self.scratch)}
        for (name, data), (which, function) in itertools.product(odd_data(self.folder).items(), functions.items()):
            if which == "save" or not isinstance(data, dict) or name.startswith("x: "):
                with self.subTest(data=name, function=which):
                    self.refused(function, made(Gcn), data)

    def test_odd_models_are_refused_by_each_function(self):
        data = {"x": features(), "edge_index": index()}
        functions = {"save": lambda model: hopscope.save(model, data, self.scratch / "a.pt"),
                     "inference": lambda model: hopscope.inference(model, data, scratch=self.scratch),
                     "plan": lambda model: hopscope.plan(model, data, scratch=self.scratch)}
        for (name, model), (which, function) in itertools.product(odd_models().items(), functions.items()):
            with self.subTest(model=name, function=which):
                self.refused(function, model)

    def test_odd_options_are_refused(self):
        model, data = hopscope.save(made(Plain), graph(), self.folder / "plain.pt"), graph()
        odd = {"device": ["abacus", 3, ""], "memory": ["lots", -1, [], 1.5], "batch": [0, -1, "many", 2 ** 70], "verify": ["most", 3, []],
               "strategy": ["best", 3], "objective": ["beauty"], "stages": [0, -1, "two"], "deadline": [-1, "soon"],
               "pins": [["x"], [3], 3, [["checkpoint"]], [["checkpoint", object()]]], "roles": [3, "x", ["x"], {"x": 3}, {3: "node"}, {"x": "sheep"},
               {"edge_index": "index:a"}, [("x", "node")]], "nan": ["maybe", 3], "fuse": ["warp"], "reorder": ["random"],
               "store": ["int8", torch.int8], "plan": [3, "missing.json", {}, {"format": object()}], "scratch": ["/proc/nowhere", 3],
               "out": ["/proc/nowhere/out", 3], "cache": ["/proc/nowhere/cache", 3]}
        for name, values in odd.items():
            for value in values:
                with self.subTest(option=name, value=value):
                    self.refused(hopscope.inference, model, data, **{"scratch": self.scratch, name: value})

    def test_odd_places_for_a_model_are_refused(self):
        for path in (3, None, "", "a\0b", self.folder / "nowhere" / "a.pt", self.folder):
            with self.subTest(path=path):
                self.refused(hopscope.save, made(Plain), graph(), path)
        plan = hopscope.plan(made(Plain), graph(), scratch=self.scratch)
        for path in (3, self.folder / "nowhere" / "plan.json", self.folder):
            self.refused(plan.save, path)
        self.refused(hopscope.load, 3)
        self.refused(hopscope.load, self.folder)

    def test_what_nobody_foresaw_is_an_exception_of_the_package_too(self):
        with mock.patch("hopscope.saving._quiet", side_effect=KeyError("inside")), self.assertRaises(hopscope.UsageError) as caught:
            hopscope.save(made(Plain), graph(), self.scratch / "a.pt")
        self.assertIn("KeyError: 'inside'", caught.exception.message)
        self.assertIn("help(hopscope.save)", caught.exception.hint)
        self.assertIn(os.sep, caught.exception.where)
        self.assertIsInstance(caught.exception.__cause__, KeyError)

    def test_what_a_function_of_the_caller_raises_stays_what_it_is(self):
        class Own(Exception):
            pass

        def stop(_what, _done, _total):
            raise Own

        for function in (hopscope.inference, lambda *given, **options: hopscope.run(*given, self.folder / "out", **options)):
            self.assertRaises(Own, function, made(Plain), graph(), scratch=self.scratch, progress=stop)
        self.assertRaises(TypeError, hopscope.inference, made(Plain), graph(), colour="red")
        self.assertRaises(TypeError, hopscope.run, made(Plain), graph(), self.folder / "out", colour="red")
        self.assertRaises(TypeError, hopscope.inference)

    def test_every_function_has_a_door(self):
        functions = [getattr(hopscope, name) for name in ("inference", "run", "save", "plan", "inspect", "verify", "devices", "export", "load", "open")]
        functions += [getattr(hopscope.debug, name) for name in ("compare", "non_finite", "breakpoints", "watch", "tensor", "memory")]
        code = errors.door(len).__code__
        for function in functions:
            self.assertIs(function.__code__, code, function.__name__)


class Said(PackageTest):
    """What is done with what people bring."""

    def notes(self, model, data, **options):
        return hopscope.inference(model, data, scratch=self.scratch, verify="none", **options).notes

    def ignored(self, name):
        return f"'{name}' is not an argument of the model: ignored"

    def test_each_key_that_forward_does_not_take_is_named(self):
        data = {"x": features(), "edge_index": index(), "edge_wieght": torch.rand(EDGES), "y": torch.zeros(NODES), "left": None}
        files = {name: value.numpy() for name, value in data.items() if value is not None}
        for name, array in files.items():
            numpy.save(self.folder / f"{name}.npy", array)
        saved = hopscope.save(made(Gcn), data, self.folder / "gcn.pt")
        for model, given in ((made(Gcn), data), (saved, data), (saved.path, data), (made(Gcn), self.folder / "x.npy")):
            if not isinstance(given, dict):
                given = [f"{name}={self.folder / name}.npy" for name in files]
            notes = self.notes(model, given)
            for name in ("edge_wieght", "y"):
                self.assertEqual(notes.count(self.ignored(name)), 1, notes)
            self.assertFalse(any("'x'" in note or "'left'" in note for note in notes), notes)

    def test_every_function_names_them(self):
        """One that takes a model and data, whether the package or the engine drops the key."""
        data = {"x": features(), "edge_index": index(), "edge_wieght": torch.rand(EDGES)}
        saved = hopscope.save(made(Gcn), data, self.folder / "gcn.pt")
        for number, model in enumerate((made(Gcn), saved, saved.path)):
            out = self.folder / f"exported{number}"
            for done in (hopscope.inspect(model, data), hopscope.plan(model, data), hopscope.verify(model, data),
                         hopscope.export(model, data, out)):
                self.assertEqual(done.notes.count(self.ignored("edge_wieght")), 1, (done, done.notes))

    def test_what_of_a_container_is_not_read_is_named(self):
        data = graph()
        data.extra = torch.ones(3)

        class Takes(Plain):
            def forward(self, data):
                return super().forward(data.x, data.edge_index)

        for model in (made(Takes), made(Gcn)):
            notes = self.notes(model, data)
            for name in ("extra", "y"):
                self.assertEqual(notes.count(self.ignored(name)), 1, notes)
        typed = shop()
        typed["user"].age = torch.ones(len(typed["user"].x))
        self.assertIn(self.ignored("age_dict"), self.notes(made(Hetero), typed))

    def test_a_compiled_or_parallel_module_is_taken_without_that(self):
        model, data = made(Plain), graph()
        wanted = model(data.x, data.edge_index)
        for around, name in ((torch.compile(model), "torch.compile"), (nn.DataParallel(model), "DataParallel"),
                             (torch.compile(nn.DataParallel(model)), "DataParallel")):
            for given in (data, (data.x, data.edge_index)):
                result = hopscope.inference(around, given, scratch=self.scratch, verify="full")
                self.same(result.output, wanted)
                self.assertTrue(any(note.startswith(f"{name} is left out") for note in result.notes), result.notes)

    def test_training_mode_is_said_and_kept(self):
        model = made(Gcn)
        self.assertFalse(any("training mode" in note for note in self.notes(model.eval(), graph())))
        notes = self.notes(model.train(), graph())
        self.assertTrue(any("training mode" in note for note in notes), notes)
        self.assertTrue(all(module.training for module in model.modules()))

    def test_the_methods_of_a_module_without_forward_are_named(self):
        with self.assertRaises(hopscope.Refused) as caught:
            hopscope.inference(NoForward(), graph(), scratch=self.scratch)
        self.assertEqual(caught.exception.message, "NoForward has no forward; its methods are encode, decode")
        self.assertIn("self.model.encode(x, edge_index)", caught.exception.hint)

    def test_results_that_are_not_finite_are_told_without_verification_too(self):
        model, data = made(Gcn), graph()
        data.x[3, 2] = torch.inf
        result = hopscope.inference(model, data, scratch=self.scratch, verify="none")
        lost = result.report.not_finite
        self.assertEqual(lost.outputs, {"out": int((~result.output.isfinite()).sum())})
        self.assertEqual((lost.given, lost.first), (["x"], None))
        self.assertIn("x holds such numbers from the start", repr(result.report))
        self.assertIsNone(hopscope.inference(model, graph(), scratch=self.scratch, verify="none").report.not_finite)


if __name__ == "__main__":
    unittest.main()
