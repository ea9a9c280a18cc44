"""Checks the sources of core/, widgets/, app/ and tools/ against the module map: who may include and link whom, and where each
third-party library lives. Checks the modules of the Python package against their layers. Returns findings as sentences; what
calls it decides what to do with them.

Run by itself (`python3 boundaries.py [ROOT]`) it prints the findings and exits with 1 if there are any.
"""

import ast
import re
import sys
from pathlib import Path

# What each module may use directly; it may also use all that those may use. Everything may use base.
MODULES = {
    "base": [],
    "operators": ["base"],
    "ir": ["base"],
    "json": ["base"],
    "solver": ["base"],
    "optimiser": ["solver", "json"],
    "kernels": ["base"],
    "confine": ["base"],
    "gpu": ["base"],
    "plan": ["ir"],
    "graph": ["json"],
    "analysis": ["ir", "operators"],
    "placement": ["analysis", "plan", "optimiser"],
    "schema": ["plan", "analysis", "json"],
    "loader": ["ir", "json", "operators"],
    "executor": ["plan", "analysis", "graph", "kernels", "gpu"],
    "verify": ["loader", "executor", "schema", "placement"],
    "export": ["executor", "schema"],
    "receptive": ["loader", "executor", "schema"],
    "debugger": ["loader", "executor", "schema"],
    "pipeline": ["confine", "verify", "export", "receptive", "debugger"],
    "protocol": ["schema"],
    "style": [],
    "manual": ["style"],
    "models": ["protocol"],
    "jobs": ["models"],
    "graphview": ["manual", "models", "style"],
    "plots": ["models", "style"],
    "panels": ["jobs", "plots"],
    "study": ["panels"],
}
# Those below widgets/; the others are below core/.
WIDGETS = {"style", "manual", "models", "jobs", "graphview", "plots", "panels", "study"}
# Where programs are, which may use all modules of core/.
PROGRAM_FOLDERS = ("app", "tools")
# What a program may use besides the modules of core/.
PROGRAMS = {"app/hopscope": WIDGETS}
# Sub-folders of modules and programs, and which sub-folders of the same folder each may use. Files in the folder itself may
# use all of them; sub-folders may include only those of its headers that FRONTS lists.
PARTS = {
    "app/engine": {"cli": ["server"], "server": [], "sampling": []},
    "core/analysis": {"lowering": [], "naming": [], "roles": [], "rows": ["lowering", "naming", "roles"]},
    "core/executor": {
        "device": [],                     # accelerators with their queues, memory and its limit, staging memory
        "calls": [],                      # single operators through LibTorch, numbers, dense layers, reductions
        "program": [],                    # loops as instructions: fusion, strips, reading in place
        "structure": ["calls", "program"],  # key columns, adjacencies, values of the prologue, and their cache
        "rows": ["structure"],            # blocks, frontiers, ranges of destinations
        "stores": ["rows"],               # rows of values in files and in memory, windows, reading ahead
        "session": ["device", "stores"],  # the state of a run, and its tables that are resident on a GPU
        "batch": ["session"],             # feeds and computes one batch
        "loop": ["batch"],                # compiles and sizes loops, and runs all their batches: pipelined, in tiles, streamed
        "recovery": ["loop"],             # resumes runs, and divides them among processes
        "run": ["recovery"],              # the whole run: orders of nodes, tiling, stages, results
        "unsplit": ["structure"],         # evaluation on whole tensors; what it does not use, it does not share with a run
        "measuring": ["device", "calls"],  # rates and walls of a machine
        "forecast": ["loop"],             # rows, traffic, memory and time, without a run
    },
    "core/loader": {"archive": [], "exported": ["archive"], "walk": []},
    "core/pipeline": {
        "files": [],                          # output folders, their locks, text files
        "machine": ["files"],                 # devices, rates and walls of machines
        "opening": ["files"],                 # from model files and data to an analysed model; trust, lints
        "planning": ["machine", "opening"],   # plans, predictions, explanations, repairs
        "debugging": ["planning"],            # the debugger and receptive fields
        "running": ["debugging"],             # runs with their checks, journals and reports
        "publishing": ["running"],            # whole evaluations, exports, comparisons
    },
    "widgets/graphview": {"fold": [], "layout": ["fold"], "scene": ["layout"], "view": ["scene"]},
    "widgets/study": {"animation": [], "common": [], "debugger": ["common"], "lessons": [], "monitor": ["tensors"], "receptive": [],
                      "rules": [], "tensors": ["common"]},
}
# Headers of a folder that its sub-folders may include.
FRONTS = {
    "app/engine": ["version.h"],
    "core/analysis": ["analysis.h"],
    "core/executor": ["events.h", "exception_boundary.h", "executor.h", "failure.h", "input_rows.h", "journal.h", "measure.h",
                      "memory.h", "overlap.h", "probe.h", "recipes.h", "structure.h", "unsplit.h"],
    "core/loader": ["bounds.h", "custom_ops.h", "loader.h", "names.h", "one_thread.h", "parts.h", "registry.h", "save_module.h",
                    "scopes.h", "size_expression.h", "tensors.h", "torch_model.h"],
    "core/pipeline": ["options.h", "reporter.h"],
    "widgets/study": ["study.h"],
}
# Sub-folders are private to their module or program, except these headers, or all headers of a folder ("naming/").
DOORS = {
    "core/analysis": ["naming/", "roles/int_column.h", "roles/roles.h", "roles/row_copy.h", "roles/sample.h", "roles/tracing.h",
                      "rows/classes.h"],
    "core/executor": ["forecast/predict.h"],
    "core/loader": ["archive/archive.h", "walk/allow_list.h"],
    "core/pipeline": ["debugging/", "files/home.h", "files/output_folder.h", "files/partial_folder.h", "files/text_file.h", "machine/",
                      "opening/inspection.h", "opening/labels.h", "opening/prepare.h", "opening/trust.h", "planning/choice.h",
                      "planning/explanation.h", "planning/memory_fit.h", "planning/planner.h", "planning/prediction.h",
                      "planning/repairs.h", "planning/stage_memory.h", "planning/walkthroughs.h", "publishing/against.h",
                      "publishing/evaluate.h", "publishing/export_folder.h", "publishing/publish.h", "running/execute.h",
                      "running/records.h", "running/run_journal.h"],
    "widgets/graphview": ["view/graph_actions.h", "view/graph_panel.h"],
    "widgets/study": ["animation/animation_panel.h", "debugger/debug_panel.h", "lessons/", "receptive/field_text.h",
                      "receptive/receptive_panel.h", "rules/rules_panel.h", "tensors/tensor_panel.h"],
}
# Those that see Qt. LibTorch's headers never meet Qt's.
QT_MODULES = WIDGETS | {"app/hopscope"}
# Single headers that a module may include although the map does not let it use their module.
SINGLE_HEADERS = {
    "executor": ["loader/loader.h", "loader/one_thread.h", "loader/registry.h", "loader/tensors.h"],
    "export": ["loader/loader.h", "loader/registry.h", "loader/save_module.h", "loader/tensors.h"],
}
# Modules that may see LibTorch; in app/ nothing may, not even through other headers.
TORCH_MODULES = {"loader", "executor", "verify", "export", "receptive", "debugger", "tools/bench"}

# Third-party headers (by prefix) and link targets (by pattern), and the modules in which they may appear.
THIRD_PARTY = [
    ("nlohmann/", r"nlohmann_json", {"json"}),
    ("tl/", r"tl::expected", {"base"}),
    ("fmt/", r"fmt", {"base", "app/engine/cli"}),
    ("spdlog/", r"spdlog", {"app/engine/cli"}),
    ("CLI/", r"CLI11", {"app/engine/cli", "tools/bench"}),
    ("hwy/", r"hwy|hwy::hwy|highway", {"kernels"}),
    ("interfaces/highs", r"hopscope_highs", {"solver"}),
    ("cuda", r"CUDA::|cudart", {"kernels"}),
    ("seccomp.h", r"SECCOMP|seccomp", {"confine"}),
    ("xxhash", r"xxhash|xxHash", {"base", "graph", "loader", "schema"}),
    ("zip.h", r"libzip|zip", {"loader"}),
    ("zlib.h", r"ZLIB|z$", {"loader"}),
    ("qcustomplot", r"QCustomPlot", {"plots"}),
    ("graphviz/", r"PkgConfig::GRAPHVIZ|cgraph|gvc", {"app/layout"}),
    ("Q", r"Qt6::", QT_MODULES),
    ("torch/", r"hopscope_libtorch|torch", TORCH_MODULES),
    ("ATen/", r"ATen", TORCH_MODULES),
    ("c10/", r"c10", TORCH_MODULES),
    ("caffe2/", r"torch", {"loader"}),
]
# The layers of the Python package: a module may import those of its own layer and of the layers above it in this list.
PACKAGE = Path("packaging/python/src/hopscope")
LAYERS = {
    "errors, settings, texts": "_arguments _contract _failures _figures _html _keywords _later _log _options _problem _progress "
                               "_settings _svg _table _version _words errors",
    "results as objects": "_reading documents findings reports",
    "data as files": "_counts _edges _forms _formats _ogb _onnx _records _scratch arrays data",
    "the engine's process": "_engine _frames _process _serve _serve_home",
    "models as files": "_decisions _held _program _samples _sparse _state _trace _tracing _trial calling saving",
    "workers": "_cluster _crew _driver _ray _run_events _shards _worker",
    "functions of the package": "_files _inference _resuming _window commands comparing debug exporting flow window",
    "programs": "__init__ __main__ _served_run _serving scale",
}
SYSTEM = re.compile(
    r"(sys/\w+|linux/\w+|dirent|link|fcntl|unistd|signal|poll|dlfcn|errno|pthread|sched|spawn|termios|immintrin|malloc)\.h")
SYSTEM_LIBRARIES = re.compile(r"Threads::Threads|dl|rt|m|\$\{CMAKE_DL_LIBS\}")
STANDARD = re.compile(r"[a-z_0-9]+")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', re.MULTILINE)
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


def closure(name, edges):
    """All that can be reached from name (without name itself, unless there is a cycle)."""
    reached, waiting = set(), list(edges.get(name, ()))
    while waiting:
        item = waiting.pop()
        if item not in reached:
            reached.add(item)
            waiting.extend(edges.get(item, ()))
    return reached


def module_of(path):
    """'ir' for core/ir/program.h, 'plots' for widgets/plots/lanes.h, 'app/engine' for app/engine/main.cpp."""
    return "/".join(path.parts[:2]) if path.parts[0] in PROGRAM_FOLDERS else path.parts[1]


def home_of(module):
    """The folder of a module, as 'core/ir'."""
    return f"widgets/{module}" if module in WIDGETS else f"core/{module}"


def sources(root):
    """Relative paths of all C++ sources that the map speaks about, with their includes as (angled, quoted)."""
    found = {}
    for top in ("core", "widgets", *PROGRAM_FOLDERS):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES and len(path.relative_to(root).parts) > 2:
                found[path.relative_to(root)] = INCLUDE.findall(path.read_text())
    return found


def may_use(module, other):
    if module.startswith(PROGRAM_FOLDERS):
        return other not in WIDGETS or other in PROGRAMS.get(module, ())
    if module == other:
        return True
    return other == "base" or other in closure(module, MODULES)


def part_of(path):
    """The sub-folder of its module or program that a file is in, as 'cli', or '' where it is in none."""
    return path.parts[2] if len(path.parts) > 3 else ""


def own_header(path, header, root):
    """A program's own header, as a path below root: in its folder (or made from a file there), or by the program's name."""
    if path.parts[0] not in PROGRAM_FOLDERS:
        return None
    program = Path(*path.parts[:2])
    for found in (program / header, program / f"{header}.in"):
        if (root / found).is_file():
            return found
    named = Path(path.parts[0]) / header
    return named if (root / named).is_file() and header.split("/")[0] == path.parts[1] else None


def check_part(path, target):
    """Files of one module or program: a sub-folder uses those that the map gives it."""
    folder, part, other = "/".join(path.parts[:2]), part_of(path), part_of(target)
    if not part or part == other or other in closure(part, PARTS.get(folder, {})):
        return []
    if not other and target.name.removesuffix(".in") in FRONTS.get(folder, []):
        return []
    return [f"{path}: {folder}/{part} must not use {folder}/{other or target.name}"]


def private_to(header):
    """The modules within which a header stays, by its first comment; empty: it is for all."""
    found = re.search(r"^// Private to ([a-z_, ]+?)(?: and ([a-z_]+))?[:.]", header.read_text(), re.MULTILINE)
    return {word for group in found.groups() if group for word in group.split(", ")} if found else set()


def check_quoted(path, header, root):
    """An include of the project's own: it names its module, exists, and the map allows it."""
    module, other = module_of(path), header.split("/")[0]
    own = own_header(path, header, root)
    if own is not None:
        return check_part(path, own)
    target = Path(home_of(other)).parent / header
    if other not in MODULES or not any((root / f"{target}{made}").is_file() for made in ("", ".in")):
        return [f'{path}: "{header}" is no header of a module (they are named "module/file.h")']
    if module == other:
        return check_part(path, target)
    folder, below = home_of(other), target.relative_to(home_of(other))
    if part_of(target) and not {f"{part_of(target)}/", below.as_posix()} & set(DOORS.get(folder, ())):
        return [f"{path}: {target} is private to {folder}"]
    homes = private_to(root / target) if (root / target).is_file() else set()
    if homes and module not in homes:
        return [f"{path}: {target} is private to {' and '.join(sorted(homes))}"]
    if may_use(module, other) or header in SINGLE_HEADERS.get(module, []):
        return []
    return [f'{path}: {module} must not use {other} ("{header}")']


def check_angled(path, header):
    """A system header, or one of a library that is at home in this module."""
    module = module_of(path)
    names = {module, f"{module}/{part_of(path)}"}
    for prefix, _, homes in THIRD_PARTY:
        if header.startswith(prefix):
            return [] if names & homes else [f"{path}: <{header}> belongs in {' or '.join(sorted(homes))} only"]
    if STANDARD.fullmatch(header) or SYSTEM.fullmatch(header):
        return []
    return [f"{path}: <{header}> is of no library that the map knows"]


def home(path):
    return tuple(home_of(module_of(path)).split("/"))


def check_includes(found, root):
    findings = []
    for path, includes in found.items():
        if path.parts[0] not in PROGRAM_FOLDERS and (module_of(path) not in MODULES or path.parts[:2] != home(path)):
            findings.append(f"{path}: the map has no module {module_of(path)}")
            continue
        for angled, quoted in includes:
            findings += check_quoted(path, quoted, root) if quoted else check_angled(path, angled)
    return findings


def check_parts(found):
    """Every sub-folder is one that the map knows."""
    folders = sorted({("/".join(path.parts[:2]), part_of(path)) for path in found if part_of(path)})
    return [f"{folder}: the map has no part {part}" for folder, part in folders if part not in PARTS.get(folder, {})]


def check_torch_leaks(found):
    """Nothing in app/, and no module without LibTorch, reaches a LibTorch header through the project's own headers."""
    own = {p.relative_to(p.parts[0]).as_posix(): p for p in found if p.parts[0] != "app"}
    edges = {p: [own[q] for _, q in includes if q in own] for p, includes in found.items()}
    holders = {p for p, includes in found.items() for a, _ in includes if a.startswith(("torch/", "ATen/", "c10/"))}
    findings = []
    for path in found:
        leaks = sorted(closure(path, edges) & holders)
        if leaks and module_of(path) not in TORCH_MODULES:
            findings.append(f"{path}: reaches LibTorch's headers through {leaks[0]}")
    return findings


def check_reach(found):
    """The headers of the folder itself that a sub-folder includes reach none of the sub-folders that it must not use."""
    own = {p.relative_to(p.parts[0]).as_posix(): p for p in found}
    edges = {p: [own[q] for _, q in includes if q in own and own[q].parts[:2] == p.parts[:2]] for p, includes in found.items()}
    findings = []
    for path in found:
        folder, part = "/".join(path.parts[:2]), part_of(path)
        allowed = {"", part} | closure(part, PARTS.get(folder, {}))
        beyond = sorted(p for p in closure(path, edges) if part and part_of(p) not in allowed)
        findings += [f"{path}: {folder}/{part} must not reach {beyond[0]}"] if beyond else []
    return findings


def check_cycles(edges, what):
    return [f"{what}: {name} is part of a cycle" for name in sorted(edges) if name in closure(name, edges)]


def include_edges(found):
    edges = {}
    for path, includes in found.items():
        module = module_of(path)
        used = {quoted.split("/")[0] for _, quoted in includes if quoted and quoted not in SINGLE_HEADERS.get(module, [])}
        edges.setdefault(module, set()).update(used & set(MODULES) - {module})
    return edges


def link_lists(root):
    """name -> {keyword: [words]} of every hopscope_module() and hopscope_widget() call."""
    lists = {}
    files = [path for top in ("core", "widgets") for path in sorted((root / top).rglob("CMakeLists.txt"))]
    for path in files:
        text = re.sub(r"#.*", "", path.read_text())
        for body in re.findall(r"hopscope_(?:module|widget)\(([^)]*)\)", text):
            words = body.split()
            keywords = ("SOURCES", "TORCH_SOURCES", "FAST", "DEPENDS", "CORE", "LIBRARIES")
            current = lists.setdefault(words[0], {keyword: [] for keyword in keywords})
            keyword = None
            for word in words[1:]:
                if word in current:
                    keyword = word
                    current[word].append(word)
                elif keyword:
                    current[keyword].append(word)
    return lists


def check_library(name, library):
    for _, pattern, homes in THIRD_PARTY:
        if re.match(pattern, library):
            return [] if name in homes else [f"{home_of(name)}: links {library}, which belongs in {sorted(homes)} only"]
    if library.startswith("hopscope_"):
        return [f"{home_of(name)}: {library} is a module and belongs under DEPENDS"]
    if SYSTEM_LIBRARIES.fullmatch(library) or library.startswith("$"):
        return []
    return [f"{home_of(name)}: links {library}, of no library that the map knows"]


def check_links(lists, includes):
    """Link lists keep to the map and name (transitively) every module whose headers are included."""
    findings = []
    single = {name: {header.split("/")[0] for header in headers} for name, headers in SINGLE_HEADERS.items()}
    edges = {name: lists[name]["DEPENDS"][1:] + lists[name]["CORE"][1:] for name in lists}
    for name, words in lists.items():
        for other in edges[name]:
            if other not in MODULES or not (may_use(name, other) or other in single.get(name, ())):
                findings.append(f"{home_of(name)}: must not link {other}")
        for other in sorted(includes.get(name, set()) - closure(name, edges)):
            findings.append(f"{home_of(name)}: includes {other} but does not link it")
        for library in words["LIBRARIES"][1:]:
            findings += check_library(name, library)
        if words["TORCH_SOURCES"] and name not in TORCH_MODULES:
            findings.append(f"{home_of(name)}: must not link LibTorch")
    return findings + check_cycles(edges, "link lists")


def imported(tree, modules):
    """The modules of the package that a module imports, at its top, within functions and for types alone."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level == 1 or (node.module or "").split(".")[0] == "hopscope"):
            below = (node.module or "").removeprefix("hopscope").removeprefix(".")
            found |= {below} if below else {name.name if name.name in modules else "__init__" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {(name.name + ".__init__").split(".")[1] for name in node.names if name.name.split(".")[0] == "hopscope"}
    return found


def import_edges(root):
    modules = {path.stem: path for path in sorted((root / PACKAGE).glob("*.py"))}
    return {name: imported(ast.parse(path.read_text()), modules) for name, path in modules.items()}


def check_layers(edges):
    """The modules of the Python package keep to their layers, and none imports itself in a circle."""
    homes = {module: layer for layer, modules in enumerate(LAYERS.values()) for module in modules.split()}
    findings = [f"{PACKAGE}/{name}.py: LAYERS has no such module" for name in edges if name not in homes]
    for name, others in edges.items():
        later = [other for other in sorted(others) if homes.get(other, 0) > homes.get(name, len(LAYERS))]
        findings += [f"{PACKAGE}/{name}.py must not import {other}, which is of a later layer" for other in later]
    return findings + check_cycles(edges, "imports of the Python package")


def check(root):
    """All findings in the tree at root, in a fixed order; empty if it keeps to the map."""
    root = Path(root)
    found = sources(root)
    includes = include_edges(found)
    findings = check_cycles(MODULES, "the map")
    for folder, parts in PARTS.items():
        findings += check_cycles(parts, f"the map of {folder}")
    findings += check_parts(found) + check_includes(found, root) + check_reach(found) + check_torch_leaks(found) + check_cycles(includes, "includes")
    return findings + check_links(link_lists(root), includes) + check_layers(import_edges(root))


if __name__ == "__main__":
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    print("\n".join(problems) or "boundaries: nothing found")
    sys.exit(1 if problems else 0)
