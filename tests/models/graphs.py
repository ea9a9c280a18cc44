"""Small random graphs with everything that has ever broken a layer-wise run, and the inputs cut from them."""
import torch

FEATURES, EDGE_FEATURES, HIDDEN, RELATIONS, GRAPHS = 6, 5, 8, 3, 4


def pairs(generator, sources, targets, count):
    return torch.stack([torch.randint(0, sources, (count,), generator=generator),
                        torch.randint(0, targets, (count,), generator=generator)])


def random_edges(generator, nodes, count, isolated):
    """Edges among the nodes that are not isolated: duplicates, self-loops, a hub, a pure source and a pure sink."""
    order = torch.randperm(nodes, generator=generator)
    live = order[isolated:]
    index = live[pairs(generator, len(live), len(live), count)]
    index[:, 3] = index[:, 2]
    index[:, 4] = index[:, 2]                       # the same edge three times
    index[1, 7] = index[0, 7]
    index[:, 8] = index[:, 7]                       # a self-loop, twice
    index[1, 20:20 + count // 6] = live[1]          # a hub
    source, sink = live[2], live[3]
    index[1][index[1] == source] = live[1]
    index[0][index[0] == sink] = live[1]
    index[:, 11] = live[4]                          # a node whose first edge is its own loop
    return index


def random_graph(seed, nodes, edges, isolated, queries):
    g = torch.Generator().manual_seed(seed)
    other = nodes // 2 + 5
    data = {
        "x": torch.randn(nodes, FEATURES, generator=g),
        "edge_index": random_edges(g, nodes, edges, isolated),
        "edge_attr": torch.randn(edges, EDGE_FEATURES, generator=g),
        "edge_weight": torch.rand(edges, generator=g) + 0.1,
        "edge_type": torch.randint(0, RELATIONS, (edges,), generator=g),
        "batch": torch.sort(torch.randint(0, GRAPHS, (nodes,), generator=g))[0],
        "kind": torch.randint(0, GRAPHS, (nodes,), generator=g),
        "query": pairs(g, nodes, nodes, queries),
        "item": torch.randn(other, 4, generator=g),
        "to_item": pairs(g, nodes - 3, other - 2, edges - 9),
        "from_item": pairs(g, other - 1, nodes - 2, edges + 4),
        "order": torch.randperm(nodes, generator=g),
    }
    data["batch"][0], data["batch"][-1] = 0, GRAPHS - 1
    data["kind"][:GRAPHS] = torch.arange(GRAPHS)
    return data


def trace_graph():
    return random_graph(11, 23, 71, 2, 37)


def test_graphs():
    return [random_graph(12, 29, 97, 3, 53), random_graph(13, 83, 307, 9, 61)]


def take(*names):
    """Inputs function that passes the named entries under their own names; "a=b" passes entry b as argument a."""
    table = [(n.split("=")[0], n.split("=")[-1]) for n in names]
    return lambda graph: {argument: graph[entry] for argument, entry in table}


PLAIN = take("x", "edge_index")


def PAIRS(graph):
    return {"x": graph["x"], "pairs": graph["edge_index"].t().contiguous()}


def COLUMNS(graph):
    return {"x": graph["x"], "src": graph["edge_index"][0].clone(), "dst": graph["edge_index"][1].clone(),
            "edge_weight": graph["edge_weight"]}


def BIPARTITE_COLUMNS(graph):
    return {"x": graph["x"], "item": graph["item"], "src": graph["to_item"][0].clone(), "dst": graph["to_item"][1].clone()}


WITH_ATTR = take("x", "edge_index", "edge_attr")
WITH_WEIGHT = take("x", "edge_index", "edge_weight")
WITH_TYPE = take("x", "edge_index", "edge_type")
WITH_BATCH = take("x", "edge_index", "batch")


def compressed(index, targets):
    """Edges by destination: where those of each begin, their sources, and the order that they were in."""
    order = torch.argsort(index[1], stable=True)
    counts = torch.bincount(index[1], minlength=targets)
    return torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)]), index[0][order], order


def CSR(graph):
    rowptr, col, _ = compressed(graph["edge_index"], graph["x"].size(0))
    return {"x": graph["x"], "rowptr": rowptr, "col": col}


def CSR_WEIGHTED(graph):
    rowptr, col, order = compressed(graph["edge_index"], graph["x"].size(0))
    return {"x": graph["x"], "indptr": rowptr, "indices": col, "edge_weight": graph["edge_weight"][order]}


def CSR_NARROW(graph):
    return {key: value.int() if key != "x" else value for key, value in CSR(graph).items()}


def CSR_BIPARTITE(graph):
    rowptr, col, _ = compressed(graph["to_item"], graph["item"].size(0))
    return {"x": graph["x"], "item": graph["item"], "rowptr": rowptr, "col": col}
