"""A program that uses the Python package on a model file, for engine_strangers.py: hostile_calls.py MODEL DATA OUT... Prints a line of
JSON for each call: its name, and the exit code, the sentence and the seconds of what it raised."""
import json
import sys
import time

import hopscope


def calls(model, data, out):
    yield "inspect", lambda: hopscope.inspect(model, data)
    yield "plan", lambda: hopscope.plan(model, data)
    yield "inference", lambda: hopscope.inference(model, data, verify="full", progress=False)
    yield "export", lambda: hopscope.export(model, data, out)


def carried_out(call):
    try:
        call()
    except hopscope.HopscopeError as error:
        return error.exit_code, f"{error.where}: {error}"
    return 0, ""


for name, call in calls(*sys.argv[1:4]):
    began = time.monotonic()
    code, sentence = carried_out(call)
    print(json.dumps([name, code, sentence, time.monotonic() - began]), flush=True)
