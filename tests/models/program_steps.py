"""Steps of random programs over the table of operators: on rows of W numbers, whatever they are rows of."""
import torch
from torch.nn import functional as F

W = 4


def unit(a):
    return torch.sigmoid(a) * 0.9 + 0.05


def positive(a):
    return a.abs() + 0.1


def whole(a):
    return (a * 3).to(torch.long)


def named(names, prepare=lambda a: a):
    """Functions of torch, of one tensor or of two."""
    def call(name):
        return lambda *values: getattr(torch, name)(*[prepare(v) for v in values])

    return [call(name) for name in names.split()]


UNARY = (named("sin cos tanh sigmoid relu neg abs sign sgn erf erfc square atan sinh asinh floor ceil round trunc frac exp2 "
               "expm1 positive deg2rad rad2deg nan_to_num clone detach isnan isinf isfinite logical_not")
         + named("log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma acosh", lambda a: positive(a) + 1)
         + named("logit acos asin atanh erfinv", unit)
         + [lambda a, f=f: f(a) for f in (F.silu, F.gelu, F.elu, F.celu, F.selu, F.mish, F.softplus, F.softsign, F.hardtanh,
                                          F.hardswish, F.hardsigmoid, F.relu6, F.leaky_relu, F.hardshrink, F.softshrink,
                                          F.tanhshrink, F.logsigmoid, F.rrelu)]
         + [lambda a: F.threshold(a, 0.1, -0.2), lambda a: a.clamp(-1, 1), lambda a: a.clamp_min(-0.5),
            lambda a: a.clamp_max(0.5), lambda a: a.pow(2), lambda a: a ** 3, lambda a: 1 - a, lambda a: a.double().float(),
            lambda a: a.masked_fill(a > 1, 0.5), lambda a: torch.heaviside(a, torch.tensor(0.5)),
            lambda a: (whole(a) & 3).float(), lambda a: (whole(a) | 1).float(), lambda a: (~whole(a)).float(),
            lambda a: (whole(a) ^ 5).float(), lambda a: (whole(a) << 1).float(), lambda a: (whole(a) >> 1).float(),
            lambda a: (whole(a) % 3).float(), lambda a: (whole(a) // 2).float(),
            lambda a: a.half().float()])
BINARY = (named("add sub mul maximum minimum atan2 hypot copysign logaddexp eq ne lt le gt ge logical_and logical_or "
                "logical_xor isclose")
          + [lambda a, b: a / positive(b), lambda a, b: torch.xlogy(a, positive(b)), lambda a, b: torch.fmod(a, positive(b)),
             lambda a, b: torch.remainder(a, positive(b)), lambda a, b: torch.floor_divide(a, positive(b)),
             lambda a, b: torch.div(a, positive(b), rounding_mode="trunc"), lambda a, b: torch.lerp(a, b, 0.25),
             lambda a, b: torch.addcmul(a, b, a, value=0.5), lambda a, b: torch.addcdiv(a, b, positive(a), value=0.5),
             lambda a, b: torch.where(a > b, a, b), lambda a, b: torch.rsub(a, b, alpha=2),
             lambda a, b: F.prelu(a, torch.full((W,), 0.2)) + b, lambda a, b: torch.add(a, b, alpha=-0.5),
             lambda a, b: positive(a) ** unit(b), lambda a, b: F.cosine_similarity(a, b, 1).unsqueeze(1) * a,
             lambda a, b: torch.cat([torch.linalg.cross(a[:, :3], b[:, :3]), a[:, 3:]], 1),
             lambda a, b: torch.bmm(a.view(-1, 2, 2), b.view(-1, 2, 2)).flatten(1),
             lambda a, b: torch.baddbmm(a.view(-1, 2, 2), b.view(-1, 2, 2), a.view(-1, 2, 2)).view(-1, W),
             lambda a, b: torch.einsum("ni,nj->nij", a, b).sum(2), lambda a, b: (a * b).sum(1, keepdim=True).expand(-1, W),
             lambda a, b: torch.stack([a, b], 2).logsumexp(2), lambda a, b: torch.stack([a, b], 1).mean(1)])
# Along the features, or through other shapes.
SHAPES = [lambda a: a.softmax(1), lambda a: a.log_softmax(-1), lambda a: a.cumsum(1), lambda a: a.cumprod(1),
          lambda a: a.logcumsumexp(1), lambda a: a.cummax(1)[0], lambda a: a.cummin(1)[0], lambda a: a.sort(1)[0],
          lambda a: a.sort(1, descending=True)[0], lambda a: a.argsort(1).float(), lambda a: a.topk(W, 1)[0],
          lambda a: a.flip(1), lambda a: a.roll(1, 1), lambda a: a.t().contiguous().t(), lambda a: a[:, [1, 0, 3, 2]],
          lambda a: a.index_select(1, torch.tensor([3, 2, 1, 0])), lambda a: a.chunk(2, 1)[1].repeat(1, 2),
          lambda a: torch.cat(a.split([1, 3], 1)[::-1], 1), lambda a: torch.stack(a.unbind(1)[::-1], 1),
          lambda a: a.narrow(1, 1, 2).tile(1, 2), lambda a: a.unflatten(1, (2, 2)).transpose(1, 2).reshape(-1, W),
          lambda a: a.view(-1, 2, 2).permute(0, 2, 1).flatten(1), lambda a: a.view(-1, 2, 2).movedim(2, 1).reshape(a.shape),
          lambda a: a.unsqueeze(0).squeeze(0), lambda a: a.unsqueeze(2).expand(-1, -1, 3).amax(2),
          lambda a: F.glu(torch.cat([a, a], 1), 1), lambda a: F.pad(a[:, 1:], (0, 1)), lambda a: a.select(1, 2).unsqueeze(1) + a,
          lambda a: a.amax(1, keepdim=True) - a, lambda a: a - a.mean(1, keepdim=True), lambda a: a / positive(a.norm(dim=1, keepdim=True)),
          lambda a: a.var(1, keepdim=True) + a, lambda a: a.std(1, unbiased=False).view(-1, 1) + a,
          lambda a: a.prod(1, keepdim=True) + a, lambda a: a.median(1, keepdim=True)[0] + a, lambda a: a.kthvalue(2, 1)[0].unsqueeze(1) * a,
          lambda a: a.max(1)[0].unsqueeze(1) - a, lambda a: F.one_hot(a.argmax(1), W).float() + a,
          lambda a: a.gather(1, a.argsort(1)), lambda a: a.take_along_dim(a.argsort(1), 1), lambda a: a.repeat_interleave(2, 1)[:, ::2],
          lambda a: F.layer_norm(a, [W]), lambda a: F.group_norm(a.unsqueeze(2), 2).squeeze(2),
          lambda a: a.any(1, keepdim=True) * a, lambda a: a.gt(0).all(1).unsqueeze(1) + a, lambda a: a.count_nonzero(1).unsqueeze(1) + a,
          lambda a: a.new_full(a.shape, 0.5) * a, lambda a: torch.ones_like(a) - a, lambda a: a.scatter(1, a.argmin(1, keepdim=True), 0.5),
          lambda a: a.scatter_add(1, a.argmax(1, keepdim=True), a[:, :1]), lambda a: a.index_add(1, torch.tensor([0, 2]), a[:, 1:3])]


def write_columns(a, b):
    a[:, :2] = b[:, 2:]


def write_half(a, b):
    a.narrow(1, 1, 2).mul_(0.5).add_(b[:, :1])


def write_transposed(a, b):
    a.t()[1].copy_(b[:, 0])


def write_chunks(a, b):
    left, right = a.chunk(2, 1)
    left += right
    right.sub_(b[:, 1:3])


def write_unbound(a, b):
    for column in a.unbind(1)[1:3]:
        column.tanh_()


def write_viewed(a, b):
    a.view(-1, 2, 2)[:, 0].clamp_(-1, 1)
    a.view(-1, 2, 2).transpose(1, 2)[:, 1] += 0.1


def write_masked(a, b):
    a[b > 0.5] = 0.25
    a.masked_fill_(b < -1, 0)


def write_out(a, b):
    torch.mul(a, b, out=a)


def write_activation(a, b):
    F.relu(a, inplace=True)
    a.sigmoid_().sub_(b.tanh())


def write_permuted(a, b):
    a.unflatten(1, (2, 2)).permute(0, 2, 1).add_(b.unflatten(1, (2, 2)))


def write_selected(a, b):
    a.select(1, 3).zero_()
    a[:, 1].fill_(0.5)


WRITES = [write_columns, write_half, write_transposed, write_chunks, write_unbound, write_viewed, write_masked, write_out,
          write_activation, write_permuted, write_selected]


def tame(a):
    """Small numbers again, whatever came out: powers of powers would overflow in a program of 50 steps."""
    return torch.tanh(a.float())


def step(draw, a, b):
    """One random operator on a, or on a and b; both are [rows, W]."""
    kind = draw.choice(["unary", "binary", "shape", "write", "write"])
    if kind == "unary":
        return tame(draw.choice(UNARY)(a))
    if kind == "binary":
        return tame(draw.choice(BINARY)(a, b))
    if kind == "shape":
        return tame(draw.choice(SHAPES)(a))
    written = a.clone()
    for _ in range(draw.randint(1, 3)):
        draw.choice(WRITES)(written, b)
    return tame(written)
