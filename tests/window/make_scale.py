"""Writes a model and a graph of which three stages take some seconds in small batches, for runs of several workers: OUT/sage.pt and
OUT/graph.safetensors. Nothing is written if it is there already and this file is older."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

import torch  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

import engine_models as models  # noqa: E402
from engine_resume import WIDTH, generated  # noqa: E402

if __name__ == "__main__":
    out = Path(sys.argv[1])
    done = out / "graph.safetensors"
    if not done.exists() or done.stat().st_mtime < os.stat(__file__).st_mtime:
        out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(1)
        models.save(models.Sage(WIDTH, 96, 32, 3), models.graph(50, 200, WIDTH), out / "sage.pt")
        save_file(generated(100_000, 8), str(done))
