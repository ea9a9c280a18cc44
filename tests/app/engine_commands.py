"""The built hopscope-engine as a user starts it: exit codes, documents, what is left on disk. HOPSCOPE_ENGINE names the
program, HOPSCOPE_ROOT the repository."""
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

import jsonschema
import numpy
import torch
from safetensors.numpy import load_file
from safetensors.numpy import save_file as save_numpy
from safetensors.torch import load_file as load_torch
from safetensors.torch import save_file

import engine_models as models
from engine_process import ENGINE, engine, own_folder, run
from strategies import STRATEGIES

ROOT = Path(os.environ["HOPSCOPE_ROOT"])
KARATE = [str(ROOT / "samples/karate/gcn.pt"), "--data", str(ROOT / "samples/karate/graph.safetensors")]
KARATE_OUT = ROOT / "samples/karate/gcn.expected.safetensors"


def names(folder):
    return sorted(entry.name for entry in Path(folder).iterdir())


class EngineTest(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(self)
        torch.manual_seed(1)

    def done(self, *arguments):
        result = engine(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result

    def document(self, *arguments):
        """The one JSON document of a command that succeeds."""
        result = self.done(*arguments, "--json")
        return json.loads(result.stdout)

    def refused(self, code, says, *arguments):
        """One line on standard error and nothing on standard output; with --json the error document."""
        result = engine(*arguments)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        self.assertEqual(result.stdout, "")
        errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, result.stderr)
        self.assertIn(says, errors[0])
        as_json = engine(*arguments, "--json")
        self.assertEqual(as_json.returncode, code)
        error = json.loads(as_json.stdout)["error"]
        self.assertEqual(error["exit_code"], code)
        self.valid("error", {"error": error})
        return errors[0]

    def valid(self, name, document):
        schema = json.loads((ROOT / f"resources/schemas/{name}-1.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(document)

    def save(self, module, nodes=40, edges=150, features=6, name="model.pt"):
        x, edge_index = models.graph(nodes, edges, features)
        models.save(module, (x, edge_index), self.folder / name)
        save_file({"x": x, "edge_index": edge_index}, str(self.folder / "graph.safetensors"))
        return [str(self.folder / name), "--data", str(self.folder / "graph.safetensors")], (x, edge_index)


class CommandLine(EngineTest):
    def test_mistakes_end_with_2(self):
        out = ("-o", self.folder)
        for says, *words in (("a command is required",), ("MODEL is required", "run"),
                             ("MODEL is required", "inspect"), ("--output is required", "run", *KARATE),
                             ("unknown option '--frobnicate'", "inspect", *KARATE, "--frobnicate"),
                             ("'0' is neither auto nor a positive whole number", "run", *KARATE, *out, "--batch", "0"),
                             ("'lots' is not a valid size", "run", *KARATE, *out, "--memory", "lots"),
                             ("--threads: '0' is neither auto nor a whole number from 1 to 4096", "run", *KARATE, *out, "--threads", "0"),
                             ("unknown value of --strategy 'best'", "plan", *KARATE, "--strategy", "best"),
                             ("--role x=sheep is not a role", "inspect", *KARATE, "--role", "x=sheep")):
            with self.subTest(words=words):
                self.refused(2, says, *words)

    def test_options_that_went_are_unknown(self):
        for words in (("run", *KARATE, "-o", self.folder), ("plan", *KARATE)):
            for flag in ("--replicas=2", "--workers=2", "--network=1"):
                with self.subTest(command=words[0], flag=flag):
                    self.refused(2, f"unknown option '{flag.partition('=')[0]}'", *words, flag)

    def test_help_and_version_end_with_0(self):
        self.assertIn("Examples", self.done("run", "--help").stdout)
        version, torch_and_commit, features, end = self.done("--version").stdout.split("\n")
        self.assertRegex(version, r"^hopscope-engine \d+\.\d+\.\d+$")
        self.assertRegex(torch_and_commit, r"^torch \d+\.\d+\.\S+, commit (unknown|[0-9a-f]{7,40}\+?)$")
        self.assertRegex(features, r"^CUDA kernels: (yes|no), integer programs: (yes|no)$")
        self.assertEqual(end, "")

    def test_the_version_takes_no_libtorch_and_anything_else_the_program_beside_it(self):
        alone = shutil.copy(ENGINE, self.folder / "hopscope-engine")
        answers = [subprocess.run([alone, *words], capture_output=True, text=True, check=False)
                   for words in (["--version"], KARATE)]
        self.assertEqual([(answer.returncode, len(answer.stderr.splitlines())) for answer in answers], [(0, 0), (7, 1)])
        self.assertEqual(answers[0].stdout, self.done("--version").stdout)
        self.assertIn(f"error: {self.folder}/hopscope-engine-torch cannot be started: No such file", answers[1].stderr)
        linked = self.folder / "linked"
        linked.symlink_to(ENGINE)
        self.assertEqual(subprocess.run([linked, "devices"], capture_output=True, check=False).returncode, 0)

    def test_a_device_that_is_not_there_is_a_mistake(self):
        self.refused(2, "there is no GPU cuda:99", "plan", *KARATE, "--device", "cuda:99")

    def test_output_for_no_terminal_has_no_colour(self):
        self.assertNotIn("\033", self.done("inspect", *KARATE).stdout)


class Refusals(EngineTest):
    def test_unreadable_input_ends_with_3(self):
        text = self.folder / "text.pt"
        text.write_text("not a model\n")
        graph = KARATE[2]
        for says, *words in (("No such file or directory", "inspect", self.folder / "missing.pt"),
                             ("is a text file, not a TorchScript archive", "inspect", text),
                             ("is a text file, not .npy", "plan", KARATE[0], "--data", text),
                             ("no such file", "plan", KARATE[0], "--data", self.folder / "missing")):
            with self.subTest(words=words):
                self.refused(3, says, *words)
        self.assertTrue(Path(graph).exists())

    def test_a_missing_input_is_named(self):
        save_file({"x": torch.zeros(34, 34)}, str(self.folder / "x.safetensors"))
        self.refused(3, "forward needs 'edge_index'", "plan", KARATE[0], "--data", self.folder / "x.safetensors")

    def test_nan_is_propagated_or_refused_as_asked(self):
        data = load_torch(KARATE[2])
        data["x"][3, 4] = float("nan")
        save_file(data, str(self.folder / "nan.safetensors"))
        words = ["run", KARATE[0], "--data", self.folder / "nan.safetensors", "-o", self.folder / "out"]
        self.refused(3, "holds 1 NaN or infinite number", *words, "--nan", "refuse")
        self.assertFalse((self.folder / "out").exists())
        report = self.document(*words)
        self.assertTrue(any("NaN" in note for note in report["notes"]))
        self.assertTrue(numpy.isnan(numpy.load(self.folder / "out/out.npy")).any())

    def test_what_cannot_be_split_ends_with_4_and_inspect_says_why(self):
        for module, says in ((models.GlobalAttention(), "a dense product of rows by rows"),
                             (models.FeatureLoop(), "reads a number from features")):
            with self.subTest(module=type(module).__name__):
                words, _ = self.save(module)
                self.assertIn("engine_models.py", self.refused(4, says, "plan", *words))
                self.refused(4, says, "run", *words, "-o", self.folder / "out")
                self.assertFalse((self.folder / "out").exists())
                inspected = self.document("inspect", *words)
                self.valid("inspect", inspected)
                self.assertFalse(inspected["splittable"])
                self.assertTrue(any(lint["blocking"] for lint in inspected["lints"]))

    def test_sequences_of_neighbours_need_sorted_edges(self):
        """Out of order, forward writes over its own messages, without a word."""
        from torch_geometric.nn import SAGEConv
        x, edge_index = models.graph(40, 150, 6)
        edge_index = edge_index[:, torch.argsort(edge_index[1], stable=True)]
        models.save(SAGEConv(6, 4, aggr="lstm").eval(), (x, edge_index), self.folder / "model.pt")
        words = ["run", self.folder / "model.pt", "--data", self.folder / "graph.safetensors", "-o", self.folder / "out"]
        save_file({"x": x, "edge_index": edge_index.flip(1).contiguous()}, str(self.folder / "graph.safetensors"))
        self.assertIn("_to_dense_batch.py", self.refused(3, "not sorted by the node that they belong to", *words))
        save_file({"x": x, "edge_index": edge_index.contiguous()}, str(self.folder / "graph.safetensors"))
        self.assertEqual(self.document(*words)["verify"]["verdict"], "equal")

    def test_too_little_memory_ends_with_6(self):
        words, _ = self.save(models.Sage(6, 8, 3))
        words += ["--memory", "100", "--verify", "none", "--device", "cpu"]
        self.refused(6, "memory", "run", *words, "-o", self.folder / "out")
        self.assertFalse((self.folder / "out").exists())


class Documents(EngineTest):
    def test_the_sizes_of_derived_tables_are_counted(self):
        words, (x, edge_index) = self.save(models.OwnLoops())
        document = self.document("inspect", *words)
        kept = int((edge_index[0] != edge_index[1]).sum())
        self.assertIn(kept, document["sizes"].values())
        self.assertIn(kept + x.size(0), document["sizes"].values())
        self.assertTrue(all(v["bytes"] for v in document["values"] if v["origin"] == "op" and None not in v["shape"]
                            and v["shape"] and v["dtype"] == "float32"))

    def test_inspect_with_and_without_data(self):
        for words in (KARATE, KARATE[:1]):
            document = self.document("inspect", *words)
            self.valid("inspect", document)
            self.assertTrue(document["splittable"])
            self.assertEqual(document["depth"], 2)
            self.assertEqual([stage["index"] for stage in document["stages"]], [1, 2])
            sized = [value["bytes"] for value in document["values"]
                     if value["bytes"] is not None and value["origin"] != "parameter"]
            self.assertEqual(bool(sized), len(words) > 1)
            self.assertTrue(all(value["bytes"] for value in document["values"] if value["origin"] == "parameter"))
            shapes = {value["name"]: value["shape"] for value in document["values"]}
            self.assertEqual(shapes["x"], ["|node|", 34])

    def test_the_table_names_stages_and_stores(self):
        text = self.done("inspect", *KARATE).stdout
        for word in ("Stages", "Inputs", "edge_index", "stores", "out", "structure"):
            self.assertIn(word, text)

    def test_a_plan_is_the_same_bytes_everywhere(self):
        file = self.folder / "plan.json"
        printed = self.done("plan", *KARATE, "--json", "-o", file).stdout
        self.assertEqual(file.read_bytes(), printed.encode())
        self.assertEqual(self.done("plan", *KARATE, "--json").stdout, printed)
        plan = json.loads(printed)
        self.valid("plan", plan)
        for key in ("strategy", "objective", "unit", "cost", "lower_bound", "gap", "device", "batch", "prologue",
                    "stages", "checkpoints", "bytes", "peak_memory", "pins", "hashes"):
            self.assertIn(key, plan)
        self.assertEqual([c["bytes_written"] for c in plan["checkpoints"] if c["output"]], [34 * 2 * 4])

    def test_a_plan_file_runs_and_a_broken_or_foreign_one_is_refused(self):
        file = self.folder / "plan.json"
        self.done("plan", *KARATE, "-o", file, "--strategy", "source-rule", "--batch", "5")
        report = self.document("run", *KARATE, "--plan", file, "-o", self.folder / "out")
        self.assertEqual(report["strategy"], "source-rule")
        self.assertTrue(all(stage["largest_batch"] <= 5 for stage in report["stages"] if stage["index"] > 0))
        plan = json.loads(file.read_text())
        plan["stages"][0]["ops"][0]["op"] = "op9999"
        (self.folder / "broken.json").write_text(json.dumps(plan))
        self.refused(3, "/stages/0/ops/0/op", "run", *KARATE, "--plan", self.folder / "broken.json", "-o",
                     self.folder / "out2")
        words, _ = self.save(models.Sage(6, 8, 3))
        self.refused(3, "a different model", "verify", *words, "--plan", file)

    def test_verify_proves_the_split(self):
        document = self.document("verify", *KARATE)
        self.valid("verification", document)
        self.assertEqual(document["verdict"], "equal")
        self.assertEqual(document["sample"]["verdict"], "equal")
        self.assertIn("equal", self.done("verify", *KARATE).stdout)


class Runs(EngineTest):
    def close(self, found, expected):
        numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_a_run_writes_outputs_and_report_and_nothing_else(self):
        expected = load_file(KARATE_OUT)["out"]
        for strategy in STRATEGIES:
            for batch in ("1", "7", "34", "auto"):
                with self.subTest(strategy=strategy, batch=batch):
                    out = self.folder / "out"
                    # Each strategy's results are verified once; all are compared with the model's own.
                    verify = [] if batch == "7" else ["--verify", "none"]
                    words = [*KARATE, "-o", out, "--strategy", strategy, "--batch", batch, *verify, "--json"]
                    printed = self.done("run", *words).stdout
                    self.assertEqual(names(out), ["out.npy", "report.json"])
                    self.assertEqual((out / "report.json").read_text(), printed)
                    report = json.loads(printed)
                    self.valid("report", report)
                    self.assertEqual(report["verify"] and report["verify"]["verdict"], None if verify else "equal")
                    self.close(numpy.load(out / "out.npy"), expected)

    def test_several_outputs_have_a_file_each(self):
        words, inputs = self.save(models.Several())
        out = self.folder / "out"
        self.done("run", *words, "-o", out)
        self.assertEqual(names(out), ["out.a%2Fb.npy", "out.again.npy", "out.half.safetensors", "report.json"])
        with torch.no_grad():
            expected = models.Several()(*inputs)
        self.close(numpy.load(out / "out.a%2Fb.npy"), expected["a/b"].numpy())
        self.close(numpy.load(out / "out.again.npy"), expected["again"].numpy())
        half = load_torch(str(out / "out.half.safetensors"))
        self.assertEqual([value.dtype for value in half.values()], [torch.bfloat16])

    def test_tuples_are_numbered(self):
        words, inputs = self.save(models.Pair())
        self.done("run", *words, "-o", self.folder / "out")
        with torch.no_grad():
            first, second = models.Pair()(*inputs)
        self.close(numpy.load(self.folder / "out/out.0.npy"), first.numpy())
        self.close(numpy.load(self.folder / "out/out.1.npy"), second.numpy())

    def test_a_branch_that_goes_the_other_way_on_the_whole_graph_is_followed(self):
        words, inputs = self.save(models.Branch(), nodes=800, edges=3000)
        report = self.document("run", *words, "-o", self.folder / "out")
        self.assertTrue(any("branch" in note for note in report["notes"]))
        with torch.no_grad():
            self.close(numpy.load(self.folder / "out/out.npy"), models.Branch()(*inputs).numpy())

    def test_stores_keep_to_the_host_memory(self):
        words = [str(ROOT / "samples/digits/jknet.pt"), "--data", str(ROOT / "samples/digits/graph.safetensors")]
        words += ["--batch", "200"]
        wide = self.document("plan", *words, "--strategy", "depth")
        largest = sum(c["bytes_written"] for c in wide["checkpoints"])
        self.refused(4, "exceeds the host memory limit", "plan", *words, "--strategy", "depth", "--host-memory",
                     300_000)
        self.assertGreater(largest, 600_000)
        report = self.document("run", *words, "--host-memory", 600_000, "-o", self.folder / "out", "--verify", "full")
        self.assertEqual(report["verify"]["verdict"], "equal")
        self.refused(4, "no plan fits the host memory limit of", "plan", *words, "--host-memory", 1000)

    def test_results_do_not_depend_on_the_number_of_cores(self):
        random = numpy.random.default_rng(11)
        width = load_file(str(ROOT / "samples/digits/graph.safetensors"))["x"].shape[1]
        nodes, edges = 100_000, 300_000
        save_numpy({"x": random.standard_normal((nodes, width), dtype=numpy.float32),
                    "edge_index": random.integers(0, nodes, (2, edges))}, str(self.folder / "large.safetensors"))
        tiled = 0
        for name in ("sage", "gcn", "gat"):
            with self.subTest(model=name):
                words = ["run", str(ROOT / f"samples/digits/{name}.pt"), "--data", self.folder / "large.safetensors"]
                made = {}
                for threads in (1, 2, 3):
                    out = self.folder / f"{name}{threads}"
                    # Once: the others are compared with what it verified, bit by bit.
                    verify = "sample" if threads == 1 else "none"
                    report = self.document(*words, "-o", out, "--threads", threads, "--verify", verify)
                    if threads == 1:
                        self.assertEqual(report["verify"]["verdict"], "equal")
                    tiled += any(stage["batches"] >= 16 for stage in report["stages"])
                    made[threads] = numpy.load(out / "out.npy")
                self.assertTrue(all(numpy.array_equal(made[1], made[threads]) for threads in (2, 3)))
        self.assertGreaterEqual(tiled, 3)  # the others' rows are so narrow that they are a few batches

    def test_what_is_not_fused_takes_memory_for_each_edge_and_gives_the_same_result(self):
        random = numpy.random.default_rng(12)
        width = load_file(str(ROOT / "samples/digits/graph.safetensors"))["x"].shape[1]
        nodes, edges = 100_000, 300_000
        save_numpy({"x": random.standard_normal((nodes, width), dtype=numpy.float32),
                    "edge_index": random.integers(0, nodes, (2, edges))}, str(self.folder / "large.safetensors"))
        words = ["run", str(ROOT / "samples/digits/gat.pt"), "--data", self.folder / "large.safetensors"]
        reports, made = {}, {}
        for fuse in ("all", "chain,softmax", "none"):
            out = self.folder / fuse
            reports[fuse] = self.document(*words, "-o", out, "--fuse", fuse, "--batch", 50_000, "--verify", "sample")
            self.assertEqual(reports[fuse]["verify"]["verdict"], "equal")
            made[fuse] = numpy.load(out / "out.npy")
        self.assertEqual([reports[fuse]["fuse"] for fuse in ("all", "chain,softmax", "none")],
                         [["chain", "softmax", "several"], ["chain", "softmax"], []])
        self.assertLess(reports["all"]["peak_memory"], reports["none"]["peak_memory"])
        for fuse, report in reports.items():
            for stage in report["stages"]:
                self.assertLess(abs(stage["predicted"]["peak_memory"] / stage["peak_memory"] - 1), 0.2, fuse)
        numpy.testing.assert_array_equal(made["all"], made["chain,softmax"])
        numpy.testing.assert_allclose(made["all"], made["none"], rtol=1e-4, atol=1e-5)

    def test_a_report_says_what_was_predicted_and_what_a_stage_takes_at_least(self):
        out = self.folder / "bounds"
        run([ENGINE, "run", *KARATE, "-o", str(out), "--verify", "none"], capture_output=True, timeout=300, check=True,
            env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "nothing")})
        for stage in json.loads((out / "report.json").read_text())["stages"]:
            self.assertEqual(stage["predicted"]["bytes"], stage["bytes"])
            self.assertEqual(stage["predicted"]["destinations"], stage["destinations"])
            self.assertGreaterEqual(stage["predicted"]["seconds"], stage["bound_seconds"])
            self.assertGreater(stage["bound_seconds"], 0)
            self.assertIn(stage["wall"], ("gemm", "rows", "stream"))

    def test_data_comes_as_files_folder_or_names(self):
        data = load_file(KARATE[2])
        (self.folder / "data").mkdir()
        for key in ("x", "edge_index"):
            numpy.save(self.folder / f"data/{key}.npy", data[key])
        ways = (["--data", self.folder / "data"],
                ["--data", f"x={self.folder}/data/x.npy", "--data", f"edge_index={self.folder}/data/edge_index.npy"])
        expected = load_file(KARATE_OUT)["out"]
        for way in ways:
            self.done("run", KARATE[0], *way, "-o", self.folder / "out", "--verify", "none")
            self.close(numpy.load(self.folder / "out/out.npy"), expected)

    def test_the_trace_is_a_chrome_trace(self):
        file = self.folder / "trace.json"
        self.done("run", *KARATE, "-o", self.folder / "out", "--trace", file, "--batch", "10")
        events = json.loads(file.read_text())["traceEvents"]
        self.assertIn("compute", {event["name"] for event in events if event["ph"] == "X"})
        self.assertIn("stage 2", {event["name"] for event in events})
        self.assertEqual(names(self.folder), ["out", "trace.json"])
        for lane in {event["tid"] for event in events if event["ph"] == "X"}:
            spans = [(event["ts"], event["ts"] + event["dur"]) for event in events
                     if event["ph"] == "X" and event["tid"] == lane]
            for (_, end), (begin, _) in zip(spans, spans[1:]):
                self.assertLessEqual(end, begin + .01, f"lane {lane} in microseconds")

    def test_quiet_says_nothing_but_the_verdict(self):
        said = {verify: self.done("run", *KARATE, "-o", self.folder / verify, "--verify", verify, "--quiet").stdout
                for verify in ("sample", "none")}
        self.assertRegex(said["sample"], r"^verified: equal on .*\n$")
        self.assertEqual(said["none"], "")

    def test_the_table_ends_with_the_verdict(self):
        for phases in ([], ["-v"]):
            text = self.done("run", *KARATE, "-o", self.folder / f"out{len(phases)}", *phases).stdout
            for word in ("stage", "peak memory", "verified: equal on all 34 rows"):
                self.assertIn(word, text)
            self.assertEqual("compute" in text, bool(phases))
            self.assertNotIn("h2d", text)


class OutputFolders(EngineTest):
    def test_a_file_in_the_way_is_refused(self):
        (self.folder / "file").write_text("mine")
        self.refused(3, "is a file, not a folder", "run", *KARATE, "-o", self.folder / "file")
        self.assertEqual((self.folder / "file").read_text(), "mine")

    def test_another_run_in_the_folder_is_named(self):
        journal = self.folder / "out/.hopscope-journal"
        journal.mkdir(parents=True)
        with open(journal / "lock", "w", encoding="ascii") as lock:
            lock.write(f"pid 4711 on {socket.gethostname()}")
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(3, "locked by pid 4711", "run", *KARATE, "-o", self.folder / "out")
        self.done("run", *KARATE, "-o", self.folder / "out")
        self.assertEqual(names(self.folder / "out"), ["out.npy", "report.json"])

    def interrupted(self, out, number):
        self.done("generate", "rmat", "--nodes", "60000", "--edges", "600000", "--features", "16",
                  "-o", self.folder / "big.safetensors")
        x, edge_index = models.graph(40, 150, 16)
        models.save(models.Sage(16, 32, 8, layers=4), (x, edge_index), self.folder / "model.pt")
        words = [ENGINE, "run", self.folder / "model.pt", "--data", self.folder / "big.safetensors", "-o", out,
                 "--batch", "4", "--verify", "none", "--json"]
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as process:
            # A store in the journal shows that a stage is on its way.
            deadline = time.monotonic() + 60
            journal = Path(out) / ".hopscope-journal"
            while time.monotonic() < deadline and not (journal.is_dir() and len(list(journal.iterdir())) > 1):
                self.assertIsNone(process.poll(), "the run ended before it could be interrupted")
                time.sleep(0.02)
            process.send_signal(number)
            printed = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 130)
            self.assertEqual(json.loads(printed)["error"]["code"], "cancelled")

    def test_an_interrupted_run_leaves_nothing_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.interrupted(self.folder / "new/out", number)
                self.assertFalse((self.folder / "new").exists())

    def test_an_interrupted_run_leaves_what_was_there(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "mine.txt").write_text("mine")
        self.interrupted(out, signal.SIGINT)
        self.assertEqual(names(out), ["mine.txt"])


class Generating(EngineTest):
    def test_the_same_options_give_the_same_bytes(self):
        for kind in ("rmat", "sbm", "er", "grid", "star", "path"):
            with self.subTest(kind=kind):
                files = [self.folder / f"{kind}{i}.safetensors" for i in range(2)]
                for file in files:
                    document = self.document("generate", kind, "--nodes", "100", "--edges", "400", "--features", "5",
                                             "-o", file)
                self.assertEqual(files[0].read_bytes(), files[1].read_bytes())
                data = load_file(files[0])
                self.assertEqual(data["x"].shape, (100, 5))
                self.assertEqual(document["edges"], data["edge_index"].shape[1])
                self.assertLess(data["edge_index"].max(), 100)

    def test_sizes_that_make_no_graph_are_refused(self):
        self.refused(2, "cannot be negative", "generate", "rmat", "--nodes", "-5", "--edges", "3", "-o",
                     self.folder / "g.safetensors")
        self.assertEqual(names(self.folder), [])


if __name__ == "__main__":
    unittest.main()
