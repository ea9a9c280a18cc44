"""Writes docs/reference/coverage.md: which models run layer by layer with equal results, and which are refused, with the reason.

Usage: coverage.py TEST_MODELS ZOO [-o docs/reference/coverage.md] [--group NAME]... [--page OLD] [--rows DIR] [--most-misses PERCENT]
ZOO is what zoo.py has written; TEST_MODELS runs each of its models on two graphs in all configurations of the CPU: batches of
1, 7 and all destinations, plans `depth`, `source-rule` and `optimal`, and so on. --rows keeps what it printed, and reads it where it is
there already. --page takes the groups that are not named by --group from an earlier page. Fails if a number is wrong, a
model crashes or hangs, or more are refused than the maths asks for.
"""
import argparse
import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import dataclass, field

HEADINGS = {
    "convolutions": "PyG convolutions, traced", "scripted": "PyG convolutions, scripted",
    "further": "Further convolutions, models, dtypes", "field": "Models as the field writes them",
    "structures": "Architectures",
    "compressed_rows": "Compressed rows (`rowptr`, `col`)", "bags": "Bags of rows (`words`, `offsets`)", "adjacencies": "Pairs of inputs, sparse adjacencies",
    "counted_rows": "Rows counted by the largest number of an index",
    "learned_rows": "Weights with rows of their own", "added_rows": "Rows that forward adds to those of a table", "neighbour_tables": "Tables of neighbours (`[N, K]`)",
    "typed": "Several types, norms, readouts", "whole_graphs": "Readouts that need all rows of a graph", "writings": "Views, writes in place, spellings",
    "numbers": "Sizes and row numbers", "positions": "Rows by where they lie", "sharing": "Shared memory",
    "signatures": "Every class of `torch_geometric.nn`, with options drawn from its signature",
    "refused": "What cannot be split",
    "programs": "Random programs", "table_programs": "Random programs over the operators",
    "row_programs": "Random programs that hold every operator", "wide_programs": "Random programs over many kinds of rows",
    "operators": "Operators",
    "composites": "Composite operators, per node",
    "exported": "Exported programs (`.pt2`)", "decomposed": "Exported programs, decomposed to core ATen",
}
PROGRAMS = ("operators", "programs", "table_programs", "row_programs", "wide_programs")
ROW = re.compile(r"^(\S+)\s+(equal|refused|[A-Z][A-Z ]*[A-Z])\s+([\d.]+) s  (.*)$")
ERROR = re.compile(r"error (\S+) abs")
LAYERS = re.compile(r"_([1234])(?=_scripted|$)")
PROGRAM = re.compile(r"(?<=program)_\d+$")
NOT_EXPORTED = {
    "MessagePassing": "the base class",
    "CuGraphSAGEConv": "needs cuGraph", "CuGraphGATConv": "needs cuGraph", "CuGraphRGCNConv": "needs cuGraph",
    "FusedGATConv": "needs dgNN", "SplineConv": "needs torch-spline-conv", "GravNetConv": "needs torch-cluster",
    "DynamicEdgeConv": "needs torch-cluster", "XConv": "needs torch-cluster", "PANConv": "needs torch-sparse",
    "WLConv": "hashes labels in Python: tracing would keep those of one graph",
    "HGTConv": "tracing keeps the numbers of nodes of one graph (the offsets of its types)",
    "MeshCNNConv": "not tried: four neighbours of each edge by position",
}
# What no way of computing a model layer by layer could give; every other refusal is a miss.
FORCED = re.compile("rows by rows|in sequence|depend on features|depends on features|random|reads a number from features|"
                    "size is baked|depends on the order|a branch depends|trip count|positions of rows|"
                    "changes the order of the rows|at once|may have been baked in|dense product|aten::cdist|"
                    "multi_head_attention|all pairs of rows|are in the file")


FORECAST = "forecast"  # equal, but its peak of memory is not the one that was predicted


@dataclass
class Result:
    group: str
    name: str
    verdict: str
    detail: str
    count: int = 1           # models; several in a line of an earlier page

    @property
    def error(self):
        found = ERROR.search(self.detail)
        return float(found.group(1)) if found else 0.0

    @property
    def miss(self):
        return self.verdict in ("REFUSED", "refused") and not FORCED.search(self.detail)

    @property
    def wrong(self):
        return self.verdict not in ("equal", "refused", "REFUSED", FORECAST)


@dataclass
class Line:
    """The results of one model in all of its forms."""
    name: str
    forms: Counter = field(default_factory=Counter)
    results: list = field(default_factory=list)


def run_group(group, arguments):
    kept = os.path.join(arguments.rows, f"{group}.txt") if arguments.rows else ""
    if kept and os.path.exists(kept):
        return open(kept).read()
    command = [arguments.test_models, f"{arguments.zoo}/{group}.list", "-j", "1"]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    if kept:
        open(kept, "w").write(text)
    return text


def sections(path):
    """The parts of a page under its headings."""
    parts = re.split(r"^## (.*)\n", open(path).read(), flags=re.MULTILINE) if path else [""]
    return {heading: text.strip("\n") for heading, text in zip(parts[1::2], parts[2::2])}


def results_on_page(group, text):
    """The lines of an earlier page: how many models each is about, and what came out."""
    found = []
    for line in text.splitlines()[2:]:
        if not line.startswith("|"):
            continue
        name, forms, result = [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:4]]
        each = re.split(r", (?=\d|traced|scripted|alone)", forms)
        count = sum(int((re.match(r"\d+", form) or ["1"])[0]) for form in each)
        verdict, _, detail = result.partition(": ")
        found.append(Result(group, name, verdict, detail, count))
    return found


def results_of(group, text):
    rows = [row.group(1, 2, 4) for row in map(ROW.match, text.splitlines()) if row]
    return [Result(group, name, FORECAST if detail.startswith("predicted memory is off") else verdict, detail)
            for name, verdict, detail in rows]


def condensed(results):
    """One line per model: gcn_1, gcn_2_scripted and gcn_alone are forms of gcn."""
    lines = {}
    for result in results:
        base = PROGRAM.sub("", LAYERS.sub("", result.name))
        form = "scripted" if base.endswith("_scripted") else "traced"
        for ending, other in (("_scripted", form), ("_alone_pair", "alone, with a pair"), ("_alone", "alone")):
            if base.endswith(ending):
                base, form = base[:-len(ending)], other
                break
        line = lines.setdefault(base, Line(base))
        line.forms[form] += 1
        line.results.append(result)
    return list(lines.values())


def sentence(detail):
    """The engine's sentence without what test_models adds, and without paths."""
    text = re.sub(r" \[[^\]]*\]$", "", detail).split(" (hint")[0]
    return re.sub(r"/\S*/", "", text).replace("|", "\\|").strip()


def table(group, results, scripted):
    rows = [f"## {HEADINGS[group]}", "", "| model | forms | result | largest error |", "|---|---|---|---|"]
    for line in condensed(results):
        forms = ", ".join(f"{number} {form}" if number > 1 else form for form, number in line.forms.items())
        forms = forms.replace("traced", "scripted") if group == "scripted" else forms
        bad = [r for r in line.results if r.verdict != "equal"]
        verdict = f"{bad[0].verdict.lower()}: {sentence(bad[0].detail)}" if bad else "equal"
        error = "" if bad and len(bad) == len(line.results) else f"{max(r.error for r in line.results):.1e}"
        rows.append(f"| {line.name} | {forms} | {verdict} | {error} |")
    return rows + [""]


def not_tried(group, arguments):
    """A paragraph: what zoo.py could not write, and why."""
    path = os.path.join(arguments.zoo, f"{group}.untried")
    lines = [line.strip().split("\t") for line in open(path)] if os.path.exists(path) else []
    reasons = {LAYERS.sub("", name): reason for name, reason in lines}
    return ["Not tried: " + "; ".join(f"{name} ({sentence(reason)})" for name, reason in reasons.items()) + ".", ""] if reasons else []


def classes_in(path):
    """The modules of an archive, by its code: some of the files cannot be loaded by torch.jit.load."""
    with zipfile.ZipFile(path) as archive:
        code = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")]
    return {kind for text in code for kind in re.findall(r"^class (\w+)\(Module\)", text, re.MULTILINE)}


def classes_of(arguments, results):
    """For each convolution of PyG, the models whose archives hold it."""
    held = {}
    for result in results:
        path = f"{arguments.zoo}/{result.group}/{result.name}.pt"
        if result.verdict != "equal" or not os.path.exists(path) or result.group in PROGRAMS:
            continue
        for kind in classes_in(path):
            held.setdefault(kind, []).append(result.name)
    return held


def class_table(arguments, results):
    import torch_geometric.nn.conv as convolutions

    held = classes_of(arguments, results)
    rows = ["## Classes of `torch_geometric.nn.conv`", "", "| class | equal in | otherwise |", "|---|---|---|"]
    without = []
    for name in convolutions.__all__:
        models = held.get(name, [])
        if not models and name not in NOT_EXPORTED:
            without.append(name)
        reason = NOT_EXPORTED.get(name, "") if not models else ""
        rows.append(f"| {name} | {len(models) or ''} | {reason or ('' if models else 'refused: see below')} |")
    return rows + [""], without


def summary(results):
    counts = Counter()
    for r in results:
        verdict = "wrong" if r.wrong else "forecast" if r.verdict == FORECAST else "miss" if r.miss else "refused"
        counts["equal" if r.verdict == "equal" else verdict] += r.count
    share = 100 * counts["miss"] / max(counts.total(), 1)
    text = (f"{counts.total()} models: {counts['equal']} equal, {counts['refused']} refused because the maths rules out a split, "
            f"{counts['miss']} refused although it does not ({share:.1f} %), {counts['wrong']} wrong")
    text += f", {counts['forecast']} equal, but with a peak of memory that differs from the prediction." if counts["forecast"] else "."
    return text, share, counts["wrong"] + counts["forecast"]


INTRODUCTION = """# Coverage

`tests/models/coverage.py` writes this page from the models of `tests/models`. They are built with PyTorch {torch} and PyG
{pyg}, saved as TorchScript, and run layer by layer on two graphs each: in batches of 1, 7 and all destinations, in order
and shuffled, by the plans `depth`, `source-rule` and `optimal`, with some values stored on request.

`equal` means that every output of every run agrees with eager PyTorch within 1e-5 + 1e-4 of the value, and that every run moves the
predicted bytes. The tolerance of half types is some of their last digits. The tolerance of random programs is the effect of a change in
the last digit of their inputs. The last column is the largest absolute difference over all runs.

The page does not count some thirty models that test sentences of refusals and the rewrites that their hints suggest
(`refusal_sentences.py`), since they would distort the shares. Unmodified models of public packages have
[a page of their own](coverage-packages.md).

{summary}{made}
"""


CLASSES = "Classes of `torch_geometric.nn.conv`"


def made_from(arguments):
    if not arguments.page:
        return ""
    again = ", ".join(HEADINGS[group] for group in arguments.group)
    return f"\n\nThese sections were measured again for this page: {again}. The other sections are those of the previous version of this page."


def document(arguments, results, kept):
    import torch
    import torch_geometric

    classes, without = ([f"## {CLASSES}", "", kept[CLASSES], ""], []) if CLASSES in kept else class_table(arguments, results)
    text, share, wrong = summary(results)
    lines = [INTRODUCTION.format(torch=torch.__version__.split("+")[0], pyg=torch_geometric.__version__, summary=text,
                                 made=made_from(arguments))]
    lines += classes
    for group in HEADINGS:
        some = [r for r in results if r.group == group]
        if HEADINGS[group] in kept:
            lines += [f"## {HEADINGS[group]}", "", kept[HEADINGS[group]], ""]
        elif some:
            lines += table(group, some, group == "scripted") + not_tried(group, arguments)
    return "\n".join(lines).rstrip() + "\n", share, wrong, without


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test_models")
    parser.add_argument("zoo")
    parser.add_argument("-o", "--output", default="")
    parser.add_argument("--group", action="append", choices=list(HEADINGS))
    parser.add_argument("--page", default="")
    parser.add_argument("--rows", default="")
    parser.add_argument("--most-misses", type=float, default=3.0)
    arguments = parser.parse_args()
    if arguments.rows:
        os.makedirs(arguments.rows, exist_ok=True)
    results = []
    kept = {heading: text for heading, text in sections(arguments.page).items()
            if heading not in [HEADINGS[group] for group in arguments.group or HEADINGS]}
    for group in HEADINGS:
        if HEADINGS[group] in kept:
            results += results_on_page(group, kept[HEADINGS[group]])
        elif group in (arguments.group or HEADINGS):
            results += results_of(group, run_group(group, arguments))
    text, share, wrong, without = document(arguments, results, kept)
    if arguments.output:
        open(arguments.output, "w").write(text)
    print(summary(results)[0])
    for result in results:
        if result.wrong or result.miss:
            print(f"{result.group}/{result.name}: {result.verdict}: {sentence(result.detail)}")
    if without:
        print("classes in no model that comes out equal: " + ", ".join(without))
    sys.exit(1 if wrong or share > arguments.most_misses else 0)


if __name__ == "__main__":
    main()
