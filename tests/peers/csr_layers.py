"""GraphSAGE, GCN and GAT as an expert would write them: CSR, sparse products, on a GPU no rows on edges. Weights are
PyG's, by their names in its state_dict. The peer `expert` applies the layers to the whole graph, loops to blocks of it.

A Triton kernel computes a GAT's edges on a GPU, and segment operators do on a CPU, where Triton does not run.
"""
from typing import NamedTuple

import torch
from peers import LAYERS
from torch import Tensor

HEADS = 2
SLOPE = 0.2  # of the leaky ReLU in PyG's attention


class Block(NamedTuple):
    """Edges by destination: the numbers of the source rows of destination i lie at offsets[i] .. offsets[i + 1]."""
    offsets: Tensor  # int32, as are the columns
    columns: Tensor
    weights: Tensor  # of the edges; a GAT has none and does not read them

    def to(self, device) -> "Block":
        return Block(*(each.to(device, non_blocking=True) for each in self))

    def matrix(self, sources: int) -> Tensor:
        shape = (self.offsets.shape[0] - 1, sources)
        return torch.sparse_csr_tensor(*self, shape)


def structure(model: str, edges: Tensor, nodes: int) -> Block:
    """The whole graph, from edges without loops: with loops for GCN and GAT, weighted by 1 / degree for the mean of
    GraphSAGE and by 1 / sqrt(both degrees) for GCN."""
    if model != "sage":
        edges = torch.cat([edges, torch.arange(nodes).expand(2, -1)], 1)
        edges = edges[:, edges[1].argsort(stable=True)]
    degrees = torch.bincount(edges[1], minlength=nodes)
    offsets = torch.cat([torch.zeros(1, dtype=torch.long), degrees.cumsum(0)])
    scale = degrees.clamp(min=1).float()
    scales = [scale[edges[1]]] if model == "sage" else [scale[edges[0]].sqrt(), scale[edges[1]].sqrt()]
    weights = torch.ones(edges.shape[1])
    for each in scales:
        weights /= each
    return Block(offsets.int(), edges[0].int(), weights)


def layer(model: str, weights: dict, k: int, rows: Tensor, own: Tensor, block: Block) -> Tensor:
    """Layer k with the ReLU behind it: `rows` are those that the columns count, `own` those of the destinations."""
    own_weights = f"convs.{k}."
    named = {name.removeprefix(own_weights): value for name, value in weights.items() if name.startswith(own_weights)}
    out = {"sage": sage, "gcn": gcn, "gat": gat}[model](named, rows, own, block)
    return out if k == LAYERS - 1 else out.relu_()


def sage(named: dict, rows: Tensor, own: Tensor, block: Block) -> Tensor:
    return torch.addmm(named["lin_l.bias"], own, named["lin_r.weight"].t()) + spread(rows, named["lin_l.weight"], block)


def gcn(named: dict, rows: Tensor, _own: Tensor, block: Block) -> Tensor:
    return spread(rows, named["lin.weight"], block) + named["bias"]


def spread(rows: Tensor, weight: Tensor, block: Block) -> Tensor:
    """A (X W'): the sparse product on the narrower side of the dense one."""
    matrix = block.matrix(rows.shape[0])
    if weight.shape[0] < weight.shape[1]:
        return matrix @ (rows @ weight.t())
    return (matrix @ rows) @ weight.t()


def gat(named: dict, rows: Tensor, own: Tensor, block: Block) -> Tensor:
    """Scores of nodes are products with one vector per head, folded into the weight."""
    weight = named["lin.weight"].view(HEADS, -1, rows.shape[1])
    source, target = (each @ (weight * named[name].view(HEADS, -1, 1)).sum(1).t()
                      for each, name in ((rows, "att_src"), (own, "att_dst")))
    wide = (rows @ named["lin.weight"].t()).view(-1, HEADS, weight.shape[1])
    out = attend(block, source, target, wide)
    joined = named["bias"].shape[0] == HEADS * weight.shape[1]
    return (out.flatten(1) if joined else out.mean(1)) + named["bias"]


def attend(block: Block, source: Tensor, target: Tensor, wide: Tensor) -> Tensor:
    """For each destination and head, the mean of the rows `wide`, weighted by the softmax of the scores. Every
    destination has an edge, its loop."""
    if wide.is_cuda:
        import triton_kernels
        return triton_kernels.attend(block, source, target, wide, SLOPE)
    lengths = block.offsets.diff().long()
    owners = torch.arange(lengths.shape[0]).repeat_interleave(lengths)
    scores = torch.nn.functional.leaky_relu(source[block.columns] + target[owners], SLOPE)
    shares = (scores - torch.segment_reduce(scores, "max", lengths=lengths)[owners]).exp()
    shares = shares / torch.segment_reduce(shares, "sum", lengths=lengths)[owners]
    return torch.segment_reduce(shares[..., None] * wide[block.columns], "sum", lengths=lengths)
