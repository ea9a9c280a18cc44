"""Views, copies and what is one or the other, then a write in place on one side: the other side must show it or not, as it
does in PyTorch. Each program is traced and scripted."""
import torch
from torch import Tensor, nn

from graphs import FEATURES, HIDDEN, PLAIN
from registry import Group

group = Group("sharing")
H = HIDDEN


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.near = nn.Linear(FEATURES, H), nn.Linear(H, H)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.pass_on(self.step(self.inp(x)), edge_index)

    def pass_on(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return h + torch.zeros_like(h).index_add(0, edge_index[1], self.near(h)[edge_index[0]])


def program(step, ways=("trace", "script"), **options):
    """Adds a model. `step`: what it does between its layers, or the whole module."""
    name, kind = step.__name__, step
    if not isinstance(step, type):
        step.__name__ = "step"  # TorchScript calls methods by this name
        kind = type(name, (Base,), {"step": step})
    for how in ways:
        group.add(f"{name}_{how}" if len(ways) > 1 else name, kind, PLAIN, how=how, **options)
    return step


def traced(step):
    """What TorchScript itself computes differently from eager PyTorch when it is scripted."""
    return program(step, ("trace",))


def refused(reason, **options):
    return lambda step: program(step, expect="refuse", reason=reason, **options)


@program
def contiguous_of_rows(self, h: Tensor) -> Tensor:
    y = h.contiguous()
    y.add_(1)
    return h


@program
def contiguous_of_a_transpose(self, h: Tensor) -> Tensor:
    y = h.t().contiguous()
    y.add_(1)
    return h + y.t()


@program
def ravelled(self, h: Tensor) -> Tensor:
    g = h.sum(1)
    y = g.ravel()
    y.add_(1)
    return h * g.unsqueeze(1)


@program
def flattened(self, h: Tensor) -> Tensor:
    g = h.clone().view(-1, 2, 4)
    y = g.flatten(1)
    y.mul_(2)
    return h + g.sum(1).repeat(1, 2)


@program
def reshaped_rows(self, h: Tensor) -> Tensor:
    y = h.reshape(-1, 2, 4)
    y[:, 0].add_(1)
    return h


@program
def reshaped_transpose(self, h: Tensor) -> Tensor:
    y = h.view(-1, 2, 4).transpose(1, 2).reshape(-1, 8)
    y.add_(1)
    return h + y


@program
def broadcast_to_itself(self, h: Tensor) -> Tensor:
    y = h.broadcast_to(h.size(0), 8)
    y.add_(1)
    return h


@program
def expanded_as_itself(self, h: Tensor) -> Tensor:
    y = h.expand_as(h)
    y.add_(1)
    return h


@traced
def type_as_itself(self, h: Tensor) -> Tensor:
    y = h.type_as(h)
    y.add_(1)
    return h


@program
def type_as_another(self, h: Tensor) -> Tensor:
    y = h.type_as(h.double())
    y.add_(1)
    return h + y.float()


@program
def real_part(self, h: Tensor) -> Tensor:
    y = torch.real(h)
    y.add_(1)
    return h


@program
def to_its_own_dtype(self, h: Tensor) -> Tensor:
    y = h.to(torch.float32)
    y.add_(1)
    return h


@program
def to_its_own_dtype_copied(self, h: Tensor) -> Tensor:
    y = h.to(torch.float32, copy=True)
    y.add_(1)
    return h + y


@program
def to_another_dtype(self, h: Tensor) -> Tensor:
    y = h.to(torch.float64)
    y.add_(1)
    return h + y.float()


@program
def cloned(self, h: Tensor) -> Tensor:
    y = h.clone()
    h.add_(1)
    return h * y


@program
def base_written_after_a_view(self, h: Tensor) -> Tensor:
    y = h.reshape(-1, 2, 4)
    h.mul_(3)
    return h + y.reshape(-1, 8)


@program
def columns_moved(self, h: Tensor) -> Tensor:
    y = h.view(-1, 2, 4).movedim(1, 2)
    y[:, 1].fill_(0.5)
    return h


@program
def transposed_twice(self, h: Tensor) -> Tensor:
    y = h.t().t()
    y[:, 2].zero_()
    return h


@program
def detached(self, h: Tensor) -> Tensor:
    y = h.detach()
    y.relu_()
    return h


@traced
def dropped_out(self, h: Tensor) -> Tensor:
    y = torch.dropout(h, 0.5, False)
    y.sub_(1)
    return h


@program
def split_in_three(self, h: Tensor) -> Tensor:
    y = h.tensor_split(3, 1)
    y[1].mul_(-1)
    return h


@program
def chunk_written_through_a_view(self, h: Tensor) -> Tensor:
    y = h.chunk(2, 1)[1].contiguous()
    y.add_(1)
    return h + y.repeat(1, 2)


@program
def viewed_as_another(self, h: Tensor) -> Tensor:
    y = h.view(-1, 2, 4).view_as(h)
    y.exp_()
    return h


@program
def positive(self, h: Tensor) -> Tensor:
    y = torch.positive(h)
    y.tanh_()
    return h


@program
def unflattened(self, h: Tensor) -> Tensor:
    y = h.unflatten(1, [2, 4])
    y[:, 1].copy_(y[:, 0] * 2)
    return h


@program
def compared_in_place(self, h: Tensor) -> Tensor:
    y = h.clone()
    y.gt_(0)
    return h + y / 2


@program
def negated_in_place(self, h: Tensor) -> Tensor:
    y = h.clone()
    y.logical_not_()
    return h - y


@program
def narrowed(self, h: Tensor) -> Tensor:
    y = h.narrow(1, 2, 3)
    y.add_(1)
    return h


@program
def squeezed_column(self, h: Tensor) -> Tensor:
    y = h[:, 3:4].squeeze(1)
    y.mul_(0)
    return h


@program
def reshape_as_itself(self, h: Tensor) -> Tensor:
    y = h.reshape_as(h)
    h.add_(1)
    return h * y


# What shares memory on some graphs only ------------------------------------------------
@refused("some graphs")
class selected_rows_turned(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        w = self.inp(x)[edge_index[0]]
        rows = w[edge_index[0] != edge_index[1]].t()
        y = rows.contiguous()
        y.add_(1)
        return self.pass_on(self.inp(x) + rows.sum(1) + y.sum(1), edge_index)
