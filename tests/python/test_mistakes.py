"""Mistakes of newcomers: each has one sentence, and a hint that works when it is followed."""
import unittest

import hopscope
import torch
from hopscope._keywords import in_python
from support import FEATURES, Gcn, PackageTest, Plain, graph, made


class Mistakes(PackageTest):
    def mistake(self, kind, sentence, hint, model, data, **options):
        with self.assertRaises(kind) as caught:
            hopscope.inference(model, data, scratch=self.scratch, **options)
        problem = caught.exception
        self.assertIn(sentence, problem.message)
        self.assertNotIn("\n", problem.message)
        self.assertIn(hint, problem.hint)
        return problem

    def works(self, model, data, **options):
        self.assertEqual(hopscope.inference(model, data, scratch=self.scratch, **options).verdict, "equal")

    def changed(self, **changes):
        data = graph()
        for name, value in changes.items():
            data[name] = value
        return data

    def test_features(self):
        model, data = made(Gcn), graph()
        self.mistake(hopscope.Refused, "have the same dtype", "convert the inputs, for instance with data.x.float()", model,
                     self.changed(x=data.x.half()))
        self.works(model, self.changed(x=data.x.half().float()))
        self.mistake(hopscope.Refused, "forward fails on the data", f"a layer takes {FEATURES} features and gets 3: check the number of "
                     "columns", model, self.changed(x=data.x[:, :3]))
        self.mistake(hopscope.InputError, "forward needs 'x', and the data has edge_index",
                     "pass a dict with all arguments: {'x': ..., ...}", model, {"edge_index": data.edge_index})
        self.works(model, {"x": data.x, "edge_index": data.edge_index})

    def test_models(self):
        model, data = made(Plain), graph()
        self.mistake(hopscope.InputError, "expected a torch.nn.Module, got an object of type OrderedDict",
                     "build the model, and call its load_state_dict", model.state_dict(), data)
        other = Plain().eval()
        other.load_state_dict(model.state_dict())
        self.works(other, data)
        self.mistake(hopscope.InputError, "expected a model, got the class Plain", "make one: Plain(...)", Plain, data)
        self.mistake(hopscope.InputError, "the data is a model", "the order of the arguments is model, data", model, model)
        self.mistake(hopscope.InputError, "data of type int is not a known kind of graph", "pass PyG's Data", model, 3)
        self.works(model.train(), data)
        self.assertTrue(model.training)

    def test_files(self):
        model, data = made(Plain), graph()
        nowhere, torn = self.folder / "nowhere.safetensors", self.folder / "torn.safetensors"
        torn.write_bytes(b"{}")
        self.mistake(hopscope.InputError, f"cannot read {nowhere}: No such file or directory", "check the path", model, nowhere)
        self.mistake(hopscope.InputError, f"{torn}: is not a .safetensors file, or is truncated", "write it again", model, torn)
        self.mistake(hopscope.InputError, f"cannot read {self.folder / 'model.pt'}: No such file", "check the path",
                     self.folder / "model.pt", data)
        torch.save(data, self.folder / "data.pt")
        self.mistake(hopscope.InputError, "data.pt is neither a .safetensors file nor a folder", "load it in Python", model,
                     self.folder / "data.pt")
        self.works(model, torch.load(self.folder / "data.pt", weights_only=False))
        weights = self.folder / "weights.pt"
        torch.save(model.state_dict(), weights)
        self.mistake(hopscope.InputError, "was saved by torch.save (a state dict or a pickled module)",
                     'save it with hopscope.save(model, data, "model.pt")', weights, data)
        hopscope.save(model, data, self.folder / "model.pt")
        self.works(self.folder / "model.pt", data)

    def test_options(self):
        model, data = made(Plain), graph()
        for says, options in ((": got an unexpected keyword argument 'memry'; did you mean 'memory'?", {"memry": 1}),
                              (": got an unexpected keyword argument 'batch_size'; did you mean 'batch'?", {"batch_size": 9}),
                              (": got an unexpected keyword argument 'quux'$", {"quux": 1})):
            self.assertRaisesRegex(TypeError, says.replace("?", "[?]"), hopscope.inference, model, data, **options)
        problem = self.mistake(hopscope.ResourceError, "does not fit into the limit of 1000 B", "raise it to memory=", model, data,
                               memory="1KB")
        self.works(model, data, memory=int(problem.hint.rpartition("=")[2]))
        self.works(model, data, memory="4 GB")

    def test_hints_name_keyword_arguments(self):
        for hint, expected in (("raise it to --memory 4096", "raise it to memory=4096"), ("raise --host-memory", "raise host_memory"),
                               ("leave --store out, or use --device cpu", 'leave store out, or use device="cpu"'),
                               ("pass --reassociate, or", "pass reassociate=True, or"), ("--verify none skips", 'verify="none" skips'),
                               ("use --role x=index:S>T", 'use roles=["x=index:S>T"]'), ("the same --role, or", "the same roles, or"),
                               ("--shard 1/1 finishes the run", "--shard 1/1 finishes the run"), ("(--stages 3)", "(stages=3)")):
            self.assertEqual(in_python(hint), expected)


if __name__ == "__main__":
    unittest.main()
