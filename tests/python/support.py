"""What the tests of the Python package share: small models as people write them, their data, and a folder that goes away."""
import contextlib
import os
import tempfile
import unittest
from pathlib import Path

import by_forks  # noqa: F401 (has an effect)
import engine_process
import light_pyg  # noqa: F401 (has an effect)
import torch
import torch_geometric.nn as G
from hopscope._later import settle
from patience import SOON, until_it_hits  # noqa: F401
from torch import nn
from torch_geometric.data import Data, HeteroData

ROOT = Path(os.environ.get("HOPSCOPE_ROOT", Path(__file__).parents[2]))

USERS, ITEMS, NODES, EDGES, FEATURES = 60, 41, 90, 400, 6


class Gcn(nn.Module):
    """Two layers, dropout and an edge weight that may be left out."""

    def __init__(self):
        super().__init__()
        self.first, self.second = G.GCNConv(FEATURES, 8), G.GCNConv(8, 3)

    def forward(self, x, edge_index, edge_weight=None):
        h = self.first(x, edge_index, edge_weight).relu()
        h = nn.functional.dropout(h, 0.5, self.training)
        return self.second(h, edge_index, edge_weight)


class TakesData(nn.Module):
    """As many examples are written: forward takes the Data; the layer keeps the normalised edges of the last graph."""

    def __init__(self):
        super().__init__()
        self.conv = G.GCNConv(FEATURES, 3, cached=True)

    def forward(self, data):
        return self.conv(data.x, data.edge_index).log_softmax(1)


class Hetero(nn.Module):
    """Relations as PyG has them, results by type."""

    def __init__(self):
        super().__init__()
        rates, rated = ("user", "rates", "item"), ("item", "rated", "user")
        self.first = G.HeteroConv({rates: G.SAGEConv((4, 5), 7), rated: G.SAGEConv((5, 4), 7)})
        self.second = G.HeteroConv({rates: G.SAGEConv(7, 3), rated: G.SAGEConv(7, 3)})

    def forward(self, x_dict, edge_index_dict):
        x_dict = {name: x.relu() for name, x in self.first(x_dict, edge_index_dict).items()}
        return self.second(x_dict, edge_index_dict)


class EdgeScores(nn.Module):
    """A score per edge, and the nodes that it comes from."""

    def __init__(self):
        super().__init__()
        self.conv = G.SAGEConv(FEATURES, 4)

    def forward(self, x, edge_index):
        h = self.conv(x, edge_index).tanh()
        return (h[edge_index[0]] * h[edge_index[1]]).sum(1), h


class Plain(nn.Module):
    """Without any library."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(FEATURES, 3)

    def forward(self, x, edge_index):
        return self.linear(torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]))


class Attention(nn.Module):
    """Every node with every other: this cannot be split."""

    def __init__(self):
        super().__init__()
        self.plain = Plain()

    def forward(self, x, edge_index):
        h = self.plain(x, edge_index)
        return torch.softmax(h @ h.t(), dim=-1) @ h


def made(kind):
    torch.manual_seed(5)
    return kind().eval()


def edges(sources, targets, count, seed=0):
    """The last node of either side has no edges; there are duplicates and, on one side, self-loops."""
    generator = torch.Generator().manual_seed(seed)
    ends = [torch.randint(0, rows - 1, (count,), generator=generator) for rows in (sources, targets)]
    index = torch.stack(ends)
    index[:, 1] = index[:, 0]
    if sources == targets:
        index[1, 2] = index[0, 2]
    return index


def graph(nodes=NODES, links=EDGES):
    torch.manual_seed(1)
    index = edges(nodes, nodes, links)
    return Data(x=torch.randn(nodes, FEATURES), edge_index=index, y=torch.zeros(nodes, dtype=torch.long))


def shop():
    torch.manual_seed(2)
    data = HeteroData()
    data["user"].x, data["item"].x = torch.randn(USERS, 4), torch.randn(ITEMS, 5)
    data["user", "rates", "item"].edge_index = edges(USERS, ITEMS, 300)
    data["item", "rated", "user"].edge_index = edges(ITEMS, USERS, 310)
    return data


def children(of="self"):
    """Processes that this one, or another one, has started and that are still there."""
    found = direct_children(of)
    forking = engine_process.forking()
    return [*direct_children(forking), *(one for one in found if one != forking)] if forking in found else found


def direct_children(of):
    """A thread that ends meanwhile leaves its own to another one: then it is asked again."""
    while True:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            tasks = list(Path(f"/proc/{of}/task").iterdir())
            return [int(word) for task in tasks for word in (task / "children").read_text().split()]


class PackageTest(unittest.TestCase):
    """A folder for temporary files that has to be empty in the end; no process may be left."""

    def setUp(self):
        torch.manual_seed(1)
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self):
        settle()
        self.assertEqual(list(self.scratch.iterdir()), [])
        self.assertEqual(children(), [])

    def same(self, found, wanted):
        """Equal within the engine's tolerance, structure and keys included."""
        self.assertIs(type(found), type(wanted))
        if isinstance(wanted, dict):
            self.assertEqual(list(found), list(wanted))
            for key, item in wanted.items():
                self.same(found[key], item)
        elif isinstance(wanted, (list, tuple)):
            self.assertEqual(len(found), len(wanted))
            for one, other in zip(found, wanted):
                self.same(one, other)
        else:
            torch.testing.assert_close(found, wanted.detach(), rtol=1e-4, atol=1e-5)
