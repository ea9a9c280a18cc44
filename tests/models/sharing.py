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

    def pass_on(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return h + torch.zeros_like(h).index_add(0, edge_index[1], self.near(h)[edge_index[0]])


def program(kind):
    for how in ("trace", "script"):
        group.add(f"{kind.__name__}_{how}", kind, PLAIN, how=how)
    return kind


def traced(kind):
    """What TorchScript itself computes differently from eager PyTorch when it is scripted."""
    group.add(kind.__name__, kind, PLAIN)
    return kind


def refused(reason, **options):
    def register(kind):
        for how in ("trace", "script"):
            group.add(f"{kind.__name__}_{how}", kind, PLAIN, how=how, expect="refuse", reason=reason, **options)
        return kind

    return register


@program
class contiguous_of_rows(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.contiguous()
        y.add_(1)
        return self.pass_on(h, edge_index)


@program
class contiguous_of_a_transpose(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.t().contiguous()
        y.add_(1)
        h = h + y.t()
        return self.pass_on(h, edge_index)


@program
class ravelled(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        g = h.sum(1)
        y = g.ravel()
        y.add_(1)
        h = h * g.unsqueeze(1)
        return self.pass_on(h, edge_index)


@program
class flattened(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        g = h.clone().view(-1, 2, 4)
        y = g.flatten(1)
        y.mul_(2)
        h = h + g.sum(1).repeat(1, 2)
        return self.pass_on(h, edge_index)


@program
class reshaped_rows(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.reshape(-1, 2, 4)
        y[:, 0].add_(1)
        return self.pass_on(h, edge_index)


@program
class reshaped_transpose(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.view(-1, 2, 4).transpose(1, 2).reshape(-1, 8)
        y.add_(1)
        h = h + y
        return self.pass_on(h, edge_index)


@program
class broadcast_to_itself(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.broadcast_to(h.size(0), 8)
        y.add_(1)
        return self.pass_on(h, edge_index)


@program
class expanded_as_itself(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.expand_as(h)
        y.add_(1)
        return self.pass_on(h, edge_index)


@traced
class type_as_itself(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.type_as(h)
        y.add_(1)
        return self.pass_on(h, edge_index)


@program
class type_as_another(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.type_as(h.double())
        y.add_(1)
        h = h + y.float()
        return self.pass_on(h, edge_index)


@program
class real_part(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = torch.real(h)
        y.add_(1)
        return self.pass_on(h, edge_index)


@program
class to_its_own_dtype(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.to(torch.float32)
        y.add_(1)
        return self.pass_on(h, edge_index)


@program
class to_its_own_dtype_copied(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.to(torch.float32, copy=True)
        y.add_(1)
        h = h + y
        return self.pass_on(h, edge_index)


@program
class to_another_dtype(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.to(torch.float64)
        y.add_(1)
        h = h + y.float()
        return self.pass_on(h, edge_index)


@program
class cloned(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.clone()
        h.add_(1)
        h = h * y
        return self.pass_on(h, edge_index)


@program
class base_written_after_a_view(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.reshape(-1, 2, 4)
        h.mul_(3)
        h = h + y.reshape(-1, 8)
        return self.pass_on(h, edge_index)


@program
class columns_moved(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.view(-1, 2, 4).movedim(1, 2)
        y[:, 1].fill_(0.5)
        return self.pass_on(h, edge_index)


@program
class transposed_twice(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.t().t()
        y[:, 2].zero_()
        return self.pass_on(h, edge_index)


@program
class detached(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.detach()
        y.relu_()
        return self.pass_on(h, edge_index)


@traced
class dropped_out(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = torch.dropout(h, 0.5, False)
        y.sub_(1)
        return self.pass_on(h, edge_index)


@program
class split_in_three(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.tensor_split(3, 1)
        y[1].mul_(-1)
        return self.pass_on(h, edge_index)


@program
class chunk_written_through_a_view(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.chunk(2, 1)[1].contiguous()
        y.add_(1)
        h = h + y.repeat(1, 2)
        return self.pass_on(h, edge_index)


@program
class viewed_as_another(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.view(-1, 2, 4).view_as(h)
        y.exp_()
        return self.pass_on(h, edge_index)


@program
class positive(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = torch.positive(h)
        y.tanh_()
        return self.pass_on(h, edge_index)


@program
class unflattened(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.unflatten(1, [2, 4])
        y[:, 1].copy_(y[:, 0] * 2)
        return self.pass_on(h, edge_index)


@program
class compared_in_place(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.clone()
        y.gt_(0)
        h = h + y / 2
        return self.pass_on(h, edge_index)


@program
class negated_in_place(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.clone()
        y.logical_not_()
        h = h - y
        return self.pass_on(h, edge_index)


@program
class narrowed(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.narrow(1, 2, 3)
        y.add_(1)
        return self.pass_on(h, edge_index)


@program
class squeezed_column(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h[:, 3:4].squeeze(1)
        y.mul_(0)
        return self.pass_on(h, edge_index)


@program
class reshape_as_itself(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.inp(x)
        y = h.reshape_as(h)
        h.add_(1)
        h = h * y
        return self.pass_on(h, edge_index)


# What shares memory on some graphs only ------------------------------------------------
@refused("some graphs")
class selected_rows_turned(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        w = self.inp(x)[edge_index[0]]
        rows = w[edge_index[0] != edge_index[1]].t()
        y = rows.contiguous()
        y.add_(1)
        return self.pass_on(self.inp(x) + rows.sum(1) + y.sum(1), edge_index)
