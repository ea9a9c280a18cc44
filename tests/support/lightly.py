"""`lightly.py SCRIPT ARGUMENT...` runs a script that imports torch in less processor time: the collector of garbage never looks at the
imported modules, which takes a fifth of the time of importing, and they are not taken apart at the end, which takes another third."""
import atexit
import contextlib
import gc
import os
import runpy
import signal
import sys
import threading
import traceback
from pathlib import Path


@contextlib.contextmanager
def importing():
    """While modules are imported, nothing becomes garbage. Afterwards the collector looks at newer objects alone, and seldom."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 20)
        gc.enable()


def code_of(script):
    """The exit code of a process that runs the script."""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, (int, type(None))):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run(script, *arguments):
    """Runs it in place of this program; does not return."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has commands in its background ignore it
    sys.argv[:] = [str(script), *arguments]
    sys.path[0] = str(Path(script).parent)
    code = code_of(sys.argv[0])
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    with importing():
        import torch  # noqa: F401
    run(*sys.argv[1:])
