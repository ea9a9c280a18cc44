"""Runs a program and says what it took.

    launch.py PROGRAM ARGUMENT..     prints one line of JSON

`seconds` of the wall clock; `user` and `system`, of the CPU; `peak`, in bytes; `status`, its exit code. A process of its own, and a
small one: Linux counts to the peak of a process what it occupied before it became another program, which is what its
parent occupies.
"""
import json
import os
import sys
import time


def main():
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    began = time.perf_counter()
    process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
    _, status, usage = os.wait4(process, 0)
    print(json.dumps({"seconds": time.perf_counter() - began, "user": usage.ru_utime, "system": usage.ru_stime,
                      "peak": usage.ru_maxrss * 1024, "status": os.waitstatus_to_exitcode(status)}))


if __name__ == "__main__":
    main()
