"""Runs scripts one after the other, each in a fork of one process that has loaded torch (1.5 s of a core), PyTorch Geometric, if one of
them uses it, and has started the engine that forks (engine_process.py). `together.py NAME...` runs engine_NAME.py for each; every
script runs, even if an earlier one fails."""
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "support"))

import lightly  # noqa: E402

with lightly.importing():
    import torch  # noqa: F401

    import engine_process


def status_of(name):
    """Of its process: 0 if all its tests pass."""
    print(f"== engine_{name}.py", flush=True)
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    lightly.run(HERE / f"engine_{name}.py", "-v")


def main(names):
    if any("torch_geometric" in (HERE / f"engine_{name}.py").read_text() for name in names):
        import light_pyg  # noqa: F401
    engine_process.server()
    failed = [name for name in names if status_of(name) != 0]
    print("== failed:", *failed) if failed else print("== all pass")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
