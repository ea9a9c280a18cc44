"""The sentences that refuse rarer models, each with a part of its hint, and what the hints say, done."""
import torch
from torch import Tensor, nn

from graphs import FEATURES, HIDDEN, PLAIN, WITH_BATCH, WITH_WEIGHT, take
from layers import Parts, PartsGroup, add_rows

group = PartsGroup("sentences")
H = HIDDEN
refused = group.refused
accepted = group.of  # what a hint says, done


def pair(reason, hint, inputs=PLAIN, **options):
    """Two scripted modules: the one that is refused, and the one that the hint tells to write."""
    def register(kinds):
        group.add(kinds.__name__, kinds.Refused, inputs, how="script", expect="refuse", reason=reason, hint=hint)
        group.add(f"{kinds.__name__}_by_the_hint", kinds.Accepted, inputs, how="script", **options)
        return kinds

    return register


# Row numbers and masks ------------------------------------------------------------------------------------------------
@refused("the rows it reads depend on features", hint="pass them in: --role NAME=key:T>U")
def rows_read_by_features(m, x, edge_index):
    h = m.inp(x)
    return h[h.argmax(1)]


@refused("the rows it writes depend on features", hint="pass them in: --role NAME=key:T>U")
def rows_written_by_features(m, x, edge_index):
    h = m.inp(x)
    return torch.zeros_like(h).index_add(0, h.argmax(1), h)


@refused("a mask over several dimensions", hint="torch.where(mask, h, 0)")
def elements_selected(m, x, edge_index):
    return m.inp(x)[torch.ones(x.size(0), H) > 0]


@accepted()
def elements_chosen(m, x, edge_index):
    h = m.inp(x)
    return m.a(torch.where(h > 0, h, 0), edge_index)


@refused("indexes a flattened tensor", hint="along the other dimension with gather")
def flat_numbers(m, x, edge_index):
    return torch.take_along_dim(m.inp(x), torch.tensor([1, 2]))


@refused("indexes dimensions that are not adjacent", hint="pick rows first, h[index]")
def rows_and_columns_at_once(m, x, edge_index):
    return m.inp(x).view(-1, 2, 2, 2)[edge_index[0], :, torch.zeros_like(edge_index[0])]


@accepted()
def rows_and_then_columns(m, x, edge_index):
    h = m.inp(x).view(-1, 2, 2, 2)[edge_index[0]]
    return add_rows(h.select(2, 1) + h.gather(2, h.argmax(2, keepdim=True)).squeeze(2), edge_index[1], x.size(0))


@refused("writes through several indices", hint="write whole rows, h[index] = m, or rows of one column after another")
def written_at_once(m, x, edge_index):
    h = m.inp(x).clone()
    h[edge_index[0], torch.zeros_like(edge_index[0])] = 1.0
    return h


@accepted()
def written_column_by_column(m, x, edge_index):
    h = m.inp(x).clone()
    h[:, 0][edge_index[0]] = 1.0
    return m.a(h, edge_index)


@refused("writes rows other than those selected by the mask", hint="h[mask] = f(h)[mask]")
def other_rows_written(m, x, edge_index):
    w = m.inp(x)[edge_index[0]]
    loops = edge_index[0] == edge_index[1]
    return add_rows(w.index_put((loops,), m.inp(x)[:1]), edge_index[1], x.size(0))


@accepted()
def same_rows_written(m, x, edge_index):
    w = m.inp(x)[edge_index[0]]
    loops = edge_index[0] == edge_index[1]
    w[loops] = m.lin(w)[loops]
    return add_rows(w, edge_index[1], x.size(0))


@accepted(inputs=WITH_BATCH)
def a_scaled_readout(m, x, edge_index, batch):
    return torch.ones(4, H).index_add(0, batch, m.inp(x), alpha=2).index_add(0, batch, m.inp(x).tanh(), alpha=-0.5)


@refused("is called with dtype=11, which its rule does not support", hint="express its effect by a separate operator")
def whether_any_row_is_not_zero(m, x, edge_index):
    h = m.inp(x).relu()
    return h + (h * 0.001).sum(0, dtype=torch.bool)


@accepted()
def whether_the_largest_row_is_not_zero(m, x, edge_index):
    h = m.inp(x).relu()
    return h + (h * 0.001).abs().amax(0).to(torch.bool)


@refused("takes the first dimension of size 3, which may be the dimension of the rows", hint="torch.cross(a, b, dim=-1)")
def cross_of_whatever_has_three(m, x, edge_index):
    return torch.ops.aten.cross(m.inp(x)[:, :3], x[:, :3])


@accepted()
def cross_along_columns(m, x, edge_index):
    return torch.cross(m.inp(x)[:, :3], x[:, :3], dim=-1)


@refused("a norm other than 2 over the rows", hint="write it with sums, means or extremes over rows")
def largest_singular_value(m, x, edge_index):
    return m.inp(x) * torch.linalg.norm(m.inp(x), 2)


@accepted()
def length_of_all_numbers(m, x, edge_index):
    return m.inp(x) * (m.inp(x) ** 2).sum().sqrt()


@refused("mixes the rows with another dimension", hint="keep the rows in a dimension of their own")
def channels_of_merged_rows(m, x, edge_index):
    h = m.inp(x).view(-1, 2, 4).repeat(1, 2, 1)
    return torch.nn.functional.prelu(h.view(-1, 4), m.lin.bias[:4]).view(h.size(0), 4, 4)


@accepted()
def channels_of_rows(m, x, edge_index):
    h = m.inp(x).view(-1, 2, 4).repeat(1, 2, 1)
    return torch.where(h > 0, h, h * m.lin.bias[:4])


@accepted()
def attention_over_nodes_in_double(m, x, edge_index):
    return m.inp(x).softmax(0, dtype=torch.double)


@refused("two orders or selections of the rows of edge_index meet", hint="weight[order] with edge_index[:, order]",
         inputs=WITH_WEIGHT)
def weights_left_in_their_order(m, x, edge_index, edge_weight):
    order = torch.argsort(edge_index[0])
    return add_rows(m.inp(x)[edge_index[0][order]] * edge_weight.unsqueeze(1), edge_index[1][order], x.size(0))


@accepted(inputs=WITH_WEIGHT)
def weights_in_the_same_order(m, x, edge_index, edge_weight):
    order = torch.argsort(edge_index[0])
    row, col = edge_index[:, order]
    return add_rows(m.inp(x)[row] * edge_weight[order].unsqueeze(1), col, x.size(0))


@refused("indexes by the numbers of rows that were selected or sorted", hint="all rows and select afterwards")
def added_up_into_selected_rows(m, x, edge_index):
    h = m.inp(x)[torch.arange(x.size(0)) % 2 == 0]
    return torch.zeros_like(h).index_add(0, torch.arange(h.size(0)), h)


@accepted()
def added_up_and_selected(m, x, edge_index):
    h = m.inp(x)
    return add_rows(h[edge_index[0]], edge_index[1], x.size(0))[torch.arange(x.size(0)) % 2 == 0]


# Numbers of rows --------------------------------------------------------------------------------------------------------
@refused("bincount whose minlength is not the number of rows", hint="minlength=x.size(0)")
def counts_of_seven_rows_or_more(m, x, edge_index):
    return m.inp(x) * torch.bincount(edge_index[1], minlength=7).unsqueeze(1)


@accepted()
def counts_of_all_rows(m, x, edge_index):
    h = m.inp(x)
    sums = torch.bincount(edge_index[1], weights=h[edge_index[0]][:, 0], minlength=x.size(0))
    return h * (torch.bincount(edge_index[1], minlength=x.size(0)) + sums).unsqueeze(1)


@refused("arange over a number that is not the size of a table", hint="torch.arange(x.size(0))")
def numbers_of_no_table(m, x, edge_index):
    return m.inp(x).mean(0) + torch.arange(3, 2 * x.size(0) + 1).sum()


@refused("a size that is computed from the graph is not the size of a known table", hint="the size of an input")
def table_of_twice_the_rows(m, x, edge_index):
    h = m.inp(x)
    return h.new_zeros(2 * x.size(0), H).index_add(0, 2 * edge_index[1], h[edge_index[0]])


@refused("picks a range whose bounds depend on the graph", hint="the size of an input")
def first_rows_of_a_weight(m, x, edge_index):
    return m.inp(x) * torch.ones_like(m.inp.weight[: edge_index.max() % 7 + 1]).sum()


@pair("picks a range whose bounds depend on the graph", "the size of an input")
class PartsOfAWeight:
    class Refused(nn.Module):
        def __init__(self):
            super().__init__()
            self.inp = nn.Linear(FEATURES, H)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            weight = self.inp.weight
            first = int(edge_index.max()) % weight.size(0)
            return self.inp(x) * torch.ones_like(weight.split([first, weight.size(0) - first])[0]).sum()

    class Accepted(nn.Module):
        def __init__(self):
            super().__init__()
            self.inp = nn.Linear(FEATURES, H)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.inp(x) * torch.ones_like(x[:, 0]).sum()


@refused("adds rows to node", hint="to the inputs of the model")
def row_added_by_padding(m, x, edge_index):
    return nn.functional.pad(m.inp(x), (0, 0, 0, 1))


@refused("joins rows of node with rows that belong to no table", hint="to the inputs of the model")
def row_joined(m, x, edge_index):
    return torch.cat([m.inp(x), torch.zeros(1, H)])


@refused("repeats the rows of node", hint="torch.cat([h, h])")
def table_repeated(m, x, edge_index):
    return m.inp(x).repeat(2, 1)


@refused("repeats the rows of node", hint="expand(-1, 2, -1)")
def rows_repeated_in_place(m, x, edge_index):
    return m.inp(x).repeat_interleave(2, 0)


@accepted()
def tables_joined_and_rows_expanded(m, x, edge_index):
    h = m.inp(x)
    return torch.cat([h, h]), m.lin(h.unsqueeze(1).expand(-1, 2, -1))


@refused("splits the rows of node", hint="slice rows as h[:k] and h[k:]")
def rows_in_chunks(m, x, edge_index):
    return m.inp(x).chunk(2)[0]


@refused("overwrites some rows of node by position", hint="computed from the same slice")
def rows_written_from_others(m, x, edge_index):
    h = m.inp(x).clone()
    h[2:5] = m.lin(h[3:6])
    return h


@refused("splits the rows into several dimensions", hint="in a dimension of their own")
def rows_unflattened(m, x, edge_index):
    return m.inp(x).unflatten(0, (-1, 1))


# Products ---------------------------------------------------------------------------------------------------------------
@refused("has rows by rows (all pairs of nodes)", hint="attention along edges")
def all_pairs_by_broadcast(m, x, edge_index):
    h = m.inp(x)
    return (h.unsqueeze(0) - h.unsqueeze(1)).relu().sum(0)


@refused("has rows by rows (all pairs of nodes)", hint="attention along edges")
def all_pairs_by_einsum(m, x, edge_index):
    h = m.inp(x)
    return torch.einsum("nf,mf->nm", h, h)


@refused("has rows by rows (all pairs of nodes)", hint="attention along edges")
def all_pairs_by_expand(m, x, edge_index):
    return m.inp(x).unsqueeze(0).expand(x.size(0), -1, -1)


@refused("contracts some rows and keeps others", hint="pass the edges instead")
def dense_adjacency_in_an_equation(m, x, edge_index):
    adjacency = torch.zeros(x.size(0), x.size(0))
    adjacency[edge_index[1], edge_index[0]] = 1
    return torch.einsum("nm,mf->nf", adjacency, m.inp(x))


@refused("fuses an addition with a product over rows", hint="as two steps")
def addition_fused(m, x, edge_index):
    h = m.inp(x)
    return torch.addmm(m.lin.weight, h.t(), h)


@accepted()
def addition_apart(m, x, edge_index):
    h = m.inp(x)
    return h.t() @ h + m.lin.weight


@refused("multiplies by a matrix that has rows of node", hint="(h @ a.t()).t()")
def matrix_of_rows(m, x, edge_index):
    return nn.functional.linear(m.lin.weight, m.inp(x))


@accepted()
def factors_swapped(m, x, edge_index):
    return (m.inp(x) @ m.lin.weight.t()).t()


def matrix_of(index: Tensor, weight: Tensor, rows: int) -> Tensor:
    return torch.sparse_coo_tensor(index, weight, [rows, rows])


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(FEATURES, H)


@pair("multiplies by a sparse matrix from the right", "edge_index.flip(0)", WITH_WEIGHT, gpu=False)
class sparse_from_the_right:
    class Refused(Weighted):
        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
            return torch.mm(self.inp(x).t(), matrix_of(edge_index, edge_weight, x.size(0)))

    class Accepted(Weighted):
        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
            return torch.mm(matrix_of(edge_index.flip(0), edge_weight, x.size(0)), self.inp(x)).t()


@pair("a sparse matrix without a size", "(x.size(0), x.size(0))", WITH_WEIGHT, gpu=False)
class sparse_without_a_size:
    class Refused(Weighted):
        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
            return torch.mm(torch.sparse_coo_tensor(edge_index, edge_weight), self.inp(x))

    class Accepted(Weighted):
        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
            return torch.mm(matrix_of(edge_index, edge_weight, x.size(0)), self.inp(x))


# Results over all rows --------------------------------------------------------------------------------------------------
@refused("a norm other than 2 over the rows of node", hint="h.abs().sum(0)")
def norm_of_columns(m, x, edge_index):
    h = m.inp(x)
    return h / h.norm(p=1, dim=0)


@refused("normalises over the rows of node", hint="(h - h.mean(0)) / h.var(0).sqrt()")
def layer_norm_over_rows(m, x, edge_index):
    return nn.functional.layer_norm(m.inp(x).t(), [x.size(0)])


@refused("group_norm reduces over the rows of node", hint="h.var(0).sqrt()")
def group_norm_over_rows(m, x, edge_index):
    return nn.functional.group_norm(m.inp(x).t().unsqueeze(0), 2)


@refused("normalises over a batch whose channels are the rows", hint="as in (h - h.mean(0)) / h.var(0).sqrt()")
def channels_normalised_by_the_batch(m, x, edge_index):
    return torch.batch_norm(m.inp(x).t(), None, None, None, None, True, 0.1, 1e-5, False).t()


@accepted()
def channels_normalised_by_means(m, x, edge_index):
    h = m.inp(x).t()
    return m.a(((h - h.mean(0)) / (h.var(0) + 1e-5).sqrt()).t(), edge_index)


@accepted(inputs=WITH_BATCH)
def graphs_normalised_by_their_batch(m, x, edge_index, batch):
    sums = torch.zeros(4, H).index_add(0, batch, m.inp(x))
    return torch.batch_norm(sums, None, None, None, None, True, 0.1, 1e-5, False)


@refused("works over the rows of node", hint="sums, means or extremes over rows")
def similarity_of_columns(m, x, edge_index):
    h = m.inp(x)
    return torch.cosine_similarity(h, h.relu(), 0)


@accepted()
def statistics_from_sums(m, x, edge_index):
    h = m.inp(x)
    g = h.relu()
    alike = (h * g).sum(0) / (h.norm(dim=0) * g.norm(dim=0))
    return m.b((h - h.mean(0)) / h.var(0).sqrt(), edge_index), h / h.abs().sum(0), alike


@refused("a readout by prod cannot be merged from batches", hint="by sum, mean, max or min", inputs=WITH_BATCH)
def product_of_each_half(m, x, edge_index, batch):
    h = m.inp(x)
    return torch.ones(2, H).scatter_reduce(0, (batch // 2).view(-1, 1).expand_as(h), h, "prod")


@refused("keeps the last of the rows", hint="by sum, mean, max or min", inputs=WITH_BATCH)
def last_row_of_each_half(m, x, edge_index, batch):
    out = torch.zeros(2, H)
    out[batch // 2] = m.inp(x)
    return out


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lstm = nn.Linear(FEATURES, H), nn.LSTM(H, H)

    def forward(self, x, edge_index):
        return self.lstm(self.inp(x).unsqueeze(1))[0]


group.add("recurrence_over_rows", Recurrent, PLAIN, expect="refuse", reason="the recurrence runs over the rows of node",
          hint="to the output of the model")


@refused("one_hot with a width that depends on features", hint="num_classes=8")
def as_wide_as_the_features_say(m, x, edge_index):
    return nn.functional.one_hot(m.inp(x).argmax(1)).float()


@accepted()
def of_a_given_width(m, x, edge_index):
    return m.a(nn.functional.one_hot(m.inp(x).argmax(1), num_classes=H).float(), edge_index)


@refused("has no rule yet for rows of node", hint="write it with other operators, request support for it")
def an_operator_without_a_rule(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h * torch.vdot(h[:, 0], h[:, 1])


@accepted()
def an_operator_written_with_others(m, x, edge_index):
    h = m.a(m.inp(x), edge_index)
    return h * (h[:, 0] * h[:, 1]).sum()


class AttentionWithDropout(Parts):
    dropout = 0.1

    def forward(self, x, edge_index):
        q, k, v = self.wide(self.inp(x).repeat(1, 3)).repeat(1, 3).view(-1, 3, 2, 4).unbind(1)
        y = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout)
        return self.a(y.reshape(-1, H), edge_index)


class AttentionWithout(AttentionWithDropout):
    dropout = 0.0


group.add("attention_with_dropout", AttentionWithDropout, PLAIN, expect="refuse",
          reason="aten::scaled_dot_product_attention draws random numbers", hint="write dropout_p=0.0")
group.add("attention_without_dropout", AttentionWithout, PLAIN)


# Declared by --role -------------------------------------------------------------------------------------------------------
def orders(roles):
    return {"inputs": take("x", "edge_index", "order"), "roles": roles}


@accepted(**orders(("order=key:node>node",)))
def rows_read_by_an_input(m, x, edge_index, order):
    return m.a(m.inp(x)[order], edge_index)
