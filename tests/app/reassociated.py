"""What the tests of --reassociate share."""
import numpy
import torch
from safetensors.torch import save_file

from engine_commands import EngineTest


class ReassociatedTest(EngineTest):
    def files(self, module, data, script=False, name="model"):
        with torch.no_grad():
            made = torch.jit.script(module) if script else torch.jit.trace(module, tuple(data.values()), check_trace=False)
        made.save(str(self.folder / f"{name}.pt"))
        save_file(data, str(self.folder / f"{name}.safetensors"))
        return [str(self.folder / f"{name}.pt"), "--data", str(self.folder / f"{name}.safetensors"), "--device", "cpu"]

    def ran(self, words, *more, out="out"):
        report = self.document("run", *words, "-o", self.folder / out, *more)
        self.valid("report", report)
        return report, numpy.load(self.folder / out / "out.npy")
