"""Weights with a row for each row of a table, which the operators tell, not a role: they send, receive and meet other rows. Such a
table is as large on every graph."""
import torch
from torch import nn
from torch_geometric import nn as pyg

from graphs import FEATURES, HIDDEN
from registry import Group

group = Group("learned_rows")
H, NODES, USERS, ITEMS = HIDDEN, 19, 17, 12


def of_nodes(graph):
    return {"x": graph["x"][:NODES].clone(), "edge_index": graph["edge_index"] % NODES}


def edges_alone(graph):
    return {"edge_index": graph["edge_index"] % (NODES - 2)}  # the last nodes have no edges


def weighted(graph):
    return {**edges_alone(graph), "edge_weight": graph["edge_weight"]}


def interactions(users, items):
    def inputs(graph):
        index = graph["edge_index"]
        return {"edge_index": torch.stack([index[0] % users, index[1] % items])}
    return inputs


def both_ways(graph):
    return {**interactions(USERS, ITEMS)(graph), "back": interactions(ITEMS, USERS)(graph)["edge_index"]}


def twice(inputs, build, name):
    group.add(f"{name}_traced", build, inputs)
    group.add(f"{name}_scripted", build, inputs, how="script")


class Interactions(nn.Module):
    """Rows of users and of items that send to each other."""

    def __init__(self, users=USERS, items=ITEMS):
        super().__init__()
        self.user, self.item = nn.Parameter(torch.randn(users, H)), nn.Parameter(torch.randn(items, H))

    def forward(self, edge_index):
        user = self.user.index_add(0, edge_index[0], self.item[edge_index[1]])
        item = torch.zeros_like(self.item).index_add(0, edge_index[1], user[edge_index[0]])
        return user.tanh(), item


class TwoRelations(Interactions):
    def forward(self, edge_index, back):
        item = self.item.index_add(0, edge_index[1], self.user[edge_index[0]]).relu()
        return torch.zeros_like(self.user).index_add(0, back[1], item[back[0]]) + self.user


class Propagated(nn.Module):
    """One table of all nodes, propagated and averaged."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(NODES, H)

    def forward(self, edge_index):
        h = self.table.weight
        out = h
        for _ in range(2):
            h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
            out = out + h
        return out / 3


def joint_edges(graph):
    return {"edge_index": graph["edge_index"] % (USERS + ITEMS - 2)}


def joint_matrix(layout):
    def inputs(graph):
        index = joint_edges(graph)["edge_index"]
        size = (USERS + ITEMS, USERS + ITEMS)
        weights = torch.rand(index.size(1), generator=torch.Generator().manual_seed(2))
        matrix = torch.sparse_coo_tensor(index, weights, size).coalesce()
        return {"adj": matrix.to_sparse_csr() if layout == "csr" else matrix}
    return inputs


class Joined(Interactions):
    """Users and items in one numbering, as recommenders have them."""

    def propagate(self, h, edge_index):
        return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])

    def forward(self, edge_index):
        h = torch.cat([self.user, self.item])
        out = [h]
        for _ in range(2):
            h = self.propagate(h, edge_index)
            out.append(h)
        h = torch.stack(out, 1).mean(1)
        return h[:self.user.size(0)], h[self.user.size(0):]


class JoinedByMatrix(Joined):
    def propagate(self, h, adj):
        return torch.sparse.mm(adj, h)

    def forward(self, adj):
        h = torch.cat((self.user, self.item), dim=0)
        h = (h + self.propagate(h, adj)).tanh()
        return torch.split(self.propagate(h, adj), [self.user.size(0), self.item.size(0)])


class ByMatrix(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(USERS + ITEMS, H)

    def forward(self, adj):
        return torch.sparse.mm(adj, torch.sparse.mm(adj, self.table.weight).relu())


class AddedToFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.lin = nn.Parameter(torch.randn(NODES, H)), nn.Linear(FEATURES, H)

    def forward(self, x, edge_index):
        h = self.lin(x) + self.own
        return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]) * self.own


class PlacedByType(nn.Module):
    """One numbering of all nodes; those of one kind have features, the others a row of a weight, each by a number of its own."""

    def __init__(self):
        super().__init__()
        self.others, self.lin, self.out = nn.Parameter(torch.randn(128, H)), nn.Linear(FEATURES, H), nn.Linear(H, 3)

    def forward(self, x, node_type, local_id, edge_index):
        other = node_type == 1
        h = x.new_zeros([node_type.size(0), self.others.size(1)])
        h[other] = self.others[local_id[other]]
        h[~other] = self.lin(x[local_id[~other]])
        h = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]) + h
        return self.out(h)


def placed(graph):
    kind = (graph["kind"] == 1).long()
    place = torch.where(kind == 1, kind.cumsum(0) + 20, (1 - kind).cumsum(0)) - 1
    return {"x": graph["x"][:int((1 - kind).sum())], "node_type": kind, "local_id": place, "edge_index": graph["edge_index"]}


def periods(graph):
    g = torch.Generator().manual_seed(graph["x"].size(0))
    return {"x": torch.randn(2, NODES, 6, FEATURES, generator=g), "edge_index": graph["edge_index"] % NODES}


class Sensors(nn.Module):
    """STGCN: a convolution over time, messages, and batch norms whose channels are the nodes."""

    def __init__(self, affine=True):
        super().__init__()
        self.time, self.out = nn.Linear(FEATURES, H), nn.Linear(H, 3)
        self.norm, self.last = nn.BatchNorm2d(NODES, affine=affine), nn.BatchNorm1d(NODES, affine=affine)
        for norm in (self.norm, self.last):
            for tensor in (norm.running_mean, norm.running_var, *norm.parameters()):
                nn.init.uniform_(tensor, 0.5, 2.0)

    def forward(self, x, edge_index):
        h = self.norm(self.time(x)).transpose(1, 0)
        h = (h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])).relu()
        return self.out(self.last(h.transpose(0, 1).mean(2)))


class LightGCN(nn.Module):
    """A file has the number of nodes, as tracing writes it."""

    def __init__(self):
        super().__init__()
        self.model = pyg.LightGCN(NODES, H, 2)

    def forward(self, edge_index, edge_weight):
        return self.model.get_embedding(edge_index, edge_weight)


twice(interactions(USERS, ITEMS), Interactions, "users_and_items")
twice(interactions(ITEMS, ITEMS), lambda: Interactions(ITEMS, ITEMS), "as_many_users_as_items")
twice(both_ways, TwoRelations, "users_and_items_both_ways")
twice(edges_alone, Propagated, "one_table_propagated")
twice(of_nodes, AddedToFeatures, "rows_of_features_and_weights")
twice(of_nodes, lambda: pyg.LINKX(NODES, FEATURES, H, 3, 2), "linkx")
twice(placed, PlacedByType, "rows_placed_by_type")
twice(periods, Sensors, "nodes_as_channels")
twice(periods, lambda: Sensors(affine=False), "nodes_as_channels_without_weights")
twice(joint_edges, Joined, "users_and_items_in_one_numbering")
for layout in ("coo", "csr"):
    twice(joint_matrix(layout), JoinedByMatrix, f"users_and_items_by_a_{layout}_matrix")
    twice(joint_matrix(layout), ByMatrix, f"one_table_by_a_{layout}_matrix")
group.add("light_gcn", LightGCN, weighted)
