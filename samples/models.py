"""The bundled samples' models: message passing in plain PyTorch, ready to be traced.

They take x [N, F] and edge_index [2, E] (row 0: sources, row 1: destinations). Sizes come from x.size(0), never from
the edges, so that a traced model fits every graph.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def sum_into(messages: Tensor, destinations: Tensor, nodes: int) -> Tensor:
    """Per node the sum of the messages that arrive there."""
    return messages.new_zeros((nodes, messages.size(1))).index_add(0, destinations, messages)


def degree(x: Tensor, destinations: Tensor) -> Tensor:
    """Number of arriving edges per node, as a column [N, 1]."""
    return sum_into(x.new_ones((destinations.size(0), 1)), destinations, x.size(0))


class GCNLayer(nn.Module):
    """Kipf and Welling: symmetric normalisation, the node itself counted as one more neighbour."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index[0], edge_index[1]
        scale = (degree(x, dst) + 1).rsqrt()
        h = self.lin(x) * scale
        return (sum_into(h.index_select(0, src), dst, x.size(0)) + h) * scale + self.bias


class SAGELayer(nn.Module):
    """Hamilton et al.: the mean of the neighbours beside the node itself."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.own, self.neighbours = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index[0], edge_index[1]
        mean = sum_into(x.index_select(0, src), dst, x.size(0)) / degree(x, dst).clamp(min=1)
        return self.own(x) + self.neighbours(mean)


class GATLayer(nn.Module):
    """Velickovic et al.: heads that weigh the neighbours by a softmax over the arriving edges."""

    def __init__(self, inputs: int, outputs: int, heads: int):
        super().__init__()
        self.heads, self.outputs = heads, outputs
        self.lin = nn.Linear(inputs, heads * outputs, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, outputs))
        self.att_dst = nn.Parameter(torch.empty(1, heads, outputs))
        self.bias = nn.Parameter(torch.zeros(heads * outputs))
        nn.init.xavier_uniform_(self.att_src)
        nn.init.xavier_uniform_(self.att_dst)

    def attention(self, h: Tensor, src: Tensor, dst: Tensor) -> Tensor:
        """Per edge and head the share of this neighbour, [E, heads]; the shares of a destination sum to 1."""
        nodes = h.size(0)
        score_src, score_dst = (h * self.att_src).sum(-1), (h * self.att_dst).sum(-1)
        score = F.leaky_relu(score_src.index_select(0, src) + score_dst.index_select(0, dst), 0.2)
        index = dst.unsqueeze(1).expand_as(score)
        # Without its largest score per destination no exponential overflows.
        largest = score.new_zeros((nodes, self.heads)).scatter_reduce(0, index, score, "amax", include_self=False)
        weight = (score - largest.index_select(0, dst)).exp()
        return weight / sum_into(weight, dst, nodes).index_select(0, dst)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index[0], edge_index[1]
        h = self.lin(x).view(-1, self.heads, self.outputs)
        messages = h.index_select(0, src) * self.attention(h, src, dst).unsqueeze(-1)
        return sum_into(messages.flatten(1), dst, x.size(0)) + self.bias


class GCN(nn.Module):
    def __init__(self, inputs: int, hidden: int, classes: int):
        super().__init__()
        self.conv1, self.conv2 = GCNLayer(inputs, hidden), GCNLayer(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(self.conv1(x, edge_index).relu(), 0.5, self.training)
        return self.conv2(x, edge_index)


class SAGE(nn.Module):
    def __init__(self, inputs: int, hidden: int, classes: int):
        super().__init__()
        self.conv1, self.conv2 = SAGELayer(inputs, hidden), SAGELayer(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(self.conv1(x, edge_index).relu(), 0.5, self.training)
        return self.conv2(x, edge_index)


class GAT(nn.Module):
    def __init__(self, inputs: int, hidden: int, classes: int, heads: int = 4):
        super().__init__()
        self.conv1, self.conv2 = GATLayer(inputs, hidden // heads, heads), GATLayer(hidden, classes, 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(F.elu(self.conv1(x, edge_index)), 0.5, self.training)
        return self.conv2(x, edge_index)


class JKNet(nn.Module):
    """Xu et al.: the answer looks at every layer's output side by side."""

    def __init__(self, inputs: int, hidden: int, classes: int, layers: int = 3):
        super().__init__()
        self.convs = nn.ModuleList([GCNLayer(inputs if i == 0 else hidden, hidden) for i in range(layers)])
        self.lin = nn.Linear(layers * hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        outputs = []
        for conv in self.convs:
            x = F.dropout(conv(x, edge_index).relu(), 0.5, self.training)
            outputs.append(x)
        return self.lin(torch.cat(outputs, 1))


class Residual(nn.Module):
    """Four layers, each added to what went into it, with layer normalisation."""

    def __init__(self, inputs: int, hidden: int, classes: int, layers: int = 4):
        super().__init__()
        self.enter, self.leave = nn.Linear(inputs, hidden), nn.Linear(hidden, classes)
        self.convs = nn.ModuleList([SAGELayer(hidden, hidden) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(hidden) for _ in range(layers)])

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.enter(x)
        for conv, norm in zip(self.convs, self.norms):
            x = x + F.dropout(conv(norm(x), edge_index).relu(), 0.5, self.training)
        return self.leave(x)
