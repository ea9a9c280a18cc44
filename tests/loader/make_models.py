"""Writes the TorchScript files that the loader's tests read: make_models.py FOLDER."""
import os
import sys
import warnings
import zipfile
from typing import Dict, List, Optional, Tuple, Union

import torch
from torch import Tensor, nn

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
warnings.filterwarnings("ignore")
torch.manual_seed(7)


def scatter_sum(src: Tensor, index: Tensor, count: int) -> Tensor:
    return src.new_zeros([count, src.size(1)]).scatter_add_(0, index.view(-1, 1).expand_as(src), src)


class Conv(nn.Module):
    def __init__(self, width: int, out: int):
        super().__init__()
        self.lin = nn.Linear(width, out)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.lin(x)
        return scatter_sum(h.index_select(0, edge_index[0]), edge_index[1], x.size(0))


class Net(nn.Module):
    """Two convolutions in a list, batch norm and dropout: traced and scripted."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([Conv(8, 16), Conv(16, 4)])
        self.norm = nn.BatchNorm1d(16)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for i, conv in enumerate(self.convs):
            x = conv(x, edge_index)
            if i == 0:
                x = self.drop(torch.relu(self.norm(x)))
        return x


class Normalised(nn.Module):
    """GCN's normalisation with in-place writes and self-loops."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 4)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Optional[Tensor] = None) -> Tensor:
        n = x.size(0)
        if edge_weight is None:
            edge_weight = torch.ones(edge_index.size(1), dtype=x.dtype)
        loops = torch.arange(n).view(1, -1).repeat(2, 1)
        index = torch.cat([edge_index, loops], 1)
        weight = torch.cat([edge_weight, torch.ones(n)])
        degree = torch.zeros(n).scatter_add_(0, index[1], weight)
        inv = degree.pow_(-0.5)
        inv.masked_fill_(inv == float("inf"), 0.0)
        norm = inv[index[0]] * weight * inv[index[1]]
        return scatter_sum(norm.view(-1, 1) * self.lin(x)[index[0]], index[1], n)


class Loop(nn.Module):
    """A loop of K rounds, one whose trip count is an input, a while loop."""

    def __init__(self):
        super().__init__()
        self.conv = Conv(8, 8)

    def forward(self, x: Tensor, edge_index: Tensor, rounds: int) -> Tensor:
        for _ in range(3):
            x = torch.tanh(self.conv(x, edge_index))
        for i in range(rounds):
            x = x + 0.1 * i
        k = 0
        while k < 2:
            x = x * 0.5
            k += 1
        return x


class Steps(nn.Module):
    """A loop over every third number below an input."""

    def forward(self, x: Tensor, edge_index: Tensor, rounds: int) -> Tensor:
        for i in range(1, rounds, 3):
            x = x * 0.5 + i
        return x


class Matrices(nn.Module):
    """Sparse matrices alone and by name, and a whole number."""

    def forward(self, adj: Tensor, others: Dict[str, Tensor], rounds: int) -> Tensor:
        return torch.matmul(adj, others["a"].to_dense()) * rounds


class Containers(nn.Module):
    """Dictionary and list inputs, outputs of every kind."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 4)

    def forward(
        self, xs: Dict[str, Tensor], adjs: List[Tensor], pair: Tuple[Tensor, Tensor]
    ) -> Tuple[Dict[str, Tensor], List[Tensor], int]:
        out: Dict[str, Tensor] = {}
        for key, value in xs.items():
            out[key] = self.lin(value)
        parts: List[Tensor] = []
        for adj in adjs:
            parts.append(adj.sum(1))
        parts.insert(0, pair[0] + pair[1])
        parts = parts[:2] + parts[2:]
        parts.reverse()
        return out, parts, len(parts) + xs["user"].size(0)


class Writes(nn.Module):
    """Writes into a buffer, into views, into constants, through aliases."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(8))
        self.weight = nn.Parameter(torch.randn(8))

    def forward(self, x: Tensor) -> Tensor:
        self.state.add_(x.sum(0))
        table = torch.zeros(8)
        alias = table.view(2, 4)
        table += x[0]
        alias[0] = 3.0
        y = x.clone()
        y[:, 2:4] += self.state[2:4]
        y[1] = self.weight
        y[y > 1.0] = 0.25
        fixed = torch.arange(8)
        fixed[3] = 9
        return y * table + fixed + alias.reshape(-1).clamp_(max=1.0)


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 4)

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        return torch.matmul(adj, self.lin(x)) / adj.size(0)


class Branch(nn.Module):
    """Branches on sizes (guards) and on a value."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        assert edge_index.size(0) == 2, "edge_index needs two rows"
        if edge_index.numel() > 0:
            x = x + edge_index.size(1) // x.size(0)
        if bool(x.sum() > 1e9):
            x = -x
        return x[: int(edge_index.max()) + 1]


class Numbers(nn.Module):
    """Arithmetic on sizes."""

    def forward(self, x: Tensor, scale: float, flag: bool) -> Tuple[Tensor, float]:
        n, f = x.shape
        m = max(n, f) * 2 - min(n, 3)
        mean = float(m) / n + scale ** 2
        if flag:
            mean = mean + float(torch.tensor(n)) % 5
        total = torch.tensor([n, f, m]).sum()
        return x * mean + total + n ** 0.5, mean


class Rand(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand(x.size(0), 1)


class Saves(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch.save(x, "stolen")
        return x


class State(nn.Module):
    """Sets an attribute of itself, as attention layers do."""

    alpha: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.alpha = None
        self.sizes = [1, 2, 3]

    def forward(self, x: Tensor) -> Tensor:
        self.alpha = x * 2
        alpha = self.alpha
        assert alpha is not None
        self.alpha = None
        return alpha + sum(self.sizes)


class BakedSize(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = int(x.size(0))
        return torch.zeros(n, 8).index_add(0, edge_index[1], x[edge_index[0]])


class Devices(nn.Module):
    """Tensors that are made on a named device, or moved there, as tracing on a GPU writes it down."""

    def __init__(self):
        super().__init__()
        self.conv = Conv(8, 8)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        here = torch.device("cpu")
        n = x.size(0)
        degree = torch.zeros(n, device=here).index_add_(0, edge_index[1], torch.ones(edge_index.size(1), device=here))
        loops = torch.arange(n, device=here)
        h = self.conv(x.to(here), edge_index) + x.index_select(0, loops)
        half = torch.full([n, 1], 0.5, device=here)
        return h * half + degree.to(here, torch.float32).view(-1, 1)


class NamedDevices(nn.Module):
    """The same in scripted code: by constant, by attribute, by string, in a branch and in a function."""

    def __init__(self):
        super().__init__()
        self.there = torch.device("cuda:1")
        self.name = "cuda"
        self.conv = Devices()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        ones = torch.ones(x.size(0), device=self.there)
        if x.dim() == 2:
            ones = ones + torch.zeros(x.size(0), device=torch.device("cuda", 0))
        return self.conv(x.cuda(), edge_index.to("cuda:0")) + on(ones.to(self.name), x).view(-1, 1)


def on(ones: Tensor, x: Tensor) -> Tensor:
    return ones + torch.arange(x.size(0), device="cuda:0")


def as_if_exported_on_a_gpu(path: str):
    """Writes "cuda:0" wherever the archive's code says "cpu": what tracing there leaves, made without a GPU."""
    with zipfile.ZipFile(path) as archive:
        records = [(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in records:
            if name.endswith(".py"):
                content = content.replace(b'torch.device("cpu")', b'torch.device("cuda:0")')
            if not name.endswith(".debug_pkl"):  # line numbers of the code as it was
                archive.writestr(name, content)


class Raises(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) != 5:
            raise ValueError("five features are needed")
        return x


class Shared(nn.Module):
    """One module used twice, one weight under two names."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.b.weight = self.a.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.b(self.a(torch.relu(self.a(x))))


def example(nodes: int = 6):
    x = torch.randn(nodes, 8)
    edge_index = torch.tensor([[0, 1, 2, 3, 0, 4, 4], [1, 2, 3, 0, 0, 1, 1]])
    return x, edge_index


def save_custom(folder: str):
    library = torch.library.Library("torch_sparse", "DEF")
    library.define("ptr2ind(Tensor ptr, int E) -> Tensor")
    scatter = torch.library.Library("torch_scatter", "DEF")
    for name, result in (("sum", "Tensor"), ("mean", "Tensor"), ("max", "(Tensor, Tensor)")):
        scatter.define(f"scatter_{name}(Tensor src, Tensor index, int dim, Tensor? out, int? dim_size) -> {result}")

    class Stub(nn.Module):
        def forward(self, x: Tensor, use: bool) -> Tensor:
            if use:
                return torch.ops.torch_sparse.ptr2ind(x.long(), 3).float()
            return x + 1

    class Scatter(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            m = x[edge_index[0]]
            s = torch.ops.torch_scatter.scatter_sum(m, edge_index[1], 0, None, x.size(0))
            mean = torch.ops.torch_scatter.scatter_mean(m, edge_index[1], 0, None, x.size(0))
            return s + mean + torch.ops.torch_scatter.scatter_max(m, edge_index[1], -2, None, x.size(0))[0]

    torch.jit.script(Stub()).save(os.path.join(folder, "stub.pt"))
    torch.jit.script(Scatter()).save(os.path.join(folder, "scatter.pt"))
    unknown = torch.library.Library("mylib", "DEF")
    unknown.define("twice(Tensor x) -> Tensor")

    class Unknown(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.ops.mylib.twice(x)

    torch.jit.script(Unknown()).save(os.path.join(folder, "unknown.pt"))


@torch.jit.script
class Box:
    def __init__(self, size: int):
        self.size = size


def save_unions(folder: str):
    class Alternatives(nn.Module):
        def forward(self, x: Union[Tensor, Tuple[Tensor, Tensor]], scale: Union[float, Dict[str, int]]) -> Tensor:
            factor = scale if isinstance(scale, float) else float(scale["n"])
            return (x if isinstance(x, Tensor) else x[1]) * factor

    class NoTensor(nn.Module):
        def forward(self, x: Box) -> Tensor:
            return torch.ones(x.size)

    class Overloaded(nn.Module):
        @torch.jit._overload_method
        def forward(self, x: Tensor) -> Tensor: ...

        @torch.jit._overload_method
        def forward(self, x: List[Tensor]) -> Tensor: ...

        def forward(self, x):
            return x if isinstance(x, Tensor) else x[0]

    torch.jit.script(Alternatives()).save(os.path.join(folder, "alternatives.pt"))
    torch.jit.script(NoTensor()).save(os.path.join(folder, "no_tensor.pt"))
    torch.jit.script(Overloaded()).save(os.path.join(folder, "overloaded.pt"))


def save_pyg(folder: str):
    try:
        import light_pyg  # noqa: F401 (has an effect)
        import torch_geometric.nn as pyg
    except ImportError:
        return
    x, edge_index = example()

    class Stack(nn.Module):
        def __init__(self, make):
            super().__init__()
            self.c1, self.c2 = make(8, 8), make(8, 8)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.c2(torch.relu(self.c1(x, edge_index)), edge_index)

    mlp = lambda i, o: nn.Sequential(nn.Linear(i, o), nn.ReLU(), nn.Linear(o, o))
    makers = {
        "gcn": lambda i, o: pyg.GCNConv(i, o), "sage": lambda i, o: pyg.SAGEConv(i, o, aggr="max"),
        "gin": lambda i, o: pyg.GINConv(mlp(i, o)), "gat": lambda i, o: pyg.GATConv(i, o, heads=2, concat=False),
        "transformer": lambda i, o: pyg.TransformerConv(i, o), "tag": lambda i, o: pyg.TAGConv(i, o, K=2),
        "film": lambda i, o: pyg.FiLMConv(i, o), "arma": lambda i, o: pyg.ARMAConv(i, o),
    }
    for name, make in makers.items():
        model = Stack(make).eval()
        path = os.path.join(folder, f"pyg_{name}")
        torch.jit.trace(model, (x, edge_index), check_trace=False).save(path + "_t.pt")
        if name != "gat":  # which TorchScript refuses
            torch.jit.script(model).save(path + "_s.pt")


def main(folder: str):
    os.makedirs(folder, exist_ok=True)
    x, edge_index = example()
    torch.jit.trace(Net().eval(), (x, edge_index), check_trace=False).save(os.path.join(folder, "net_t.pt"))
    torch.jit.trace(Normalised(), (x, edge_index), check_trace=False).save(os.path.join(folder, "normalised_t.pt"))
    baked = torch.jit.trace(BakedSize(), (x, edge_index), check_trace=False)
    baked.save(os.path.join(folder, "baked_t.pt"))
    devices = os.path.join(folder, "devices_t.pt")
    torch.jit.trace(Devices().eval(), (x, edge_index), check_trace=False).save(devices)
    as_if_exported_on_a_gpu(devices)
    training = Net().train()
    torch.jit.trace(training, (x, edge_index), check_trace=False).save(os.path.join(folder, "training_t.pt"))
    scripted = {
        "net_s": Net().eval(), "normalised_s": Normalised(), "loop": Loop(), "steps": Steps(), "matrices": Matrices(), "containers": Containers(),
        "writes": Writes(), "sparse": Sparse(), "branch": Branch(), "numbers": Numbers(), "rand": Rand(),
        "saves": Saves(), "state": State(), "raises": Raises(), "shared": Shared(),
        "devices_s": NamedDevices(),
    }
    for name, model in scripted.items():
        torch.jit.script(model).save(os.path.join(folder, name + ".pt"))
    torch.save(Net().state_dict(), os.path.join(folder, "state_dict.pt"))
    save_custom(folder)
    save_unions(folder)
    save_pyg(folder)
    open(os.path.join(folder, "done"), "w").write("ok")


main(sys.argv[1])
