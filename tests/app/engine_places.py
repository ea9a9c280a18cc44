"""Each operator of the table gets numbers that are no places: rows and sizes that lie 2^40 further than any memory. It refuses
them, or does without them; it never reads or writes there, which would end the process of the model. HOPSCOPE_OPERATORS names
the program that lists the table."""
import itertools
import json
import os
import re
import subprocess
import unittest

import torch
from safetensors.torch import save_file

import hostile_models as hostile
from engine_process import always_the_program
from serve_case import ServeTest
from serve_client import Refused
from tiers import one_in, sized

always_the_program()
FAR = 1 << 40
TENSORS = {"F": "h", "I": f"torch.tensor([0, {FAR}, -{FAR}, 3, 2])", "R": f"torch.tensor([[0, {FAR}, 1, -{FAR}]] * 3)",
           "N": "None"}
SAYS = r"[^n] out of (range|bounds|DATA)|places|descend|must not be negative"  # of refusals that have looked at the numbers
WORDS = {"int": "1", "SymInt": "1", "float": "1.0", "number": "1", "Scalar": "1", "bool": "False", "str": "'sum'",
         "Device": "None", "List[int]": "[1]", "List[SymInt]": "[1]", "List[float]": "[1.0]", "List[bool]": "[False]"}
FAR_WORDS = {"int": str(FAR), "SymInt": str(FAR), "number": str(FAR), "Scalar": str(FAR), "List[int]": f"[{FAR}]",
             "List[SymInt]": f"[{FAR}]"}
PLACES = "index|gather|scatter|embedding|segment|take|convert|one_hot|bincount"  # in names of operators that are always tried
MOST = 20  # calls of a schema


def words_of(argument, tensor, far):
    """The argument in TorchScript; nothing where no call has it."""
    kind = str(argument.type).replace("Optional[", "").removesuffix("]") if "Optional[" in str(argument.type) else str(argument.type)
    if kind == "Tensor":
        return TENSORS[tensor]
    if kind in ("List[Tensor]", "List[Optional[Tensor]]", "List[Optional[Tensor"):
        return f"[{TENSORS[tensor]}]"
    if far and kind in FAR_WORDS:
        return FAR_WORDS[kind]
    if argument.has_default_value():
        return None
    return WORDS.get(kind, "None")


def calls_of(schema):
    """Calls in which at least one argument has numbers that are no places."""
    arguments = [one for one in schema.arguments if not one.is_out]
    tensors = [one for one in arguments if "Tensor" in str(one.type)]
    kinds = ["FIRN" if "Optional" in str(one.type) else "FIR" for one in tensors[:3]]
    made = []
    for chosen, far in itertools.product(itertools.product(*kinds), (False, True)):
        if far or set(chosen) & {"I", "R"}:
            by_name = dict(zip((one.name for one in tensors), itertools.chain(chosen, itertools.repeat("F"))))
            given = [(one, words_of(one, by_name.get(one.name, "F"), far)) for one in arguments]
            words = [text if not one.kwarg_only else f"{one.name}={text}" for one, text in given if text is not None]
            likely = far + 2 * (chosen[:1] != ("F",))  # calls with numbers of nodes first come first
            made.append((likely, f"torch.ops.{schema.name.replace('::', '.')}({', '.join(words)})"))
    return list(dict.fromkeys(call for _, call in sorted(made, key=lambda one: one[0])))[:MOST]


class Places(ServeTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "graph.safetensors"
        save_file({"x": torch.rand(30, 4), "edge_index": torch.randint(0, 30, (2, 90))}, str(self.data))
        self.asked = self.answered = self.looked = 0

    def schemas(self):
        listed = subprocess.run([os.environ["HOPSCOPE_OPERATORS"]], capture_output=True, text=True, check=True).stdout.split()
        names = set(one_in(20, listed)) | {name for name in listed if re.search(PLACES, name)}
        return [schema for schema in torch._C._jit_get_all_schemas() if schema.name in names]

    def test_numbers_that_are_no_places_reach_nothing(self):
        client, model = self.client(), self.folder / "model.pt"
        for schema in self.schemas():
            for call in calls_of(schema):
                try:
                    hostile.written(f"print({call})").save(str(model))
                except RuntimeError:
                    continue  # TorchScript has no such call
                self.asked += 1
                with self.subTest(call=call):
                    self.open(client, model)
        self.assertGreater(self.asked, sized(100, 2000))
        self.assertGreater(self.answered, 0)
        self.assertGreater(self.looked, 80)

    def test_repeats_that_cancel_each_other_reach_nothing(self):
        client, model = self.client(), self.folder / "model.pt"
        for rows in ("", "torch.arange(2), "):
            hostile.written(f"print(torch.repeat_interleave({rows}torch.tensor([{FAR}, {5 - FAR}]), output_size=5))").save(str(model))
            self.open(client, model)
        self.assertEqual(self.looked, 2)

    def open(self, client, model):
        try:
            opened = client.call("model/open", model=str(model), data=[str(self.data)], roles=[], trusted=True)
        except Refused as refused:
            self.assertIn(refused.code, (-32003, -32004, -32006), refused)
            return
        self.looked += bool(re.search(SAYS, json.dumps(opened["inspect"]["lints"])))
        self.answered += 1
        client.call("model/close", document=opened["document"])


if __name__ == "__main__":
    unittest.main()
