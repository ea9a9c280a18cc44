"""Writes small models in plain PyTorch message passing and one graph for each: make_models.py FOLDER.

For every case: NAME.pt (traced or scripted) and NAME.safetensors (inputs). The graphs have isolated nodes, self-loops and
duplicate edges.
"""
import sys

import torch
from safetensors.torch import save_file
from torch import nn

N, E, F = 41, 130, 6


def graph(seed, nodes=N, edges=E):
    g = torch.Generator().manual_seed(seed)
    src = torch.randint(0, nodes - 4, (edges,), generator=g)   # the last nodes are isolated
    dst = torch.randint(0, nodes - 4, (edges,), generator=g)
    dst[:5] = src[:5]                                          # self-loops
    src[5:9], dst[5:9] = src[9:13], dst[9:13]                  # duplicates
    src[13], dst[13] = nodes - 5, 0
    return torch.stack([src, dst])


def sums(m, dst, n: int):
    return torch.zeros(n, m.size(1)).scatter_add(0, dst.view(-1, 1).expand_as(m), m)


class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(F, F), nn.Linear(F, F)

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        n = x.size(0)
        degree = torch.zeros(n).scatter_add(0, dst, torch.ones(dst.size(0))).clamp(min=1)
        return self.a(sums(x.index_select(0, src), dst, n) / degree.view(-1, 1)) + self.b(x)


class BothEnds(nn.Module):
    """Messages of both ends, whose rows index_select gathers."""
    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        return sums((x.index_select(0, src) + x.index_select(0, dst)).relu(), dst, x.size(0))


class Hops(nn.Module):
    """Means over the edges, hop by hop, each beside the input and a value that is stored; one sum. No products."""
    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        n = x.size(0)
        degree = torch.zeros(n).scatter_add(0, dst, torch.ones(dst.size(0))).clamp(min=1).view(-1, 1)
        first = sums(x.index_select(0, src), dst, n).relu()
        z = first
        for _ in range(3):
            z = 0.75 * (sums(z.index_select(0, src), dst, n) / degree) + 0.125 * first + 0.125 * x
        return z


class Shares(nn.Module):
    """Messages weighted by the degrees of both ends."""
    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        n = x.size(0)
        degree = torch.zeros(n).scatter_add(0, dst, torch.ones(dst.size(0))) + torch.arange(n)
        weight = degree[src].sqrt() / degree[dst].clamp(min=1)
        return sums(x[src] * weight.view(-1, 1), dst, n)


class Gcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(F, F)

    def forward(self, x, edge_index):
        n = x.size(0)
        keep = edge_index[0] != edge_index[1]
        loops = torch.arange(n).view(1, -1).repeat(2, 1)
        edges = torch.cat([edge_index[:, keep], loops], 1)
        src, dst = edges[0], edges[1]
        degree = torch.zeros(n).scatter_add(0, dst, torch.ones(dst.size(0)))
        norm = degree.pow(-0.5)
        weight = norm[src] * norm[dst]
        m = self.a(x).index_select(0, src) * weight.view(-1, 1)
        return sums(m, dst, n)


class Scored(nn.Module):
    """Inner products: of rows with rows and with weights; the sum of a product that is a result itself; one in float64."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.w = nn.Linear(F, F), nn.Linear(F, F), nn.Parameter(torch.randn(1, F))

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        h = torch.zeros(x.size(0), F).index_add(0, dst, self.a(x)[src])
        k = self.b(h)
        kept = h * self.w
        return {"rows": (h * k).sum(-1), "weights": (k * self.w).sum(1, keepdim=True), "kept": kept,
                "of_kept": kept.sum(-1), "double": (h.double() * k.double()).sum(-1)}


class Gat(nn.Module):
    def __init__(self, heads=2):
        super().__init__()
        self.h = heads
        self.a = nn.Linear(F, heads * F)
        self.s, self.d = nn.Parameter(torch.randn(heads, F)), nn.Parameter(torch.randn(heads, F))

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        n = x.size(0)
        h = self.a(x).view(-1, self.h, F)
        score = (h * self.s).sum(-1)[src] + (h * self.d).sum(-1)[dst]
        score = nn.functional.leaky_relu(score, 0.2)
        wide = dst.view(-1, 1).expand_as(score)
        top = torch.zeros(n, self.h).scatter_reduce(0, wide, score, "amax", include_self=False)
        e = (score - top[dst]).exp()
        total = torch.zeros(n, self.h).scatter_add(0, wide, e) + 1e-16
        alpha = e / total[dst]
        m = h[src] * alpha.unsqueeze(-1)
        out = torch.zeros(n, self.h, F).index_add(0, dst, m)
        return out.mean(1)


class Reduced(nn.Module):
    """Max, min and mean aggregation, and a message network on edge features."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2 * F + 3, F), nn.Linear(4 * F, F)

    def forward(self, x, edge_index, edge_attr):
        src, dst = edge_index[0], edge_index[1]
        m = self.a(torch.cat([x[src], x[dst], edge_attr], 1)).relu()
        wide = dst.view(-1, 1).expand_as(m)
        zero = x.new_zeros(x.size(0), F)
        parts = [zero.scatter_reduce(0, wide, m, how, include_self=False) for how in ("amax", "amin", "mean")]
        return self.b(torch.cat(parts + [zero.index_add(0, dst, m)], 1))


class Gated(nn.Module):
    """Gates from both ends, as in ResGatedGraphConv; `keep` also returns the messages."""

    def __init__(self, keep=False, dtype=torch.float32):
        super().__init__()
        self.keep = keep
        self.a, self.b, self.c = (nn.Linear(F, F, dtype=dtype) for _ in range(3))

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        m = torch.sigmoid(self.a(x)[dst] + self.b(x)[src]) * self.c(x)[src]
        out = torch.zeros_like(x).index_add(0, dst, m)
        return (out, m) if self.keep else out


class Softmaxed(nn.Module):
    """Attention in variants: `over` the other end, with its `weights` as an output, or on rows `crossed` with heads."""

    def __init__(self, over=1, weights=False, crossed=False):
        super().__init__()
        self.over, self.weights, self.crossed = over, weights, crossed
        self.a, self.s = nn.Linear(F, F), nn.Parameter(torch.randn(F))

    def forward(self, x, edge_index):
        src, dst, by = edge_index[0], edge_index[1], edge_index[self.over]
        n, h = x.size(0), self.a(x)
        score = ((h[src] + h[dst]).tanh() * self.s).sum(-1, keepdim=True)
        wide = by.view(-1, 1)
        top = torch.zeros(n, 1).scatter_reduce(0, wide, score, "amax", include_self=False)
        e = (score - top[by]).exp()
        alpha = e / (torch.zeros(n, 1).scatter_add(0, wide, e) + 1e-16)[by]
        if self.crossed:
            m = h[src].unsqueeze(1) * torch.cat([alpha, 1 - alpha], 1).unsqueeze(2)
            return torch.zeros(n, 2, F).index_add(0, dst, m).mean(1)
        out = torch.zeros(n, F).index_add(0, dst, alpha * h[src])
        return (out, alpha) if self.weights else out


class Several(nn.Module):
    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        m = (x[src] - x[dst]).abs()
        wide, zero = dst.view(-1, 1).expand_as(m), torch.zeros_like(x)
        total = zero.scatter_add(0, wide, m)
        squares = zero.scatter_reduce(0, wide, m * m, "mean", include_self=False)
        most = zero.scatter_reduce(0, wide, m, "amax", include_self=False)
        return torch.cat([total, (squares - total * total).relu().sqrt(), most], 1)


class Stack(nn.Module):
    def __init__(self, layer, count=2, tail=None):
        super().__init__()
        self.layers = nn.ModuleList([layer() for _ in range(count)])
        self.tail = tail

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = layer(x, edge_index).relu() + x
        return x


class Normed(nn.Module):
    """Whole-graph statistics between two layers, scalar and row outputs."""

    def __init__(self):
        super().__init__()
        self.a, self.b = Sage(), Sage()

    def forward(self, x, edge_index):
        h = self.a(x, edge_index)
        h = (h - h.mean(0)) / (h.std(0) + 1.0)
        h = self.b(h, edge_index)
        return {"rows": h, "sum": h.sum(0), "largest": h.amax(0), "norm": h.norm(), "share": h.softmax(0)}


class Readout(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Sage()

    def forward(self, x, edge_index, batch):
        h = self.a(x, edge_index)
        wide = batch.view(-1, 1).expand_as(h)
        total = torch.zeros(3, F).scatter_add(0, wide, h)
        top = torch.zeros(3, F).scatter_reduce(0, wide, h, "amax", include_self=False)
        mean = torch.zeros(3, F).scatter_reduce(0, wide, h, "mean", include_self=False)
        return total, top, mean, h


class Edges(nn.Module):
    """An edge state that both ends use, and an edge output."""

    def __init__(self):
        super().__init__()
        self.a, self.b = Sage(), nn.Linear(2 * F, F)

    def forward(self, x, edge_index):
        h = self.a(x, edge_index)
        src, dst = edge_index[0], edge_index[1]
        state = self.b(torch.cat([h[src], h[dst]], 1)).tanh()
        back = sums(state, src, x.size(0))
        return back, (h[src] * back[dst]).sum(-1)


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(F, F)

    def forward(self, x, edge_index, edge_weight):
        n = x.size(0)
        matrix = torch.sparse_coo_tensor(edge_index.flip(0), edge_weight, [n, n])
        return torch.sparse.mm(matrix, self.a(x)).relu()


class Hetero(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(F, F), nn.Linear(F, F), nn.Linear(F, F)

    def forward(self, xs: dict[str, torch.Tensor], es: dict[str, torch.Tensor]):
        user, item = xs["user"], xs["item"]
        ui, iu, uu = es["user__to__item"], es["item__to__user"], es["user__to__user"]
        for _ in range(2):
            new_item = self.a(item) + sums(user[ui[0]], ui[1], item.size(0))
            new_user = self.b(user) + sums(item[iu[0]], iu[1], user.size(0)) + sums(self.c(user)[uu[0]], uu[1], user.size(0))
            user, item = new_user.relu(), new_item.relu()
        return {"user": user, "item": item}


class Wide(nn.Module):
    """Embedding of integer columns, selected rows, structure as output, the input itself as output."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, F)
        self.a = Sage()

    def forward(self, x, edge_index, kind):
        h = self.a(x + self.table(kind), edge_index)
        degree = torch.zeros(x.size(0)).scatter_add(0, edge_index[1], torch.ones(edge_index.size(1)))
        return h / h.size(0), degree, x, h[kind == 2]


class Overwritten(nn.Module):
    """Arithmetic on operands that nobody reads any more, and on some that only look like it."""

    def __init__(self):
        super().__init__()
        self.a, self.b = Sage(), nn.Linear(F, F)

    def forward(self, x, edge_index):
        h = self.a(x, edge_index)
        degree = torch.zeros(x.size(0)).scatter_add(0, edge_index[1], torch.ones(edge_index.size(1))).clamp(min=1)
        made = [self.b(h + k) for k in range(9)]
        halves = made[0].view(-1, 2, F // 2)
        return {"chain": (made[1] / degree.view(-1, 1) - h) * x + made[2],
                "factor": torch.sub(made[3], h, alpha=3),
                "wider_type": made[4] * h.double(),
                "wider_shape": made[5].sum(-1, keepdim=True) - h,
                "twice": made[6] * made[6],
                "kept": made[7] + h, "keeper": made[7].tanh(),
                "seer": made[0] + x, "seen": halves * h.view(-1, 2, F // 2),
                "number": made[8] + 2}


def save(folder, name, model, inputs, scripted=False):
    model = model.eval()
    flat = {}
    for key, value in inputs.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{k}": v.contiguous() for k, v in value.items()})
        else:
            flat[key] = value.contiguous()
    file = torch.jit.script(model) if scripted else torch.jit.trace(model, tuple(inputs.values()), strict=False,
                                                                    check_trace=False)
    file.save(f"{folder}/{name}.pt")
    save_file(flat, f"{folder}/{name}.safetensors")


def main(folder):
    torch.manual_seed(7)
    x, e = torch.randn(N, F), graph(1)
    plain = {"x": x, "edge_index": e}
    save(folder, "sage", Stack(Sage), plain)
    save(folder, "sage_scripted", Stack(Sage), plain, scripted=True)
    save(folder, "sage_no_edges", Stack(Sage), {"x": x, "edge_index": e[:, :0]}, scripted=True)
    save(folder, "both_ends", BothEnds(), plain)
    save(folder, "hops", Hops(), plain)
    save(folder, "shares", Stack(Shares), plain)
    save(folder, "gcn", Stack(Gcn, 3), plain)
    save(folder, "gat", Stack(Gat), plain)
    save(folder, "scored", Scored(), plain)
    save(folder, "gated", Gated(), plain)
    save(folder, "gated_double", Gated(dtype=torch.float64), {"x": x.double(), "edge_index": e})
    save(folder, "gated_kept", Gated(keep=True), plain)
    save(folder, "softmaxed", Softmaxed(), plain)
    save(folder, "softmaxed_over_sources", Softmaxed(over=0), plain)
    save(folder, "softmaxed_weights", Softmaxed(weights=True), plain)
    save(folder, "softmaxed_crossed", Softmaxed(crossed=True), plain)
    save(folder, "several", Several(), plain)
    save(folder, "reduced", Reduced(), {**plain, "edge_attr": torch.randn(E, 3)})
    save(folder, "normed", Normed(), plain)
    save(folder, "readout", Readout(), {**plain, "batch": (torch.arange(N) * 3 // N)})
    save(folder, "edges", Edges(), plain)
    save(folder, "sparse", Sparse(), {**plain, "edge_weight": torch.rand(E)}, scripted=True)
    save(folder, "overwritten", Overwritten(), plain)
    save(folder, "wide", Wide(), {**plain, "kind": torch.arange(N) % 7})
    hetero = {"xs": {"user": torch.randn(23, F), "item": torch.randn(31, F)}, "es": {}}
    g = torch.Generator().manual_seed(3)
    for name, (s, d) in {"user__to__item": (23, 31), "item__to__user": (31, 23), "user__to__user": (23, 23)}.items():
        hetero["es"][name] = torch.stack([torch.randint(0, s, (60,), generator=g), torch.randint(0, d - 1, (60,), generator=g)])
    save(folder, "hetero", Hetero(), hetero)


if __name__ == "__main__":
    main(sys.argv[1])
