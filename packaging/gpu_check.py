"""Runs Hopscope on this machine's GPUs, step by step, and says what came out: gpu-check.sh builds and starts it. Needs
nothing but Python's standard library."""
import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import gpu_report  # beside this file

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = [("karate", "gcn"), *(("digits", name) for name in ("gcn", "sage", "gat", "jknet", "residual"))]
CONFIGURATIONS = "12"  # of each model: enough for all pairs of settings within ten models
CHILDREN = str(min(8, max(1, os.cpu_count() // 2)))  # models that run at once
LARGE = {"nodes": 2_400_000, "edges": 120_000_000, "features": 100, "limit": "4Gi"}
SMALL = {"nodes": 2_000, "edges": 20_000, "features": 100, "limit": "6Mi"}
# Options of bench_gpu.py.
RMAT = "--nodes 1048576 --degree 25"
SMALL_RMAT = "--nodes 2000 --degree 6 --rounds 1 --batch 300"
PEERS = {"peers": f"{RMAT} --rounds 5",
         "peers, other convolutions": f"{RMAT} --rounds 3 --models gatv2 transformer resgated gine pna edge --reassociate",
         "peers with a memory limit": "--nodes 2400000 --degree 50 --rounds 3 --models sage --peers loop-uva --memory 4Gi"}
SMALL_PEERS = {"peers": SMALL_RMAT,
               "peers, other convolutions": f"{SMALL_RMAT} --models pna --peers coo --reassociate",
               "peers with a memory limit": f"{SMALL_RMAT} --models sage --peers loop-uva --memory 6Mi"}
HOUR = 3600


class Skip(Exception):
    """The reason why a step cannot be done here."""


class Failed(Exception):
    """What went wrong, and what was printed."""

    def __init__(self, reason, output=""):
        super().__init__(reason)
        self.output = output


def words(*command, limit=HOUR, accepted=(0,), **options):
    """What a command prints; Failed if its exit code is another than those accepted."""
    try:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT,
                              timeout=limit, errors="replace", check=False, **options)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"not done after {limit} s", str(late.stdout or "")[-2000:]) from late
    except OSError as missing:
        raise Failed(str(missing)) from missing
    if done.returncode not in accepted:
        raise Failed(f"exit code {done.returncode}", (done.stdout + done.stderr)[-3000:])
    return done.stdout


def first_line(*command):
    """Of what a program prints that need not be there."""
    try:
        return words(*command, limit=60).strip().split("\n")[0]
    except Failed:
        return ""


class Check:
    def __init__(self, options):
        self.options = options
        self.out = Path(options.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, "HOPSCOPE_TRUST": "/", "XDG_CACHE_HOME": str(self.out / "cache")}
        self.size = SMALL if options.small else LARGE
        self.steps, self.gpus, self.rates = [], [], {}

    # ---- steps: each gives what the table is to say of it, or raises Skip or Failed

    def engine(self, *command, program=None, **options):
        return words(program or self.options.engine, *command, env=self.environment, **options)

    def devices(self):
        found = json.loads(self.engine("devices", "--json", limit=300))
        self.gpus = [device for device in found["devices"] if device["id"].startswith("cuda")][:2]
        if not self.gpus:
            raise Failed(" ".join(found["missing"]) or "there is no GPU here")
        named = ", ".join(f"{gpu['id']} {gpu['name']} of {gpu['memory'] / 2**30:.1f} GiB" for gpu in self.gpus)
        return {"measured": named, "reason": " ".join(found["missing"])}

    def kernels(self):
        """What CTest has for GPUs."""
        if not self.options.build:
            raise Skip("there is no build folder whose tests could be run")
        text = words("ctest", "--test-dir", self.options.build, "-L", "^gpu$", "--output-on-failure")
        if "No tests were found" in text:
            raise Skip("the CUDA kernels were not built, for want of nvcc")
        if "***Skipped" in text or "(Skipped)" in text:
            raise Failed("the tests found no GPU", text[-2000:])
        return {"measured": re.search(r"\d+% tests passed.*", text)[0]}

    def models(self, lists, *options):
        """Runs models by test_models; one line of all its lists together."""
        total, expected, failed = 0, 0, []
        for name in lists:
            text = words(self.options.test_models, name, "--configurations", CONFIGURATIONS, "-j", CHILDREN, *options,
                         accepted=(0, 1), env=self.environment)
            rows = [line for line in text.splitlines() if re.match(r"\S+ +\S+ +[\d.]+ s ", line)]
            total += len(rows)
            ended = re.search(r"^(\d+) models:.*$", text, re.MULTILINE)
            if not ended or "FAILED" in ended[0]:
                failed.append(text[-2000:])
            else:
                expected += int(ended[1])
        if failed:
            raise Failed("not all models came out as expected", "\n".join(failed)[-6000:])
        return {"measured": f"{expected} of {max(total, expected)} models as expected"}

    def samples(self, device):
        name = self.out / "samples.list"
        lines = [f"name={folder}_{model}\tmodel={ROOT}/samples/{folder}/{model}.pt"
                 f"\tdata0={ROOT}/samples/{folder}/graph.safetensors"
                 f"\texpected0={ROOT}/samples/{folder}/{model}.expected.safetensors\tbatches=7,0,-1"
                 for folder, model in SAMPLES[:2 if self.options.small else None]]
        name.write_text("\n".join(lines) + "\n")
        return self.models([name], "--device", device)

    def sandbox(self, device):
        """Commands as users start them: the process that opens the model is confined. The driver starts in it nevertheless, and
        memory runs out with a sentence, for which LibTorch asks another of the driver's libraries (NVML)."""
        out = self.out / "sandbox"
        shutil.rmtree(out, ignore_errors=True)
        asked = ("run", ROOT / "samples/digits/gat.pt", "--data", ROOT / "samples/digits/graph.safetensors", "--device", device,
                 "--quiet", "-o", out)
        self.engine(*asked, "--verify", "full")
        report = json.loads((out / "report.json").read_text())
        shutil.rmtree(out)
        if report["device"] != device:
            raise Failed(f"the run was on {report['device']}")
        self.engine(*asked, "--memory", "1Mi", accepted=(6,))
        return {"measured": f"{report['verify']['verdict']} to forward, {report['confinement']}"}

    def zoo(self, device):
        folder = self.zoo_folder()
        lists = [folder / "convolutions.list"] if self.options.small else sorted(folder.glob("*.list"))
        some = ("--only", "gcn_1", "--only", "gcn_2") if self.options.small else ()
        return self.models(lists, "--device", device, *some)

    def zoo_folder(self):
        """The generated models: those that are there, or new ones."""
        if self.options.zoo:
            return Path(self.options.zoo)
        if not self.options.python:
            raise Skip("no Python here has torch, torch_geometric, safetensors and numpy, which make these models")
        words(self.options.python, "-B", ROOT / "tests/models/zoo.py", self.out / "zoo",
              *([] if self.options.full else ["--cover"]))
        return self.out / "zoo"

    def cora(self, device):
        data = ROOT / "../shared/data"
        if self.options.small:
            raise Skip("left out with --small")
        if not (data / "cora.safetensors").is_file():
            raise Skip("Cora's data are not here")
        text = words(sys.executable, "-B", ROOT / "tests/models/cora.py", data, self.out, "1", self.options.test_models,
                     "--device", device, env=self.environment)
        return {"measured": re.search(r"^\d+ models:.*$", text, re.MULTILINE)[0]}

    def machine(self):
        self.rates = json.loads(self.engine("bench", "machine", "--device", "cuda:0", "--json"))
        copies = self.rates["copies"]
        said = {"up": copies["up"], "down": copies["down"], "messages": self.rates["aggregate"]}
        return {"measured": ", ".join(f"{name} {gpu_report.rate_text(rate)}" for name, rate in said.items()),
                "reason": "" if copies["pinned"] else "without pinned memory: the system gives none"}

    def bench(self, nodes, edges, memory, *options, device="cuda:0"):
        """A run on a generated graph, judged in float64 on every row, beside its bound if it is on one GPU."""
        document = json.loads(self.engine(
            "run", "--device", device, "--nodes", nodes, "--edges", edges, "--features", self.size["features"],
            "--memory", memory, *options, program=self.options.bench, accepted=(0, 5)))
        case = document["cases"][0]
        reference = case["reference"]
        if reference["verdict"] != "equal" or case["verify"]["verdict"] == "different":
            raise Failed(f"{reference['different']} values differ from the float64 reference", json.dumps(case)[-3000:])
        limit = gpu_report.bound(document, self.rates) if device == "cuda:0" else None
        return {"measured": gpu_report.seconds_text(case["seconds"]), "measured_seconds": case["seconds"],
                "reason": f"equal on all {reference['rows']:,} rows", "document": document,
                **({"bound_seconds": limit[0], "walls": limit[1]} if limit else {})}

    def run(self, device="cuda:0"):
        if device.count("cuda") > len(self.gpus):
            raise Skip("there is one GPU")
        factor = 100 if self.options.small else 1
        return self.bench(1_000_000 // factor, 16_000_000 // factor, "1Gi", device=device)

    def large(self, memory):
        """The graph is made once."""
        folder = self.out / "large"
        needed = 8 * self.size["nodes"] * 450 + 24 * self.size["edges"]  # stores, reference and graph
        if shutil.disk_usage(self.out).free < needed:
            raise Skip(f"{needed / 1e9:.0f} GB of disk are needed in {self.out}")
        return self.bench(self.size["nodes"], self.size["edges"], memory, "--folder", folder)

    def peers(self, options):
        """PyG's variants, an expert's layers and loops beside the engine."""
        python = self.options.python
        if not python:
            raise Skip("no Python here has torch, torch_geometric, safetensors and numpy, which the peers need")
        found = first_line(python, "-c", "import torch; print(torch.cuda.is_available())") == "True"
        if not found and not self.options.small:
            raise Skip(f"the peers need a torch with CUDA, and that of {python} finds no GPU")
        document = json.loads(self.engine(
            "-B", "-W", "ignore", ROOT / "tests/peers/bench_gpu.py", "--engine", self.options.engine, "--device", "cuda:0",
            "--json", *options.split(), program=python, accepted=(0, 5)))
        if document["wrong"]:
            raise Failed("; ".join(document["wrong"]), gpu_report.aligned(gpu_report.peer_lines(document)))
        return {"measured": f"host to host, peer / engine: {gpu_report.nearest_peers(document)}", "peers": document}

    def sanitizer(self):
        tool = shutil.which("compute-sanitizer") or shutil.which(
            "compute-sanitizer", path=os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin")
        tests = Path(self.options.build or "") / "bin/test_kernels_cuda"
        if not tool:
            raise Skip("compute-sanitizer is not installed")
        if not self.options.build or not tests.is_file():
            raise Skip("the CUDA kernels were not built")
        for check in ("memcheck", "racecheck", "initcheck"):
            words(tool, "--tool", check, "--error-exitcode", "9", tests)
        return {"measured": "memcheck, racecheck, initcheck"}

    # ---- all of it

    def step(self, name, work, *arguments):
        """Does a step, whatever became of those before, and says how it went."""
        print(f"== {name}", flush=True)
        result, began = {"name": name, "measured": ""}, time.monotonic()
        try:
            if self.steps and not self.gpus:
                raise Skip("there is no GPU")
            result.update(work(*arguments), verdict="passed")
        except Skip as skip:
            result.update(verdict="skipped", reason=str(skip))
        except Failed as failure:
            result.update(verdict="FAILED", reason=str(failure), output=failure.output)
        except (ValueError, KeyError, TypeError, IndexError, OSError) as surprise:
            result.update(verdict="FAILED", reason=f"the answer was not understood: {surprise!r}")
        result["took_seconds"] = round(time.monotonic() - began, 3)
        if result["verdict"] == "passed" and "measured_seconds" not in result and self.steps:
            result["measured"] += f" in {gpu_report.seconds_text(result['took_seconds'])}"
        self.steps.append(result)
        print(f"-- {name}: {result['verdict']} {result.get('reason', '')} ({result['took_seconds']:.1f} s)", flush=True)

    def everything(self):
        self.step("devices", self.devices)
        steps, only = list(self.after_devices()), self.options.only or []
        names = {name.split(" on cuda:")[0] for name, *_ in steps}
        if unknown := set(only) - names:
            raise SystemExit(f"unknown step '{min(unknown)}'; there are {', '.join(sorted(names))}")
        for name, *work in steps:
            if not only or name.split(" on cuda:")[0] in only:
                self.step(name, *work)
        shutil.rmtree(self.out / "large", ignore_errors=True)

    def after_devices(self):
        """The other steps in their order: name, work, arguments."""
        yield "kernels", self.kernels
        for gpu in self.gpus or [{"id": "cuda:0"}]:
            for name in ("sandbox", "samples", "zoo", "cora"):
                yield f"{name} on {gpu['id']}", getattr(self, name), gpu["id"]
        yield "bench machine", self.machine
        yield "run", self.run
        yield "run on two GPUs", self.run, "cuda:0,cuda:1"
        yield "large run", self.large, int(self.gpus[0]["memory"] * 0.9) if self.gpus else 0
        yield f"large run in {self.size['limit']}", self.large, self.size["limit"]
        if self.options.peers:
            for name, options in (SMALL_PEERS if self.options.small else PEERS).items():
                yield name, self.peers, options
        yield "compute-sanitizer", self.sanitizer

    def facts(self):
        """What somebody else would ask about this machine."""
        gpu = self.gpus[0] if self.gpus else {}
        link = first_line("nvidia-smi", "--query-gpu=pcie.link.gen.max,pcie.link.width.max,pstate", "--format=csv,noheader")
        changed = "" if not first_line("git", "-C", ROOT, "status", "--porcelain", "-uno") else ", changed"
        cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        return {"GPU": gpu.get("name", "none"), "driver": gpu.get("driver", ""), "PCIe generation, width, state": link,
                "CPU": f"{cpu[1] if cpu else platform.machine()}, {os.cpu_count()} threads",
                "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
                "system": platform.platform(), "program": first_line(self.options.engine, "--version"),
                "LibTorch": self.options.torch, "nvcc": self.options.nvcc,
                "commit": first_line("git", "-C", ROOT, "rev-parse", "HEAD") + changed,
                "sizes": "small" if self.options.small else "full",
                "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}

    def report(self):
        failed = any(step["verdict"] == "FAILED" for step in self.steps)
        skipped = sum(step["verdict"] == "skipped" for step in self.steps)
        verdict = "FAILED" if failed else "passed" + (f", {skipped} steps skipped" if skipped else "")
        return {"format": "hopscope-gpu-check", "version": 1, "verdict": verdict, "machine": self.facts(),
                "rates": self.rates, "steps": self.steps}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True, help="hopscope-engine")
    parser.add_argument("--bench", required=True, help="hopscope-bench")
    parser.add_argument("--test-models", required=True, help="test_models")
    parser.add_argument("--out", required=True, help="a folder for the report and for scratch files")
    parser.add_argument("--build", help="the build folder, for its kernel tests")
    parser.add_argument("--zoo", help="the generated models, if they are there already")
    parser.add_argument("--python", help="a Python with torch and torch_geometric, which makes them and runs the peers")
    parser.add_argument("--torch", default="", help="LibTorch's version, for the report")
    parser.add_argument("--nvcc", default="", help="nvcc's version, for the report")
    parser.add_argument("--full", action="store_true", help="all generated models, not only those of the default tests")
    parser.add_argument("--peers", action="store_true", help="PyG, an expert's layers and loops beside the engine")
    parser.add_argument("--small", action="store_true", help="sizes for a test of this script")
    parser.add_argument("--only", action="append", metavar="STEP", help="only this step and `devices`; may be repeated")
    return parser.parse_args()


def main():
    check = Check(parse())
    check.everything()
    report = check.report()
    gpu_report.write(report, check.out)
    print(f"\n{gpu_report.table(check.steps)}\n")
    for step in check.steps:
        if step.get("peers"):
            print(f"{gpu_report.aligned(gpu_report.peer_lines(step['peers']))}\n")
    print(f"{report['verdict']}; the report, for an issue: {check.out}/gpu-check-report.md and .json")
    return 1 if report["verdict"] == "FAILED" else 0


if __name__ == "__main__":
    sys.exit(main())
