"""Bags of embeddings, and composite operators, which have no line in the table: they are recorded as the operators that they
consist of. Each stands on
rows between two rounds of message passing, traced and scripted."""
import linecache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphs import FEATURES, HIDDEN, PLAIN
from registry import Group

group = Group("composites")
H = HIDDEN


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lin, self.near = nn.Linear(FEATURES, H), nn.Linear(H, H), nn.Linear(H, H)

    def pass_on(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return h + torch.zeros_like(h).index_add(0, edge_index[1], self.near(h)[edge_index[0]])


TEMPLATE = """class Composite(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.pass_on(self.inp(x), edge_index)
        p = h.sigmoid()
        places = (h.abs() * (h[:, :1] > 0).float() * 3).long().clamp(0, 7)  # some rows hold zeros alone
        table = self.lin.weight
        y = {}
        return self.pass_on(y, edge_index)
"""
# Of rows h and p of H = 8 numbers, p between 0 and 1, and the weight self.lin.weight.
EXPRESSIONS = {
    "column_stack": "torch.column_stack([h, p[:, 0]])[:, 1:]",
    "cosine_embedding_loss": "h * torch.cosine_embedding_loss(h, p, torch.ones_like(p[:, 0]), 0.5, 0).unsqueeze(1)",
    "cumulative_trapezoid": "torch.nn.functional.pad(torch.cumulative_trapezoid(h, dim=1), [1, 0])",
    "dstack": "torch.dstack([h, p]).sum(2)",
    "fliplr": "torch.fliplr(h) + p",
    "float_power": "torch.float_power(p, 1.5).float()",
    "hsplit": "torch.hsplit(h, 2)[0].repeat(1, 2)",
    "hstack": "torch.hstack([h, p]).view(-1, 2, 8).sum(1)",
    "kron": "torch.kron(h, self.lin.weight[:1, :2]).view(-1, 2, 8).sum(1)",
    "linalg_cond": "h * torch.linalg.cond(p.view(-1, 2, 4)).unsqueeze(1) * 0.01",
    "linalg_matrix_norm": "h * torch.linalg.matrix_norm(p.view(-1, 2, 4)).unsqueeze(1)",
    "linalg_multi_dot": "torch.linalg.multi_dot([h, self.lin.weight, self.lin.weight])",
    "linalg_vecdot": "h * torch.linalg.vecdot(h, p).unsqueeze(1)",
    "moveaxis": "torch.moveaxis(h.view(-1, 2, 4), 1, 2).reshape(-1, 8)",
    "nanmean": "h * torch.nanmean(p, [1], True)",
    "special_expit": "torch.special.expit(h)",
    "special_softmax": "torch.special.softmax(h, 1)",
    "swapaxes": "torch.swapaxes(h.view(-1, 2, 4), 1, 2).reshape(-1, 8)",
    "trapezoid": "h * torch.trapezoid(p, dim=1).unsqueeze(1)",
    "triplet_margin_loss": "h * torch.triplet_margin_loss(h, p, h * p, reduction=0).unsqueeze(1)",
    "vander": "h * torch.vander(self.lin.bias)[0]",
    "conjugate_transpose": "torch.complex(h, p).view(-1, 2, 4).mH.real.reshape(-1, 8)",
    "codebook": "table[torch.cdist(h, table).argmin(1)] + h",
    "attention_to_a_memory": "F.scaled_dot_product_attention(h, table, table)",
    "attention_without_weights": "torch._native_multi_head_attention(h.view(-1, 2, 4), h.view(-1, 2, 4), h.view(-1, 2, 4), 4, 2, "
                                 "table.view(16, 4)[:12], table[0].repeat(2)[:12], table[:4, :4], table[0, :4], None, False)[0]"
                                 ".flatten(1)",
    "bags_summed": "F.embedding_bag(places, table)",
    "bags_weighted": "F.embedding_bag(places, table, mode='sum', per_sample_weights=p)",
    "bags_mean_padded": "F.embedding_bag(places, table, mode='mean', padding_idx=0)",
    "bags_largest": "F.embedding_bag(places, table, mode='max')",
    "bags_largest_padded": "F.embedding_bag(places, table, mode='max', padding_idx=0)",
}


def composite(name, expression):
    source, space = TEMPLATE.format(expression), dict(globals())
    linecache.cache[f"{name}.py"] = (len(source), None, source.splitlines(True), f"{name}.py")
    exec(compile(source, f"{name}.py", "exec"), space)
    return space["Composite"]


for name, expression in EXPRESSIONS.items():
    for how in ("trace", "script"):
        # A difference of two distances, times values of 100: eager PyTorch itself is off by 4e-5 from float64.
        group.add(f"{name}_{how}", composite(name, expression), PLAIN, how=how, random=name == "triplet_margin_loss")
