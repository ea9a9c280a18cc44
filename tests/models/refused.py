"""Models that cannot be evaluated layer by layer, with a part of the reason that must be given; and their neighbours that
can."""
import torch
import torch_geometric.nn as G
from torch import Tensor, nn
from torch_geometric.utils import softmax, to_dense_batch

from graphs import FEATURES, HIDDEN, PLAIN, WITH_BATCH, take, trace_graph
from layers import Mean, PartsGroup, add_rows

group = PartsGroup("refused")
H = HIDDEN
refused = group.refused
accepted = group.of  # looks as if it could not be, but can


@refused("a dense product of rows by rows", hint="q @ (k.t() @ v)")
def attention_between_all_nodes(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return torch.softmax(h @ m.lin(h).t(), 1) @ h


@refused("a dense product over the rows of node", hint="pass the edges instead")
def dense_adjacency(m, x, edge_index):
    adjacency = torch.zeros(x.size(0), x.size(0))
    adjacency[edge_index[1], edge_index[0]] = 1
    return adjacency @ m.inp(x)


@accepted()
def first_row(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h - h[0]


@accepted()
def range_of_rows(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.out(h[2:9])


@accepted()
def rolled_rows(m, x, edge_index):
    return m.a(m.inp(x), edge_index).roll(1, 0)


@accepted()
def flipped_rows(m, x, edge_index):
    return m.a(m.inp(x), edge_index).flip(0)


@refused("changes the order of the rows of part of node", hint="in their order")
def selected_rows_flipped(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h[torch.arange(x.size(0)) % 3 > 0].flip(0)


@refused("aten::cumsum", hint="to the output")
def cumulative_sum_of_rows(m, x, edge_index):
    return m.a(m.inp(x), edge_index).cumsum(0)


@refused("aten::sort", hint="to the output")
def sorted_rows(m, x, edge_index):
    return m.a(m.inp(x), edge_index).sort(0)[0]


@refused("aten::topk", hint="to the output")
def best_rows(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h[h[:, 0].topk(5)[1]]


@refused("the selection of rows depends on features", hint="multiply by the mask")
def rows_chosen_by_features(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h[h[:, 0] > 0]


@refused("the selection of rows depends on features", hint="multiply by the mask")
def edges_chosen_by_features(m, x, edge_index):
    h = m.inp(x)
    keep = (h[edge_index[0]] * h[edge_index[1]]).sum(-1) > 0
    return m.a(h, edge_index[:, keep])


@refused("compares all pairs of rows", hint="attention along edges")
def nearest_neighbours_of_features(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h[torch.cdist(h, h).topk(3, largest=False)[1]].max(1)[0]


@refused("a size may have been baked in")
def size_baked_into_the_trace(m, x, edge_index):
    return torch.zeros(23, H).index_add(0, edge_index[1], m.inp(x)[edge_index[0]])


@refused("a size may have been baked in")
def size_baked_into_a_sparse_matrix(m, x, edge_index):
    n = int(x.shape[0])
    matrix = torch.sparse_coo_tensor(edge_index, torch.ones(edge_index.size(1)), (n, n))
    return torch.sparse.mm(matrix, m.inp(x))


@refused("a dense product of rows by rows", hint="attention along edges")
def rows_times_their_transpose(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return (h @ h.t()).sum(1)


@refused("aten::rand_like draws random numbers", hint="model.eval()")
def noise(m, x, edge_index):
    return m.a(m.inp(x) + torch.rand_like(x[:, :1]), edge_index)


@refused("aten::dropout draws random numbers", hint="model.eval()")
def dropout_left_on(m, x, edge_index):
    return m.a(nn.functional.dropout(m.inp(x), 0.5, True), edge_index)


def scripted(reason):
    return group.module(PLAIN, how="script", expect="refuse", reason=reason, hint="torch.where")


@scripted("reads a number from features")
class loop_count_from_features(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        for _ in range(int(h.abs().sum().item()) % 3 + 1):
            h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]).tanh()
        return h


@scripted("reads a number from features")
class loop_until_converged(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        change = 1.0
        while change > 0.1:
            new = 0.5 * torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]).tanh()
            change = float((new - h).abs().max()) * 0.01
            h = new
        return h


@scripted("reads a number from features")
class branch_on_features(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        if bool(h.sum() > 0):
            h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        return h


class Wrapped(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.inp, self.conv = nn.Linear(FEATURES, H), conv

    def forward(self, x, edge_index):
        return self.conv(self.inp(x), edge_index)


class TopPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.pool = G.SAGEConv(FEATURES, H), G.TopKPooling(H)

    def forward(self, x, edge_index):
        return self.pool(self.conv(x, edge_index), edge_index)[0]



def cached():
    """A model that was run once before it is exported: the traced graph's weights are in the file."""
    model = Wrapped(G.GCNConv(H, H, cached=True)).eval()
    model(**PLAIN(trace_graph()))
    return model


group.add("pyg_gcn_cached", cached, PLAIN, expect="refuse", reason="are constants of the file, such as the edges of the graph",
          hint="cached=False")
group.add("pyg_topk_pooling", TopPool, PLAIN, expect="refuse", reason="works over the rows of node in sequence")
class Gps(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.gps = nn.Linear(FEATURES, H), G.GPSConv(H, G.SAGEConv(H, H), heads=2)

    def forward(self, x, edge_index, batch):
        return self.gps(self.inp(x), edge_index, batch)


group.add("pyg_gps", Gps, WITH_BATCH, expect="refuse",
          reason="forward fails on the sample", hint="a size may have been baked in")


@accepted()
def rows_doubled(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return torch.cat([h, h], 0).view(2, -1, H).sum(0)


@accepted()
def rows_repeated(m, x, edge_index):
    return m.a(m.inp(x), edge_index).unsqueeze(1).repeat(1, 3, 1).flatten(1)


@refused("mixes the rows with another dimension", hint="in a dimension of their own")
def rows_flattened(m, x, edge_index):
    return m.a(m.inp(x), edge_index).view(-1)


@accepted()
def rows_merged_with_heads(m, x, edge_index):
    h = m.a(m.inp(x), edge_index).view(-1, 2)
    return m.a((h * h.softmax(1)).view(x.size(0), H), edge_index)


@refused("mixes the rows with another dimension", hint="in a dimension of their own")
def rows_that_stay_merged_with_heads(m, x, edge_index):
    return m.a(m.inp(x), edge_index).view(-1, 2).tanh()


@refused("a size may have been baked in")
def largest_id_plus_one(m, x, edge_index):
    h = m.inp(x)
    return add_rows(h[edge_index[0]], edge_index[1], int(edge_index.max()) + 1)


@accepted(inputs=take("x", "edge_index", "order"), roles=("order=key:node>node",))
def rows_permuted(m, x, edge_index, order):
    h = m.a(m.inp(x), edge_index)
    return m.b(h[order], edge_index)


@refused("aten::median", hint="to the output")
def median_of_nodes(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h - h.median(0)[0]


@refused("aten::argmax", hint="to the output")
def largest_row_number(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h.argmax(0), h.argmax(1)


@accepted()
def ids_shifted(m, x, edge_index):
    shifted = torch.stack([edge_index[0] + x.size(0), edge_index[1]])
    both = torch.cat([m.inp(x), m.lin(m.inp(x))], 0)
    return add_rows(both[shifted[0]], shifted[1], x.size(0))


@refused("has an unknown origin", hint="--role NAME=node:T")
def ids_shifted_by_one(m, x, edge_index):
    both = torch.cat([m.inp(x), m.lin(m.inp(x))], 0)
    return add_rows(both[edge_index[0] + 1], edge_index[1], x.size(0))


@accepted()
def last_write_wins(m, x, edge_index):
    h = m.inp(x)
    out = torch.zeros_like(h)
    out[edge_index[1]] = h[edge_index[0]]
    return m.a(out, edge_index)


class Shrinking(nn.Module):
    """NeighborSampler's habit: the first rows are the targets."""

    def __init__(self):
        super().__init__()
        self.inp, self.a = nn.Linear(FEATURES, H), Mean()

    def forward(self, x, edge_index):
        h = self.inp(x)
        n = h.size(0) - 3
        kept = edge_index[:, (edge_index < n).all(0)]
        return self.a(h[:n], kept)


group.add("targets_are_the_first_rows", Shrinking, PLAIN)


# What the hints say, done -------------------------------------------------------------------------------------------------
@accepted()
def attention_between_all_nodes_made_linear(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    q, k = nn.functional.elu(m.lin(h)) + 1, nn.functional.elu(h) + 1
    return q @ (k.t() @ h) / (q @ k.sum(0).unsqueeze(1))


@accepted()
def dense_adjacency_as_edges(m, x, edge_index):
    h = m.inp(x)
    return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])


@accepted()
def rows_chosen_by_a_mask_that_multiplies(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return m.b(h * (h[:, 0] > 0).unsqueeze(1), edge_index)


@accepted()
def edges_chosen_by_a_mask_that_multiplies(m, x, edge_index):
    h = m.inp(x)
    keep = (h[edge_index[0]] * h[edge_index[1]]).sum(-1) > 0
    return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]] * keep.unsqueeze(1))


@accepted()
def branch_on_features_by_where(m, x, edge_index):
    h = m.inp(x)
    return torch.where(h.sum() > 0, torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]), h)


@accepted()
def heads_beside_the_rows(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    h = h.view(h.size(0), -1, 2)
    return m.a((h * h.softmax(2)).flatten(1), edge_index)


@accepted()
def attention_over_a_dimension_of_its_own(m, x, edge_index):
    h = m.a(m.inp(x), edge_index).view(-1, 2, H // 2)
    return m.a((torch.softmax(h @ h.transpose(-1, -2), -1) @ h).flatten(1), edge_index)


@accepted()
def row_to_be_picked_from_the_output(m, x, edge_index):
    return m.a(m.inp(x), edge_index)


@accepted()
def dropout_switched_off(m, x, edge_index):
    return m.a(nn.functional.dropout(m.inp(x), 0.5, False), edge_index)


@accepted()
def kinds_of_rows_told_apart_by_where(m, x, edge_index):
    h, kind = m.inp(x), (x[:, 0] > 0).long()
    for k in range(2):
        h = torch.where((kind == k).unsqueeze(1), m.lin(h + k), h)
    return m.a(h, edge_index)


@accepted()
def softmax_that_is_told_the_number_of_rows(m, x, edge_index):
    h = m.inp(x)
    weight = softmax(m.lin(h)[edge_index[0]], edge_index[1], num_nodes=x.size(0))
    return add_rows(h[edge_index[0]] * weight, edge_index[1], x.size(0))


@accepted()
def copy_written_instead_of_what_may_be_a_view(m, x, edge_index):
    w = m.inp(x)[edge_index[0]]
    rows = w[edge_index[0] != edge_index[1]].t()
    y = rows.contiguous().clone()
    y.add_(1)
    return add_rows(w, edge_index[1], x.size(0)) + y.sum() * 0.01


class SizeFromTheInput(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(FEATURES, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        return torch.zeros([x.size(0), h.size(1)]).index_add(0, edge_index[1], h[edge_index[0]])


group.add("size_from_the_input", SizeFromTheInput, PLAIN, how="script")
group.add("pyg_gcn_not_cached", lambda: Wrapped(G.GCNConv(H, H)), PLAIN)


@refused("has the rows of several tables, one below the other", inputs=take("x", "item", "to_item"),
         hint="return the parts one by one", roles=("x=node:user", "item=node:item", "to_item=index:user>item"))
def two_types_joined(m, x, item, to_item):
    h = m.inp(x)
    return torch.cat([h, item.repeat(1, H // 4).index_add(0, to_item[1], h[to_item[0]])], 0)


@refused("needs all rows of a graph at once", inputs=WITH_BATCH)
def dense_batch_of_halves(m, x, edge_index, batch):
    return to_dense_batch(m.inp(x), batch // 2, max_num_nodes=12, batch_size=2)


def sparse_entries(graph):
    return {"x": graph["x"], "adj": torch.sparse_coo_tensor(
        graph["edge_index"], graph["edge_weight"], (graph["x"].size(0),) * 2).coalesce()}


@refused("reduces the products of a row by 'mean'", inputs=sparse_entries, hint="pass the edges")
def sparse_product_by_the_mean(m, x, adj):
    return torch.sparse.mm(adj.to_sparse_csr(), m.inp(x), "mean")
