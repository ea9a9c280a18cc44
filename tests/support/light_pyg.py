"""Imports PyTorch Geometric in half of the processor time. It imports torch._dynamo for compiled modules alone, and pandas for data sets
that are downloaded: it gets empty modules in their place, which are gone afterwards, and whoever needs the real ones imports them."""
import sys
import types

import lightly
import torch  # noqa: F401

UNUSED = {"torch._dynamo": {}, "pandas": {"DataFrame": object}}


def import_pyg():
    absent = {name: members for name, members in UNUSED.items() if name not in sys.modules}
    for name, members in absent.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    try:
        with lightly.importing():
            import torch_geometric.nn  # noqa: F401
    finally:
        for name in absent:
            del sys.modules[name]


import_pyg()
