"""The part of run.py that runs the stages, and its command line; it begins below."""
import argparse
import ctypes
import difflib
import hashlib
import importlib.util
import itertools
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import numpy as np
import torch
from blocks import Block, Graph, Total
from files import Problem, Store, read_data, read_tensors
from formats import data_forms

MOST_DESTINATIONS = 1 << 17
OWNED_ROWS = 1 << 20


# ---- running


def keep_memory():
    """Has glibc use freed memory again: fresh pages for the tensors of every batch cost more than many an operator."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(-4, 0)  # M_MMAP_MAX
        library.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD


def resolve_vector_math():
    """Calls MKL's vector functions once on one thread: where several threads make the first call at once, MKL up to 2024.2
    may compute with four correct digits (PyTorch's issue 188792)."""
    for dtype in (torch.float32, torch.float64):
        number = torch.full((1,), 0.5, dtype=dtype)
        for name in ("acos", "asin", "atan", "cos", "erf", "erfc", "erfinv", "exp", "log", "log2", "log10", "sin", "sqrt", "tan",
                     "tanh", "trunc"):
            getattr(torch, name)(number)


def load_stages(folder, code):
    """A module that holds those of prologue.py, stage_1.py, ... by the names of their methods."""
    folder = pathlib.Path(folder)
    stages = torch.nn.Module()
    stages.weights = read_tensors(part_of(folder, "weights.safetensors"))
    for name in ["prologue", *dict.fromkeys(f"stage_{loop['stage']}" for loop in code["loops"]), "results"]:
        if name == "results" and not (folder / "results.py").is_file():
            continue
        for method, kind in load_code(part_of(folder, f"{name}.py")).METHODS.items():
            stages.add_module(method, kind(stages.weights))
    return stages.eval()


def load_code(path):
    name = "hopscope_" + re.sub(r"\W", "_", str(path.absolute()))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def weights_of(stages, code):
    """The weights by their values: of the files, or of stages.pt."""
    if hasattr(stages, "weights"):
        return {weight["value"]: stages.weights[weight["name"]] for weight in code["weights"]}
    return {weight["value"]: getattr(stages, weight["attribute"]) for weight in code["weights"]}


def part_of(folder, name):
    path = pathlib.Path(folder) / name
    if not path.is_file():
        raise Problem(f"{path}: is missing; export the model again")
    return path


def check_weights(folder, schema):
    path, known = part_of(folder, "weights.safetensors"), schema.get("hashes", {}).get("weights")
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 22):
            digest.update(piece)
    if known is not None and known != digest.hexdigest():
        raise Problem(f"{path}: is damaged, or of another export; export the model again")


def load_script(folder):
    path = part_of(folder, "stages.pt")
    try:
        return torch.jit.load(path, "cpu")
    except (RuntimeError, ValueError) as problem:
        raise Problem(f"{path}: is damaged; export the model again ({last_line(problem)})") from None


def read_schema(path):
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        schema = None
    if not isinstance(schema, dict):
        raise Problem(f"{path}: is damaged; export the model again")
    return schema


class Runner:
    """An exported folder. `stages`: the methods to run, instead of those of stage_1.py and so on; for example
    torch.jit.load("stages.pt")."""

    def __init__(self, folder, stages=None):
        keep_memory()
        resolve_vector_math()
        self.folder = pathlib.Path(folder)
        self.schema = read_schema(part_of(self.folder, "schema.json"))
        if self.schema.get("format") != "hopscope-schema" or not self.schema.get("code"):
            raise Problem(f"{folder}: is not an exported folder: its schema.json describes no code")
        if not self.schema["version"].startswith("1."):
            raise Problem(f"{folder}: schema.json has version {self.schema['version']}; this runner reads version 1")
        self.code = self.schema["code"]
        self.tensors = {tensor["value"]: tensor for tensor in self.schema["tensors"]}
        self.inputs = [self.tensors[value] for value in self.schema["inputs"]]
        if stages is None:
            check_weights(self.folder, self.schema)
        self.stages = load_stages(folder, self.code) if stages is None else stages

    def inference(self, **inputs):
        """The outputs for the model's inputs: a tensor, or a dictionary of them where there are several."""
        data = {}
        for name, value in inputs.items():
            flatten(name, value, data)
        with tempfile.TemporaryDirectory(prefix="hopscope-") as folder:
            outputs = {name: store.clone() for name, store in self.run(data, folder).items()}
        return outputs["out"] if list(outputs) == ["out"] else outputs

    def run(self, data, folder, device="cpu", batch=None, report=None):
        """Computes all outputs into files in `folder`, and returns them, mapped. `data`: tensors by input name.
        `report`: is called with a stage's method, the destinations done, and all of them."""
        return Run(self, self.bind(data), folder, torch.device(device), batch, report or (lambda *_: None)).run()

    def bind(self, data):
        """The inputs among the data, checked against the schema."""
        sizes, bound = {}, {}
        data = {**data, **sizes_of_matrices(data)}
        for spec in self.inputs:
            name = spec["name"]
            if name not in data:
                given = ", ".join(sorted(data)) or "nothing"
                raise Problem(f"the model needs '{name}', and the data has {given}")
            tensor = data[name]
            self.check(spec, tensor, sizes)
            bound[name] = tensor
        return bound

    def check(self, spec, tensor, sizes):
        name, dtype = spec["name"], str(tensor.dtype).removeprefix("torch.")
        if not spec["shape"] and tensor.numel() == 1:
            return
        if dtype != spec["dtype"]:
            raise Problem(f"'{name}' is {dtype}, but the model takes {spec['dtype']}")
        if tensor.dim() != len(spec["shape"]):
            raise Problem(f"'{name}' is {tensor.dim()}-dimensional, not {len(spec['shape'])}-dimensional")
        for dim, (size, wanted) in enumerate(zip(tensor.shape, spec["shape"])):
            if isinstance(wanted, int) and size != wanted:
                raise Problem(f"'{name}' has size {size} in dimension {dim}, not {wanted}")
            if isinstance(wanted, str) and sizes.setdefault(wanted, (size, name))[0] != size:
                other, first = sizes[wanted]
                raise Problem(f"'{name}' gives {wanted.strip('|')} this number of rows: {size}, but '{first}' gives {other}")


def flatten(name, value, data):
    """Arguments of forward as the data keys of the schema: "x", "x.user", "xs.0", and the parts of sparse tensors."""
    if isinstance(value, dict):
        for key, item in value.items():
            flatten(f"{name}.{'__'.join(map(str, key)) if isinstance(key, tuple) else key}", item, data)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            flatten(f"{name}.{index}", item, data)
    elif isinstance(value, torch.Tensor) and value.layout == torch.sparse_coo:
        value = value.coalesce()
        data.update({f"{name}.coo_indices": value.indices(), f"{name}.coo_values": value.values()})
        data.update({f"{name}.coo_size.{dim}": torch.tensor(size) for dim, size in enumerate(value.shape)})
    elif isinstance(value, torch.Tensor) and value.layout == torch.sparse_csr:
        data.update({f"{name}.csr_crow": value.crow_indices(), f"{name}.csr_col": value.col_indices(),
                     f"{name}.csr_values": value.values()})
        data.update({f"{name}.csr_size.{dim}": torch.tensor(size) for dim, size in enumerate(value.shape)})
    elif value is not None:
        data[name] = torch.as_tensor(value).detach()


def sizes_of_matrices(data):
    """The sizes of sparse matrices, which files hold in one tensor, as the schema names them: "adj.coo_size.0"."""
    return {f"{name}.{dim}": size for name, tensor in data.items()
            if name.endswith((".coo_size", ".csr_size")) and tensor.dim() == 1 for dim, size in enumerate(tensor)}


class Run:
    """One run of a Runner."""

    def __init__(self, runner, inputs, folder, device, batch, report):
        self.runner, self.code = runner, runner.code
        self.inputs, self.folder = inputs, pathlib.Path(folder)
        self.device, self.batch, self.report = device, batch, report
        self.names = {spec["value"]: spec["name"] for spec in runner.inputs}
        self.prologue, self.stores, self.totals, self.whole = {}, {}, {}, {}
        self.maps = {}

    @torch.inference_mode()
    def run(self):
        with tempfile.TemporaryDirectory(prefix=".hopscope-", dir=self.folder) as scratch:
            self.begin(scratch)
            for loop in self.code["loops"]:
                self.compute(loop)
            return self.outputs()

    def begin(self, scratch):
        """Everything before the first loop; what later loops read is stored in `scratch`."""
        self.scratch = scratch
        self._prologue()
        self.stages = self.runner.stages.to(self.device)

    def _prologue(self):
        """Once for the whole graph, on the CPU, where the graph is."""
        stages = self.runner.stages.to("cpu")
        try:
            self.prologue = stages.prologue(*(self.inputs[name] for name in self.code["prologue"]))
        except (AssertionError, IndexError, RuntimeError) as problem:
            raise Problem(f"the graph does not fit this export: {last_line(problem)}") from None
        self.graph = Graph(self.code, self.prologue)
        self.weights = weights_of(stages, self.code)

    def shape(self, value):
        spec = self.runner.tensors[value]
        return [size if isinstance(size, int) else self.graph.sizes[size.strip("|")] for size in spec["shape"]]

    def table(self, value):
        """All rows of a value, on the host."""
        if value in self.stores:
            return self.stores[value].tensor
        if value in self.names:
            return self.inputs[self.names[value]]
        return self.prologue[value] if value in self.prologue else self.weights[value].to("cpu")

    def whole_value(self, value):
        if value not in self.whole:
            self.whole[value] = self.table(value).to(self.device)
        return self.whole[value]

    # ---- loops

    def compute(self, loop):
        """One loop, for all batches."""
        stage = getattr(self.stages, loop["method"])
        results = [(result, self._target(result)) for result in loop["results"]]
        block = Block(self.graph, loop, self.maps)
        total = self.graph.sizes[loop["destination"]]
        first, largest = 0, self.batch or MOST_DESTINATIONS
        self.report(loop["method"], 0, total)
        while first < total:
            last = self.end(loop, first, min(total, first + largest))
            try:
                self._batch(loop, stage, block, results, first, last)
            except torch.OutOfMemoryError:
                if last - first == 1:
                    raise Problem(f"{loop['method']} runs out of memory even for a single destination", 6) from None
                largest = (last - first) // 2
                self._free()
                continue
            first = last
            self.report(loop["method"], first, total)
        if not total and any(result["merge"] and result["merge"]["kind"].startswith("scatter") for result, _ in results):
            self._batch(loop, stage, block, results, 0, 0)  # tables into which nothing is scattered
        block.begin(0, 0)
        for result, target in results:
            if isinstance(target, Total):
                self.whole[result["value"]] = target.finish().to(self.device)

    def _free(self):
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def _target(self, result):
        value = result["value"]
        spec = self.runner.tensors[value]
        if result["merge"]:
            return Total(result["merge"], getattr(torch, spec["dtype"]))
        if value not in self.stores:
            output = next((o["name"] for o in self.code["outputs"] if o["value"] == value), None)
            folder = self.scratch if output is None else self.folder
            self.stores[value] = Store(folder, output or value, spec["dtype"], self.shape(value), result["dim"])
        return self.stores[value]

    def end(self, loop, first, last):
        """Where a batch ends: earlier than `last` where its destinations own too many rows."""
        if self.batch:
            return last
        kinds = [kind for part in loop["arguments"] + loop["results"] for kind in kinds_of(part)]
        for kind in kinds:
            if kind["kind"] == "owned":
                offsets = self.graph.adjacency(kind["table"], kind["key"]).offsets
                most = int(torch.searchsorted(offsets, int(offsets[first]) + OWNED_ROWS, right=True)) - 1
                last = min(last, max(most, first + 1))
        return last

    def _batch(self, loop, stage, block, results, first, last):
        block.begin(first, last)
        made = iter(stage(*self.arguments(loop, block)))
        for result, target in results:
            if isinstance(target, Total):
                target.add([next(made) for _ in range(result["merge"]["tensors"])], block.rows(result["rows"]).numel())
            elif result["rows"]["kind"] == "batch":
                target.write(slice(first, last), next(made))
            else:
                target.write(block.rows(result["rows"]), next(made))

    def arguments(self, loop, block):
        """What the loop's method is called with for a batch."""
        return [self._argument(argument, block) for argument in loop["arguments"]]

    def _argument(self, argument, block):
        kind = argument["kind"]
        if kind == "count":
            return block.rows(argument["rows"][0]).numel()
        if kind == "size":
            return self.graph.sizes[argument["table"]]
        if kind == "whole":
            return self.whole_value(argument["value"])
        if kind == "rows":
            return self._rows(argument, block).to(self.device)
        work = {"positions": block.positions, "parents": block.selected, "order": block.order}[kind]
        return work(argument).to(self.device)

    def _rows(self, argument, block):
        table, dim, kind = self.table(argument["value"]), argument["dim"], argument["rows"][0]
        if kind["kind"] == "batch":
            return table.narrow(dim, block.first, block.last - block.first)
        return table.index_select(dim, block.rows(kind))

    # ---- results

    def outputs(self):
        rowless = iter(self._results())
        outputs = {}
        for output in self.code["outputs"]:
            name, value = output["name"], output["value"]
            made = self.stores.get(value) if output["rows"] else None
            if made is None or made.name != name:
                tensor = self.table(value) if output["rows"] else next(rowless).to("cpu")
                made = Store(self.folder, name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape), 0)
                made.tensor.copy_(tensor)
            made.finish()
            outputs[name] = made.tensor
        return outputs

    def _results(self):
        if not hasattr(self.stages, "results"):
            return []
        arguments = []
        for argument in self.code["results"]:
            size = argument["kind"] == "size"
            arguments.append(self.graph.sizes[argument["table"]] if size else self.whole_value(argument["value"]))
        return self.stages.results(*arguments)


def last_line(problem):
    """The message of an operator, without TorchScript's traceback."""
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return lines[-1].strip().removeprefix("RuntimeError: ").removeprefix("AssertionError: ") if lines else "no reason"


def kinds_of(part):
    return part["rows"] if isinstance(part["rows"], list) else [part["rows"]]


# ---- the command line


def load(folder):
    """The runner of an exported folder."""
    return Runner(folder)


def progress(quiet):
    """Prints one line per stage, or on a terminal one that is written over."""
    live, began, said = sys.stderr.isatty(), time.monotonic(), [0.0]

    def tell(method, done, total):
        now = time.monotonic()
        if quiet or (done < total and (not live or now - said[0] < 0.1)):
            return
        said[0] = now
        share = 100 * done // total if total else 100
        end = "\n" if done >= total else ""
        print(f"{chr(13) if live else ''}{method}  {share} %  {now - began:.1f} s", end=end, file=sys.stderr, flush=True)

    return tell


class Arguments(argparse.ArgumentParser):
    """Reports a misspelt option even next to --help, with the nearest one."""

    def parse_known_args(self, args=None, namespace=None):
        known = self._option_string_actions
        for word in itertools.takewhile(lambda word: word != "--", args):
            name = word.partition("=")[0] if word.startswith("--") else word[:2]
            if re.match("-[^0-9]", word) and name not in known:
                near = difflib.get_close_matches(name, known, 1)
                raise Problem(f"unknown option '{name}'; " + (f"did you mean '{near[0]}'? " if near else "") + "see run.py --help", 2)
        return super().parse_known_args(args, namespace)


def arguments_of(words):
    parser = Arguments(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--data", action="append", required=True, metavar="DATA",
                        help=f"inputs: {data_forms()}; may be repeated")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder for the results, such as out.npy")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N [default: cpu]")
    parser.add_argument("--batch", type=int,
                        help="destination nodes per batch [default: at most 131,072, with about a million edges]")
    parser.add_argument("--script", action="store_true", help="run stages.pt instead of stage_1.py and so on")
    parser.add_argument("--quiet", action="store_true", help="do not print progress")
    options = parser.parse_args(sys.argv[1:] if words is None else words)
    if options.batch is not None and options.batch < 1:
        parser.error("--batch must be more than 0")
    return options


def partial_folder(output):
    try:
        output.mkdir(parents=True, exist_ok=True)
        return pathlib.Path(tempfile.mkdtemp(prefix=".partial-", dir=output))
    except OSError as problem:
        raise Problem(f"{output}: cannot be written: {problem.strerror}", 6) from None


def check_device(name):
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise Problem(f"unknown device '{name}'; use cpu, cuda or cuda:N", 2)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise Problem("there is no CUDA device that this PyTorch can use", 2)


def execute(options):
    """Results appear under their names when all are there."""
    here = pathlib.Path(__file__).absolute().parent
    check_device(options.device)
    output = pathlib.Path(options.output)
    if output.exists() and not output.is_dir():
        raise Problem(f"{output}: is a file, not a folder")
    runner = Runner(here, load_script(here) if options.script else None)
    data = read_data(options.data)
    made = not output.exists()
    partial = partial_folder(output)
    try:
        runner.run(data, partial, options.device, options.batch, progress(options.quiet))
        for file in sorted(partial.iterdir()):
            os.replace(file, output / file.name)
    except BaseException:
        shutil.rmtree(output if made else partial, ignore_errors=True)
        raise
    partial.rmdir()


def main(words=None):
    try:
        execute(arguments_of(words))
    except Problem as problem:
        print(f"run.py: {problem}", file=sys.stderr)
        return problem.code
    except KeyboardInterrupt:
        print("run.py: cancelled", file=sys.stderr)
        return 130
    except MemoryError:
        print("run.py: out of memory", file=sys.stderr)
        return 6
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError) as problem:
        if sys.flags.dev_mode:  # for those who change the stages
            raise
        said = f"{type(problem).__name__}: {last_line(problem)}"
        print(f"run.py: schema.json, the stages and the data do not fit each other ({said}); export the model again, or let "
              "python -X dev run.py show where", file=sys.stderr)
        return 3
    except OSError as problem:
        print(f"run.py: {problem}", file=sys.stderr)
        return 6
    return 0


if __name__ == "__main__":
    sys.exit(main())
