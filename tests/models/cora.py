"""Runs the classic models on Cora through test_models: DATA OUT SMALLEST TEST_MODELS [OPTION...]. SMALLEST is the size of the
smallest batches: with one node in each a model of ten stages has 27,000 of them. No batch has a multiple of 64 rows, whose
products need less scratch memory than the forecast, which follows from smaller batches, says (384 KiB)."""
import os
import subprocess
import sys

# name, ways of compiling, test accuracy, stages of the depth strategy, structure-only prologue expected
MODELS = [("gcn", "ts", 0.810, 2, 1), ("sage", "ts", 0.782, 3, 0), ("gat", "t", 0.810, 2, 0),
          ("jknet", "t", 0.766, 4, 1), ("gcnii", "t", 0.789, 8, 1), ("appnp", "ts", 0.831, 10, 1)]


def line(data, smallest, name, way, accuracy, stages, prologue):
    folder = f"{data}/cora_models"
    return (f"name=cora_{name}_{way}\tmodel={folder}/{name}_{way}.pt\tdata0={data}/cora.safetensors"
            f"\texpected0={folder}/{name}.expected.safetensors\tbatches={smallest},60,1000,-1\tshuffle=0\tstages={stages}"
            f"\tprologue={prologue}\trelative=1e-5\tabsolute=1e-5\taccuracy={accuracy}")


def main(data, out, smallest, program, *options):
    lines = [line(data, smallest, name, way, *rest) for name, ways, *rest in MODELS for way in ways]
    os.makedirs(out, exist_ok=True)
    with open(f"{out}/cora.list", "w") as file:
        file.write("\n".join(lines) + "\n")
    return subprocess.call([program, f"{out}/cora.list", *options])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
