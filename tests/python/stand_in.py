#!/usr/bin/env python3
"""Stands between the package and the real engine (STAND_IN_ENGINE) and makes it say that split and model differ, or, with
STAND_IN_VERSION, that it is of another version."""
import os
import re
import subprocess
import sys
import threading

ENGINE = os.environ["STAND_IN_ENGINE"]
VERSION = os.environ.get("STAND_IN_VERSION")


def lie(body):
    return re.sub(rb'"verdict":(\s*)"equal"', rb'"verdict":\1"different"', body)


def pass_on(source, target):
    while chunk := source.read1(1 << 16):
        target.write(chunk)
        target.flush()
    target.close()


def serve():
    process = subprocess.Popen([ENGINE, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=pass_on, args=(sys.stdin.buffer, process.stdin), daemon=True).start()
    while header := process.stdout.readline():
        process.stdout.readline()
        body = lie(process.stdout.read(int(header.split(b":")[1])))
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()
    return process.wait()


def main():
    if sys.argv[1:] == ["--version"] and VERSION:
        print(f"hopscope-engine {VERSION}")
        return 0
    if sys.argv[1:] == ["serve"]:
        return serve()
    done = subprocess.run([ENGINE, *sys.argv[1:]], stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(lie(done.stdout))
    return 5 if done.returncode == 0 and "verify" in sys.argv[1] else done.returncode


if __name__ == "__main__":
    sys.exit(main())
