"""Recorded answers of the engine: a file for each opening of a model, and one, engine.jsonl.gz, for what needs no model. A line, as zcat
shows it, is an exchange,

    {"ask": [method, params], "answer": result}      or "refused": error; of a run also "events", "ends" (states) and "finished"

where documents and runs have no numbers, files no folders, and a plan or a tensor is "@" and the digest of the question whose answer
it was."""
import ast
import gzip
import hashlib
import json
import os
import re
from pathlib import Path

HOME = "/home/engine"  # where the engine seems to run
FOLDER = Path(os.environ.get("HOPSCOPE_RECORDINGS", Path(__file__).parent / "recorded"))
OPENING = ("model", "data", "roles", "reassociate", "cache")  # what decides the answer of model/open
PASSING = ("deadline", "document", "paused", "run", "trusted", "writes")  # what decides none
SETTINGS = (Path(__file__).parents[2] / "packaging/python/src/hopscope/_contract.py").read_text()
# Defaults decide none either.
DEFAULTS = {name: ast.literal_eval(value) for name, value in re.findall(r'Setting\(\n +"(\w+)", "\w+", ([^,]+),', SETTINGS)}
DEFAULTS |= {"against": "", "cache": "", "last": False, "near": False, "output": ""}
FILES = ("against", "file", "folder", "model", "output")
PROOF = ("gap", "lower_bound")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:8]


def plan_text(plan):
    return canonical({name: member for name, member in plan.items() if name not in PROOF})


def rounded(value):
    """Six digits of each number that is no integer."""
    if isinstance(value, dict):
        return {name: rounded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [rounded(member) for member in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


class Book:
    """The exchanges of a file, by the digests of their questions."""

    def __init__(self, file):
        self.file, self.entries, self.plans = file, {}, {}
        for line in gzip.decompress(file.read_bytes()).splitlines() if file.exists() else ():
            self.add(json.loads(line))

    def add(self, entry):
        name = digest(entry["ask"])
        self.entries[name] = entry
        if "plan" in (entry.get("answer") or ()):
            self.plans.setdefault(plan_text(entry["answer"]["plan"]), "@" + name)

    def write(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(entry, separators=(",", ":")) + "\n" for entry in self.entries.values()]
        self.file.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))

    def question(self, method, params, tensors):
        """[method, params] as a file has them. `tensors`: the references of those that the client has."""
        asked = plain(params)
        if isinstance(asked.get("plan"), dict):
            asked["plan"] = self.reference(asked["plan"])
        if method == "plan/load":
            asked["text"] = self.reference(json.loads(asked["text"]))
        if "tensor" in asked:
            asked["tensor"] = tensors.get(asked["tensor"], "none")
        if method == "model/open":
            asked = {name: member for name, member in asked.items() if name in OPENING}
        if method == "run/start":
            asked["breakpoints"] = "breakpoints" in params
        return [method, asked]

    def reference(self, plan):
        return self.plans.get(plan_text(rounded(plan)), "none")


def plain(params):
    """The parameters that decide an answer: files have no folders, and defaults are left out."""
    asked = {name: member for name, member in params.items() if name not in PASSING and member not in (None, [], DEFAULTS.get(name))}
    for name in FILES:
        if name in asked:
            asked[name] = short(asked[name])
    if "data" in asked:
        asked["data"] = [short(file) for file in asked["data"]]
    return asked


def short(file):
    """Samples are below `samples`; where other files are does not matter."""
    return file[file.index("samples/"):] if "samples/" in file else Path(file).name


def book_of(variant, opening=None):
    """`opening`: what model/open was asked, if it was."""
    if opening is None:
        return Book(FOLDER / variant / "engine.jsonl.gz")
    asked = plain({name: member for name, member in opening.items() if name in OPENING})
    more = {name: member for name, member in asked.items() if name not in ("model", "data")}
    stem = Path(asked["model"]).stem + ("" if "data" in asked else "-alone") + ("-" + digest(more) if more else "")
    return Book(FOLDER / variant / f"{stem}.jsonl.gz")
