"""Files whose code would run while they are read, or whose operators would reach beyond memory: refused in words, by every
command and by serve, before they have done anything. The models are made here, when the test runs."""
import subprocess
import unittest
import zipfile
from typing import List, Tuple

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from engine_process import ENGINE, run
from patience import SOON
from serve_case import ServeTest
from serve_client import Client
from tiers import FULL, sized

MOST = 1600  # MiB: a GiB for forward, and LibTorch itself
COMMANDS = ("inspect", "plan", "run", "verify", "export", "receptive-field", "debug --nan")
MARK = "OWNED"


class WritesWhenRead(nn.Module):
    """Maps a file of the user and writes into it."""

    def __init__(self):
        super().__init__()
        self.state = torch.zeros(3)

    def forward(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.export
    def __getstate__(self) -> Tuple[Tensor, bool]:
        return (self.state, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, bool]) -> None:
        self.training = state[1]
        file = torch.from_file("OWNED", shared=True, size=4, dtype=torch.uint8)
        self.state = file.copy_(torch.ones(4, dtype=torch.uint8)).float()


class LoopsWhenRead(WritesWhenRead):
    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, bool]) -> None:
        while state[0].sum() < 1:
            self.training = state[1]
        self.state = state[0]


class SavesWhenRead(WritesWhenRead):
    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, bool]) -> None:
        self.training = state[1]
        torch.save(state[0], "OWNED")
        self.state = state[0]


class Around(nn.Module):
    """A round of message passing with a hostile part, so that nothing else is wrong."""

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.zeros_like(x).index_add(0, edge_index[1], self.part(x)[edge_index[0]])


class Beyond(nn.Module):
    """Operators that do not look at the numbers that they use as places."""

    def __init__(self, which: int):
        super().__init__()
        self.which = which

    def forward(self, x: Tensor) -> Tensor:
        far = torch.tensor([0, 1, 1_000_000_000])
        if self.which == 0:
            return x + torch.ops.aten._reshape_alias(x, [200_000_000], [64]).sum()
        if self.which == 1:
            return x + torch._convert_indices_from_coo_to_csr(far, 4).sum()
        if self.which == 2:
            return x + torch._convert_indices_from_csr_to_coo(far, torch.zeros(2, dtype=torch.int64)).sum()
        if self.which == 3:
            return x + torch.segment_reduce(x, "sum", lengths=far, unsafe=True).sum()
        if self.which == 4:
            return x + torch.segment_reduce(x, "sum", offsets=far).sum()
        return x + torch.ops.aten._sparse_coo_tensor_unsafe(torch.stack([far, far]), torch.ones(3), [4, 4]).to_dense().sum()


class Steps(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        kept: List[Tensor] = []
        for _ in range(100_000):
            kept.append(torch.ones(2_000_000))
        return x + kept[0].sum()


class Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        numbers = [0, 1]
        for _ in range(40):
            numbers = numbers + numbers
        return x + float(len(numbers))


class Nested(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        text = "a"
        for _ in range(40):
            text = text + text
        return x + float(len(text))


class AtOnce(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.ones(400_000_000_000).sum()


class Slow(nn.Module):
    """Hours of one core: no library helps with products of integers."""

    def forward(self, x: Tensor) -> Tensor:
        a = torch.ones([6000, 6000], dtype=torch.int64)
        for _ in range(50):
            a = torch.matmul(a, a)
        return x + a.sum().float()


class Forever(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        rest = 0
        while rest >= 0:
            rest = (rest + 1) % 7
        return x


# Pickles whose lengths and numbers ask for memory: a place in the table of objects, a text, lists and tuples without end.
PICKLES = {"an object with number 4,026,531,840": (b"}r\xf0\xff\xff\xff.", 6, "takes more than 1.0 GiB of memory"),
           "a text of 2 GiB": (b"X\xff\xff\xff\x7f.", 3, "the pickle ends within an operation"),
           "3,000,000 lists": (b"]" * 3_000_000 + b".", 3, "cannot load"),
           "a tuple in 3,000,000 tuples": (b")" + b"\x85" * 3_000_000 + b".", 3, "PyTorch's reader crashes on")}


class Hostile(ServeTest):
    def setUp(self):
        super().setUp()
        save_file({"x": torch.randn(20, 4), "edge_index": torch.randint(0, 20, (2, 60))}, self.folder / "graph.safetensors")
        self.words = ["--data", self.folder / "graph.safetensors"]

    @staticmethod
    def commands(place, parts):
        """The commands for the part at a place: all of them, and outside the full tier a share, so that the parts have them all."""
        return sized(COMMANDS[place::parts], COMMANDS)

    def made(self, part, name):
        path = self.folder / f"{name}.pt"
        torch.jit.script(Around(part)).save(path)
        (self.folder / MARK).unlink(missing_ok=True)
        return path

    def ask(self, command, model, most=SOON):
        """CPU seconds are limited: on a busy machine the time that passes is that of others."""
        words = [ENGINE, *command.split(), model, *self.words]
        if command in ("run", "export"):
            words += ["-o", self.folder / "out"]
        done = run(words, capture_output=True, text=True, cwd=self.folder, timeout=300, stdin=subprocess.DEVNULL)
        self.assertLess(done.seconds, most, words)
        self.assertLess(done.kibibytes, MOST << 10, words)
        self.assertFalse((self.folder / "out").exists(), words)
        return done

    def test_nothing_of_a_file_runs_while_it_is_read(self):
        for place, kind in enumerate((WritesWhenRead, LoopsWhenRead, SavesWhenRead)):
            model = self.made(kind(), kind.__name__)
            for command in self.commands(place, 3):
                with self.subTest(kind=kind.__name__, command=command):
                    done = self.ask(command, model)
                    self.assertEqual(done.returncode, 4, done.stderr)
                    self.assertRegex(done.stderr, r"has a method __[gs]etstate__, which PyTorch would run .*/code/__torch__.*\.py:\d+\)")
                    self.assertFalse((self.folder / MARK).exists())
            client = self.client()
            self.refused(-32004, "would run while it reads or writes the file", client.call, "model/open", model=str(model),
                         data=[str(self.folder / "graph.safetensors")], roles=[])
            self.assertEqual(client.call("model/open", **self.small())["document"], 1)

    def small(self):
        torch.jit.script(Around(nn.Identity())).save(self.folder / "harmless.pt")
        return {"model": str(self.folder / "harmless.pt"), "data": [str(self.folder / "graph.safetensors")], "roles": []}

    def test_small_files_do_not_take_all_memory(self):
        client = self.client()
        for place, part in enumerate((Steps(), Doubled(), Nested(), AtOnce())):
            model = self.made(part, type(part).__name__)
            for command in self.commands(place, 4):
                with self.subTest(part=type(part).__name__, command=command):
                    done = self.ask(command, model)
                    self.assertEqual(done.returncode, 6, done.stderr)
                    self.assertIn("forward requests more memory than it may use", done.stderr)
            if FULL or not place:
                self.refused(-32006, "forward requests more memory", client.call, "model/open", model=str(model),
                             data=[str(self.folder / "graph.safetensors")], roles=[])
        self.assertEqual(client.call("model/open", **self.small())["document"], 1)

    def with_pickle(self, entry, content):
        """A sound file with another entry, and a checksum that is right for it."""
        self.small()
        path = self.folder / "pickle.pt"
        with zipfile.ZipFile(self.folder / "harmless.pt") as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                new.writestr(zipfile.ZipInfo(name), content if name.endswith("/" + entry) else old.read(name))
        return path

    def test_pickles_that_ask_for_memory_get_none(self):
        for name, (content, code, says) in PICKLES.items():
            for entry in ("data.pkl", "constants.pkl"):
                with self.subTest(pickle=name, entry=entry):
                    done = self.ask("inspect", self.with_pickle(entry, b"\x80\x02" + content), most=60)
                    self.assertEqual((done.returncode, len(done.stderr.splitlines())), (code, 1), done.stderr)
                    self.assertIn(says, done.stderr)

    def test_a_loop_without_end_is_followed_for_a_million_steps(self):
        for command in sized(("run",), ("run", "verify", "export")):
            with self.subTest(command=command):
                done = self.ask(command, self.made(Forever(), "forever"), most=60)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("forward exceeds a million steps", done.stderr)

    def test_operators_that_do_not_look_reach_nothing(self):
        for which in range(6):
            model = self.made(Beyond(which), f"beyond{which}")
            for command in self.commands(which, 6):
                with self.subTest(which=which, command=command):
                    done = self.ask(command, model)
                    self.assertIn(done.returncode, (0, 3, 4), done.stderr)
                    self.assertRegex(done.stdout + done.stderr, "places|memory of the operand|unsafe=True|forward fails|descend")

    def test_what_takes_long_is_named_and_ends_when_it_is_told_to(self):
        model, place = self.made(Slow(), "slow"), "aten::matmul (engine_hostile.py:"
        for words in ([command, model, *data] for command, data in sized([("plan", self.words)], [("inspect", []), ("inspect", self.words), ("plan", self.words)])):
            process = subprocess.Popen([ENGINE, *words], stderr=subprocess.PIPE, text=True)
            self.assertIn(f"after 3 s it is in {place}", process.stderr.readline())
            process.terminate()
            self.assertEqual(process.wait(SOON), 130)
            process.stderr.close()
        files = {"data": [str(self.folder / "graph.safetensors")], "roles": []}
        opened = [(self.client(), "model/open", {})]
        if FULL:
            worker = Client(command=(ENGINE, "worker"))
            self.addCleanup(worker.stop)
            opened.append((worker, "worker/open", {"output": str(self.folder / "out")}))
        for client, method, more in opened:
            request = client.ask(method, model=str(model), **files, **more)
            while not any(place in told["params"].get("what", "") for told in client.told):
                client.take()
            client.tell("$/cancelRequest", id=request)
            self.refused(-32800, "cancelled", client.answer, request, SOON)
            client.call(method, **self.small(), **more)  # it goes on


if __name__ == "__main__":
    unittest.main()
