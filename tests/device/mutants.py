"""Breaks the executor's way through a GPU, one mistake at a time, and shows which test notices:
    mutants.py [BUILD] [NAME]...
    mutants.py --check                 only whether each mutant still fits the sources; itself a test

Nothing is written into the tree or the build folder (default: build/dev), whose programs must be up to date:
`ninja -C build/dev test_device test_models_device`, and the generated models must be there.
Each mutated file is compiled in a scratch folder, put into a copy of the executor's library and linked with the tests.
Exits with 1 if a mutant survives. Takes 10 to 20 minutes.
"""
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("test_device", "test_models_device")
ZOO = ("gcn_1", "gat_1", "sage_mean_1")

# Name, file in core/executor, what is replaced wherever it is, by what.
MUTANTS = [
    ("computing does not wait for the upload", "flow.cpp", "    device.order(Lane::Upload, Lane::Compute);\n", ""),
    ("the download does not wait for computing", "flow.cpp", "    device.order(Lane::Compute, Lane::Download);\n", ""),
    ("the host does not wait for the download", "flow.cpp", "    slot.download.end->synchronize();\n", ""),
    ("a failed batch is not waited for", "flow.cpp", "    m_session.device.synchronize();\n    slot.batch.clear();\n",
     "    slot.batch.clear();\n"),
    ("a slot is given back before it is written", "flow.cpp",
     "        lock.unlock();\n        slot.batch.store();\n        lock.lock();\n        m_written.push_back(&slot);\n",
     "        m_written.push_back(&slot);\n        lock.unlock();\n        slot.batch.store();\n        lock.lock();\n"),
    ("all slots share one piece of pinned memory", "flow.cpp", "std::make_unique<Slot>(session, program, place)",
     "std::make_unique<Slot>(session, program, (static_cast<void>(place), session.ring->places()[0]))"),
    ("a batch is merged before it can fail", "flow.cpp", "    slot.batch.compute();\n",
     "    slot.batch.compute();\n    Batch::mergeInto(m_session, slot.batch.takeContributions());\n"),
    ("what was prepared is kept when a batch is redone", "flow.cpp",
     "    m_prepared.push_back(&slot);\n    for (Slot* const dropped : std::exchange(m_prepared, {})) release(*dropped);\n",
     "    release(slot);\n"),
    ("what is being prepared is kept when a batch is redone", "flow.cpp", "    ++m_epoch;\n", ""),
    ("a failed batch is forgotten", "flow.cpp", "    m_next = failed.first;\n", "    m_next = failed.first + failed.count;\n"),
    ("two batches under way instead of three", "flow.cpp", "mostUnderWay = 3", "mostUnderWay = 2"),
    ("one batch at a time", "flow.cpp", "mostUnderWay = 3", "mostUnderWay = 1"),
    ("a limit is not watched", "flow.cpp", "    device.checkLimit();\n", ""),
    ("uploaded memory is not recorded", "device_context.cpp", "    there.record_stream(lane(Lane::Compute));\n", ""),
    ("downloaded memory is not recorded", "device_context.cpp", "    onDevice.record_stream(lane(Lane::Download));\n", ""),
    ("no device guard", "device_context.cpp", "    m_guard.emplace(m_device);\n", ""),
    ("always the first GPU", "device_context.cpp", "std::stoi(device.substr(colon + 1))", "0"),
    ("uploads on the stream that computes", "device_context.cpp", "onUploads(lane(Lane::Upload))",
     "onUploads(lane(Lane::Compute))"),
    ("downloads on the stream that computes", "device_context.cpp", "onDownloads(lane(Lane::Download))",
     "onDownloads(lane(Lane::Compute))"),
    ("the allocator is not told the limit", "device_context.cpp",
     "m_limited = accelerator().limitMemory(m_device.index(), bytes);", "m_limited = true;"),
    ("the cache stays after the run", "device_context.cpp", "        synchronize();\n        emptyCache();\n    } catch",
     "        synchronize();\n    } catch"),
    ("the device is not initialised", "device_context.cpp", "    accelerator().initialise();\n", ""),
    ("a kernel on the stream of uploads", "segment_run.cpp", "session.device.stream(Lane::Compute)",
     "session.device.stream(Lane::Upload)"),
    ("a kernel's error is not looked at", "segment_run.cpp", "    if (!kernels::kernelsCannotRun(code))\n",
     "    if (code < 0)\n"),
    ("a reduction is merged in part when memory is short", "batch.cpp",
     "merged.push_back(session.reducers.at(op).merged(contribution));",
     "session.reducers.at(op).replace(session.reducers.at(op).merged(contribution));"),
    ("row numbers stay narrow", "batch.cpp", "if (i.wide && numbers", "if (false && numbers"),
    ("pinned memory that is not there ends the run", "staging.cpp",
     "    } catch (const c10::Error&) {\n        return {};\n    }", "    } catch (const std::bad_alloc&) {\n        return {};\n    }"),
    ("pinned pieces overlap", "staging.cpp", "    m_used += rounded(bytes);\n", "    m_used += rounded(bytes) / 2;\n"),
    ("the limit outlives its run", "run.cpp", "~LimitScope() { m_device.setLimit(0); }", "~LimitScope() {}"),
]


def run(command, folder, **options):
    return subprocess.run(command, cwd=folder, shell=isinstance(command, str), text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


class Build:
    def __init__(self, folder, scratch):
        self.folder, self.scratch = folder, scratch
        self.library = "core/executor/libhopscope_executor.a"
        listed = run(["ninja", "-t", "commands", *PROGRAMS], folder).stdout.splitlines()
        self.links = {p: next(c for c in listed if f" -o bin/{p} " in c) for p in PROGRAMS}
        self.compiles = {m[1]: c for c in listed if (m := re.search(r" -c \S*/core/executor/(\w+\.cpp)$", c))}

    def compile(self, name, text):
        source, made = self.scratch / name, self.scratch / (name + ".o")
        source.write_text(text)
        command = re.sub(r" -M[TF] \S+| -MD| -o \S+ -c \S+", "", self.compiles[name])
        done = run(f"{command} -o {shlex.quote(str(made))} -c {shlex.quote(str(source))}", self.folder)
        if done.returncode:
            raise SystemExit(f"{name} does not compile:\n{done.stdout[-3000:]}")
        copy = self.scratch / "executor.a"
        shutil.copyfile(self.folder / self.library, copy)
        done = run(["ar", "r", str(copy), str(made)], self.folder)
        for program in PROGRAMS:
            (self.scratch / program).unlink(missing_ok=True)
        return copy

    def program(self, name, library):
        made = self.scratch / name
        if not made.exists():
            command = self.links[name].replace(f"-o bin/{name} ", f"-o {shlex.quote(str(made))} ")
            done = run(command.replace(self.library, shlex.quote(str(library))), self.folder)
            if done.returncode:
                raise SystemExit(f"{name} does not link:\n{done.stdout[-3000:]}")
        return str(made)


def firstFailure(text):
    """The test case that failed, and its first line of reasons."""
    case = re.search(r"TEST CASE:\s*(.+)", text)
    reason = re.search(r"values: (.+)", text) or re.search(r"ERROR: (.+)", text)
    row = re.search(r"^(\S+ +(?:WRONG|FOUND|CRASHES|HANGS|DIES|REFUSED).*)$", text, re.MULTILINE)
    return " | ".join(m[1].strip()[:110] for m in (case, reason, row) if m) or text.strip()[-200:]


def tests(build, library):
    """What is run, the quick ones first, and after how many seconds it hangs."""
    slow = "*hichever allocation fails*,*ny generated model*"
    only = [word for name in ZOO for word in ("--only", name)]
    def cases(name, *options):
        return lambda: [build.program("test_device", library), f"-sf=*tests/device/test_*_{name}.cpp", "-aa=1", *options]

    yield "device_overlap", 120, cases("overlap")
    yield "device_faults", 240, cases("faults", f"-tce={slow}")
    for device in ("cuda:0", "cuda:1"):
        yield f"test_models_device {device}", 120, lambda d=device: [
            build.program("test_models_device", library), str(build.folder / "zoo/convolutions.list"), "--device", d, *only]
    yield "device_faults_all", 600, cases("faults", f"-tc={slow}")


def noticedBy(build, library):
    for name, seconds, command in tests(build, library):
        try:
            done = run(command(), ROOT, timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"{name}: does not end"
        if done.returncode:
            return f"{name}: {firstFailure(done.stdout)}"
    return None


def mutated(file, old, new):
    text = (ROOT / "core/executor" / file).read_text()
    if old not in text:
        raise SystemExit(f"{file} has changed, there is no {old!r}")
    return text.replace(old, new)


def check():
    for _, file, old, new in MUTANTS:
        mutated(file, old, new)
    print(f"{len(MUTANTS)} mutants fit the sources")
    return 0


def main(arguments):
    if arguments == ["--check"]:
        return check()
    folder = Path(arguments[0]).resolve() if arguments and Path(arguments[0]).is_dir() else ROOT / "build/dev"
    names = [a for a in arguments if not Path(a).is_dir()]
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="hopscope-mutants-") as scratch:
        build = Build(folder, Path(scratch))
        chosen = [m for m in MUTANTS if not names or m[0] in names]
        for name, file, old, new in [("(nothing is broken)", "flow.cpp", "namespace {\n", "namespace {\n"), *chosen]:
            start = time.time()
            noticed = noticedBy(build, build.compile(file, mutated(file, old, new)))
            wrong = (noticed is None) == (old != new)
            survivors += wrong
            print(f"{name:58} {time.time() - start:4.0f} s  {'SURVIVES' if noticed is None else noticed}", flush=True)
    print(f"{len(chosen)} mutants, {survivors} wrong" if survivors else f"{len(chosen)} mutants, all noticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
