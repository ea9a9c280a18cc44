"""The code of a model file runs after the user has agreed to it: to the file, by its content, or to a folder. Until then it is
drawn. The model throws in forward, which tells whether it has run."""
import contextlib
import json
import os
import pty
import shlex
import shutil
import subprocess
import unittest

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from engine_process import ENGINE, run
from serve_case import KARATE, ServeTest
from tiers import one_in

RAN = "it has run"
REFUSED = "that you have not agreed to run"
COMMANDS = ("plan", "run -o out", "verify", "export -o out", "receptive-field", "debug --nan")


class Stranger(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if x.size(0) > 0:
            raise ValueError("it has run")
        return torch.zeros_like(x).index_add_(0, edge_index[1], torch.relu(x)[edge_index[0]])


class Sum(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.zeros_like(x).index_add_(0, edge_index[1], torch.relu(x)[edge_index[0]])


def everything(terminal):
    """The text written to a terminal whose other end is closed; it comes in pieces."""
    said = b""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65536):
            said += part
    os.close(terminal)
    return said.decode()


class Trust(ServeTest):
    def setUp(self):
        super().setUp()
        self.models = self.folder / "models"
        self.models.mkdir()
        self.model = self.models / "stranger.pt"
        torch.jit.script(Stranger()).save(str(self.model))
        self.data = self.folder / "graph.safetensors"
        save_file({"x": torch.rand(30, 4), "edge_index": torch.randint(0, 30, (2, 90))}, str(self.data))
        self.list = self.folder / "config/hopscope/trusted"
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "config"), "HOPSCOPE_TRUST": "",
                            "TMPDIR": str(self.folder / "tmp")}

    def engine(self, *words, **environment):
        return run([ENGINE, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=120,
                   env={**self.environment, **environment})

    def command(self, words, *more, **environment):
        """Of the stranger's model."""
        name, *options = words.split()
        return self.engine(name, self.model, "--data", self.data, *options, *more, **environment)

    def asks(self, done):
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertIn(REFUSED, done.stderr)

    def runs(self, done):
        """It came as far as forward, which throws."""
        self.assertIn(done.returncode, (3, 4), done.stderr)
        self.assertIn(RAN, done.stderr + done.stdout)

    def test_every_command_asks_and_leaves_nothing(self):
        for words in COMMANDS:
            with self.subTest(command=words):
                self.asks(self.command(words))
                self.assertFalse((self.folder / "out").exists())
                self.runs(self.command(words, "--trust"))
                self.runs(self.command(words, HOPSCOPE_TRUST=f"/nowhere:{self.models}"))
                self.asks(self.command(words))
        self.assertEqual(self.leavings(), [])
        self.assertFalse(self.list.exists())

    def test_the_environment_names_files_as_well(self):
        self.runs(self.command("plan", HOPSCOPE_TRUST=f"/nowhere:{self.model}"))
        self.asks(self.command("plan", HOPSCOPE_TRUST=f"{self.model}x:{str(self.model)[:-1]}"))

    def test_the_hint_is_followed(self):
        for name in one_in(2, ("stranger.pt", "my model.pt", "it's.pt", "-x.pt", "$HOME;*.pt", "two\nlines\t'.pt", "tür.pt")):
            with self.subTest(name=name):
                self.model = self.model.rename(self.models / name)
                error = json.loads(self.command("plan", "--json").stdout)["error"]
                self.assertEqual((error["code"], error["exit_code"]), ("untrusted", 8))
                agreement = error["hint"].partition("hopscope-engine ")[2].partition(" (in Python")[0]
                subprocess.run(["bash", "-c", f"{shlex.quote(ENGINE)} {agreement}"], env=self.environment, check=True)
                self.runs(self.command("plan"))
                self.assertEqual(self.engine("trust", self.model, "--remove").returncode, 0)

    def test_only_a_terminal_is_told_of_the_option(self):
        """The window and Python, which read the same sentence, have none."""
        self.assertNotIn("--", json.loads(self.command("plan", "--json").stdout)["error"]["hint"])
        self.assertIn("with --trust", self.command("plan").stderr)

    def test_inspect_says_once_that_the_model_has_not_been_run(self):
        done = self.engine("inspect", self.model)
        self.assertEqual((done.returncode, done.stdout.count("have not agreed")), (0, 1), done.stdout)

    def test_an_exported_program_needs_no_agreement_whatever_it_is_called(self):
        sizes = {"x": {0: torch.export.Dim.AUTO}, "edge_index": {1: torch.export.Dim.AUTO}}
        graph = torch.rand(20, 4), torch.randint(0, 20, (2, 50))
        written = self.folder / "sum.pt2"
        torch.export.save(torch.export.export(Sum(), graph, dynamic_shapes=sizes), str(written))
        self.model = written.rename(self.models / "sum.pt")
        for words in COMMANDS:
            done = self.command(words)
            self.assertEqual(done.returncode, 0, done.stderr)
            shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.assertFalse(self.list.exists())

    def test_an_agreement_is_for_every_command(self):
        self.assertEqual(self.engine("trust", self.model).returncode, 0)
        for words in COMMANDS:
            self.runs(self.command(words))

    def test_a_file_is_known_by_its_content(self):
        self.assertEqual(self.engine("trust", "models/stranger.pt").returncode, 0)
        digest = subprocess.run(["sha256sum", self.model], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.list.read_text(), digest)
        self.model = self.model.rename(self.folder / "elsewhere.pt")
        self.runs(self.command("plan"))
        content = bytearray(self.model.read_bytes())
        content[10] ^= 1  # the time of the first record
        self.model.write_bytes(content)
        self.asks(self.command("plan"))

    def test_the_list_may_be_made_by_sha256sum(self):
        self.list.parent.mkdir(parents=True)
        with self.list.open("w") as file:
            file.write("# mine\n")
            file.flush()
            subprocess.run(["sha256sum", self.model], stdout=file, check=True)
        self.runs(self.command("plan"))
        self.assertEqual(self.engine("trust", self.data).returncode, 0)
        self.assertTrue(self.list.read_text().startswith("# mine\n"))

    def test_a_folder_counts_for_what_lies_in_it(self):
        self.assertEqual(self.engine("trust", "models/../models/").returncode, 0)
        self.runs(self.command("plan"))
        listed = json.loads(self.engine("trust", "--json").stdout)
        self.assertEqual(listed, {"list": str(self.list), "folders": [str(self.models)], "files": []})
        inside = self.model
        self.model = self.folder / "link.pt"
        self.model.symlink_to(inside)
        self.runs(self.command("plan"))
        outside = self.folder / "models2"
        outside.mkdir()
        inside.rename(outside / "stranger.pt")
        inside.symlink_to(outside / "stranger.pt")
        self.model = inside
        self.asks(self.command("plan"))
        self.model = outside / "stranger.pt"
        self.asks(self.command("plan"))

    def test_agreements_are_listed_and_taken_back(self):
        self.assertIn("No file or folder", self.engine("trust").stdout)
        for path in (self.model, self.models, self.model):
            self.assertEqual(self.engine("trust", path).returncode, 0)
        listed = self.engine("trust").stdout.splitlines()
        self.assertEqual(listed[0], f"{self.models}/")
        self.assertEqual([line.split("  ")[1] for line in listed[1:]], [str(self.model)])
        for path in (self.models, self.model):
            self.assertEqual(self.engine("trust", path, "--remove").returncode, 0)
        self.assertEqual(self.engine("trust", self.model, "--remove").returncode, 3)
        self.asks(self.command("plan"))
        for words, code in ((["nowhere.pt"], 3), (["--remove"], 2)):
            self.assertEqual(self.engine("trust", *words).returncode, code)

    def test_without_a_place_for_the_list(self):
        nowhere = {"XDG_CONFIG_HOME": "", "HOME": ""}
        self.asks(self.command("plan", **nowhere))
        self.assertEqual(self.engine("trust", self.model, **nowhere).returncode, 6)

    def test_samples_need_no_agreement(self):
        self.assertEqual(self.engine("plan", KARATE["model"], "--data", KARATE["data"][0]).returncode, 0)

    def test_inspect_draws(self):
        for data in ((), ("--data", str(self.data))):
            done = self.engine("inspect", self.model, *data, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(done.stdout)
            self.assertFalse(document["splittable"])
            self.assertEqual([lint["code"] for lint in document["lints"] if lint["blocking"]], ["untrusted"])
            self.assertIn("aten::index_add_", [op["name"] for op in document["ops"]])
            self.assertNotIn(RAN, done.stdout)
            self.assertIn("Not run\n", self.engine("inspect", self.model, *data).stdout)
            self.assertIn(RAN, self.engine("inspect", self.model, *data, "--json", "--trust").stdout)

    def test_a_terminal_asks(self):
        for answer, expected in (("n", REFUSED), ("", REFUSED), ("y", RAN), ("n", RAN)):
            with self.subTest(answer=answer):
                ours, theirs = pty.openpty()
                process = subprocess.Popen([ENGINE, "plan", str(self.model), "--data", str(self.data)], stdin=theirs,
                                           stdout=subprocess.DEVNULL, stderr=theirs, env=self.environment)
                os.close(theirs)
                os.write(ours, f"{answer}\n".encode())
                process.wait(60)
                said = everything(ours)
                self.assertIn(expected, said)
                self.assertEqual("[y/N]" in said, (answer, expected) != ("n", RAN), said)

    def served(self):
        os.environ.update({name: self.environment[name] for name in ("XDG_CONFIG_HOME", "HOPSCOPE_TRUST")})
        self.addCleanup(os.environ.update, {"HOPSCOPE_TRUST": "/"})
        self.addCleanup(os.environ.pop, "XDG_CONFIG_HOME")
        return self.client()

    def test_serve_draws_until_the_user_agrees(self):
        client = self.served()
        files = {"model": str(self.model), "data": [str(self.data)], "roles": []}
        for agreement, line in (({}, "stranger.pt"), ({"folder": True}, "models")):
            opened = client.call("model/open", **files)
            self.assertNotIn(RAN, json.dumps(opened))
            number = opened["document"]
            self.refused(-32008, REFUSED, self.plan, client, number)
            self.refused(-32008, REFUSED, client.call, "export/write", **files, plan={},
                         folder=str(self.folder / "exported"))
            self.assertFalse((self.folder / "exported").exists())
            self.assertIsNone(client.call("model/trust", document=number, **agreement))
            self.assertTrue(self.list.read_text().endswith(line + "\n"))
            client.call("model/close", document=number)
            self.assertIn(RAN, json.dumps(client.call("model/open", **files)))
            self.list.unlink()
        self.assertIn(RAN, json.dumps(client.call("model/open", **files, trusted=True)))

    def test_serve_agrees_to_what_was_opened(self):
        client = self.served()
        number = client.call("model/open", model=str(self.model), data=[str(self.data)], roles=[])["document"]
        self.model.write_bytes(self.model.read_bytes() + b" ")
        self.refused(-32003, "was changed or removed", client.call, "model/trust", document=number)
        self.assertFalse(self.list.exists())


if __name__ == "__main__":
    unittest.main()
