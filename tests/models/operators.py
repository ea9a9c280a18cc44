"""A row per operator of the table in core/operators: a small message-passing model that uses it. An operator without a row,
or a row whose operator the model does not run, fails the test `operator_rows`."""
import linecache
import re
from types import SimpleNamespace

import torch
from torch import Tensor, nn
from torch_geometric.nn.aggr import MedianAggregation
from torch_geometric.utils import to_dense_batch

from graphs import FEATURES, HIDDEN, take
from layers import Parts
from registry import Group

group = Group("operators")
H = HIDDEN
A = torch.ops.aten
F = nn.functional
median = MedianAggregation()
INPUTS = take("x", "edge_index", "edge_weight", "batch")
bodies, expressions = {}, {}  # by operator, for random programs over all of them


class Row(Parts):
    """Message passing, the operator, message passing: y = body(v), of rows of H numbers.

    v.h: hidden features; v.p: the same between 0 and 1; v.i: whole numbers; v.k: true or false; v.n: how many rows;
    v.e: edge_index; v.w: a number per edge; v.c: the cluster of each node; v.m: the model with its layers."""

    body = None

    def forward(self, x, edge_index, edge_weight, batch):
        h = self.a(self.inp(x), edge_index)
        p = h.sigmoid() * 0.9 + 0.05
        v = SimpleNamespace(h=h, p=p, i=(h * 3).to(torch.long), k=h > 0, n=x.size(0), e=edge_index, w=edge_weight,
                            c=batch, m=self, x=x)
        return self.b(type(self).body(v).to(torch.float), edge_index)


def full(name):
    return name if "::" in name else f"aten::{name}"


def row(name, body, **options):
    covers = options.pop("covers", full(name))
    bodies[covers] = body
    kind = type("Row", (Row,), {"body": staticmethod(body)})
    group.add(name.split("::")[-1], kind, INPUTS, covers=covers, **options)


def rows(names, call, **options):
    for name in names.split():
        row(name, lambda v, name=name: call(name, v), **options)


class Typed(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.lin, self.near, self.gru = nn.Linear(FEATURES, H), nn.Linear(H, H), nn.Linear(H, H), nn.GRUCell(H, H)


TEMPLATE = """class Scripted(Typed):
    def pass_on(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return h + torch.zeros_like(h).index_add(0, edge_index[1], self.near(h)[edge_index[0]])

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        n = x.size(0)
        h = self.pass_on(self.inp(x), edge_index)
        p = h.sigmoid()
        {}
        return self.pass_on(y, edge_index)
"""
SCRIPT_INPUTS = take("x", "edge_index", "edge_weight")
BY_DESTINATION = "o = edge_index[1].argsort()"
ADJACENCY = "a = torch.sparse_coo_tensor(edge_index.flip(0), edge_weight, [n, n])"


def scripted_class(file, lines):
    """A module whose forward holds these lines; they leave y."""
    source, space = TEMPLATE.format("\n        ".join(lines)), dict(globals())
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), space)
    return space["Scripted"]


def script(name, body, **options):
    """A row whose operator only scripting leaves as it is: an expression of h, p, n, a sparse adjacency a and an order of the
    edges o, by their destinations."""
    expressions[full(name)] = body
    lines = [line for line in (ADJACENCY, BY_DESTINATION) if re.search(rf"\b{line[0]}\b", body)] + ["y = " + body]
    group.add(name.split("::")[-1], scripted_class(f"{name}.py", lines), SCRIPT_INPUTS, covers=full(name), how="script",
              **options)


def padded(y):
    return F.pad(y, (0, H - y.size(1)))


def along(index, v):
    return index.view(-1, 1).expand(-1, v.h.size(1))


# Element by element ----------------------------------------------------------------------------------------------------
rows("abs asinh atan ceil cos deg2rad elu erf erfc exp exp2 expm1 floor frac gelu hardshrink hardsigmoid hardswish hardtanh "
     "i0 isfinite isinf isnan isneginf isposinf leaky_relu log_sigmoid mish nan_to_num neg positive rad2deg real relu relu6 "
     "resolve_conj resolve_neg round selu celu sgn sigmoid sign signbit silu sin sinc sinh softplus softshrink square tan tanh trunc "
     "alias detach logical_not bitwise_not",
     lambda name, v: getattr(A, name)(v.i if name.startswith("bitwise") else v.h))
rows("acos asin atanh digamma special_entr erfinv lgamma log log10 log1p log2 logit reciprocal rsqrt sqrt", lambda name, v: getattr(A, name)(v.p))
row("acosh", lambda v: A.acosh(v.p + 1))
row("cosh", lambda v: A.cosh(v.p))
rows("add div eq fmod ge gt le lt maximum minimum mul ne remainder sub copysign atan2 floor_divide isclose logaddexp "
     "hypot heaviside xlogy fmax fmin logaddexp2", lambda name, v: getattr(A, name)(v.h, v.p))
rows("logical_and logical_or logical_xor", lambda name, v: getattr(A, name)(v.k, v.h > 0.5))
rows("__lshift__ __rshift__", lambda name, v: getattr(A, name)(v.i, 1))
rows("__and__ __or__ __xor__ bitwise_and bitwise_or bitwise_xor", lambda name, v: getattr(A, name)(v.i, v.i + 3))
rows("bitwise_left_shift bitwise_right_shift", lambda name, v: getattr(A, name)(v.i.abs(), torch.ones_like(v.i)))
row("addcdiv", lambda v: torch.addcdiv(v.h, v.h, v.p, value=0.5))
row("addcmul", lambda v: torch.addcmul(v.h, v.h, v.p, value=0.5))
row("clamp", lambda v: v.h.clamp(-0.5, 0.7))
row("clamp_min", lambda v: v.h.clamp_min(0.1))
row("clamp_max", lambda v: v.h.clamp_max(0.1))
rows("binary_cross_entropy binary_cross_entropy_with_logits", lambda name, v: getattr(A, name)(v.p, v.p * v.p, None, reduction=0))
rows("huber_loss mse_loss smooth_l1_loss", lambda name, v: getattr(A, name)(v.h, v.p, 0))
row("rsub", lambda v: 1 - v.h)
row("lerp", lambda v: torch.lerp(v.h, v.p, 0.3))
row("masked_fill", lambda v: v.h.masked_fill(v.k, 0.5))
row("pow", lambda v: v.h.pow(2))
row("prelu", lambda v: F.prelu(v.h, v.m.lin.bias[:1]))
row("rrelu", lambda v: F.rrelu(v.h))
row("threshold", lambda v: F.threshold(v.h, 0.1, 0.3))
row("where", lambda v: torch.where(v.k, v.h, v.p))

row("fake_quantize_per_tensor_affine", lambda v: torch.fake_quantize_per_tensor_affine(v.h, 0.1, 0, -8, 7))
row("fake_quantize_per_channel_affine",
    lambda v: torch.fake_quantize_per_channel_affine(v.h, torch.full((H,), 0.1), torch.zeros(H, dtype=torch.int32), 1, -8, 7))

# Copies and casts ------------------------------------------------------------------------------------------------------
row("to", lambda v: v.h.to(torch.double))
row("_to_copy", lambda v: A._to_copy(v.h, dtype=torch.double))
row("type_as", lambda v: v.i.type_as(v.h))
row("clone", lambda v: v.h.clone() * 2)
row("contiguous", lambda v: v.h.t().contiguous().t() * 2)
row("lift_fresh", lambda v: A.lift_fresh(v.h))
script("detach_", "p.detach_() + h")
row("dropout", lambda v: F.dropout(v.h, 0.5, False))
row("feature_dropout", lambda v: torch.feature_dropout(v.h, 0.5, False))
row("alpha_dropout", lambda v: F.alpha_dropout(v.h, 0.5, False))
row("feature_alpha_dropout", lambda v: torch.feature_alpha_dropout(v.h, 0.5, False))


def changed(v, change):
    y = v.h * 2
    change(y)
    return y + v.h



def zeroed(y):
    z = y + 1
    return y.zero_() + z


row("zero_", lambda v: zeroed(v.h * 2))
row("fill_", lambda v: changed(v, lambda y: y[:, :2].fill_(0.5)))
row("copy_", lambda v: changed(v, lambda y: y[:, :2].copy_(v.p[:, 2:4])))

# Fills -----------------------------------------------------------------------------------------------------------------
row("zeros", lambda v: torch.zeros(v.n, H) + v.h)
row("ones", lambda v: torch.ones(v.n, H) + v.h)
row("full", lambda v: torch.full((v.n, H), 0.5) + v.h)
row("empty", lambda v: torch.empty(v.n, H).fill_(0.5) + v.h)
row("new_zeros", lambda v: v.h.new_zeros(v.n, H) + v.h)
row("new_ones", lambda v: v.h.new_ones(v.n, H) + v.h)
row("new_full", lambda v: v.h.new_full((v.n, H), 0.5) + v.h)
row("new_empty", lambda v: v.h.new_empty(v.n, H).fill_(0.5) + v.h)
row("zeros_like", lambda v: torch.zeros_like(v.h) + v.h)
row("ones_like", lambda v: torch.ones_like(v.h) + v.h)
row("full_like", lambda v: torch.full_like(v.h, 0.5) + v.h)
row("empty_like", lambda v: torch.empty_like(v.h).fill_(0.5) + v.h)
row("arange", lambda v: v.h + v.h[torch.arange(v.n)])
row("eye", lambda v: v.h @ torch.eye(H))
row("linspace", lambda v: v.h * torch.linspace(0, 1, H))


script("tensor", "h * torch.tensor([0.5, 1.5]).repeat(4)")
script("as_tensor", "torch.as_tensor(h) * torch.as_tensor([0.5, 1.5]).repeat(4)")
script("scalar_tensor", "h * torch.scalar_tensor(x.size(1))")
script("requires_grad_", "h.requires_grad_(False)")
row("number", lambda v: v.h * v.n, covers="scalar::tensor")

# Along a dimension other than the rows -----------------------------------------------------------------------------------
rows("softmax log_softmax cumsum cumprod logcumsumexp", lambda name, v: getattr(torch, name)(v.p, 1))
rows("cummax cummin", lambda name, v: getattr(torch, name)(v.h, 1)[0])
row("sort", lambda v: v.h.sort(1)[0])
row("argsort", lambda v: v.h.argsort(1) * 0.1)
row("topk", lambda v: padded(v.h.topk(3, 1)[0]))
row("glu", lambda v: padded(F.glu(v.h, 1)))
rows("sum mean amax amin prod var std logsumexp nansum", lambda name, v: getattr(torch, name)(v.p, 1, keepdim=True) + v.h)
rows("max min median nanmedian mode", lambda name, v: getattr(torch, name)(v.h, 1, keepdim=True)[0] + v.h)
row("kthvalue", lambda v: v.h.kthvalue(3, 1, keepdim=True)[0] + v.h)
rows("any all", lambda name, v: getattr(torch, name)(v.k, 1, keepdim=True) + v.h)
rows("argmax argmin", lambda name, v: getattr(torch, name)(v.h, 1, keepdim=True) + v.h)
row("count_nonzero", lambda v: v.k.count_nonzero(1).unsqueeze(1) + v.h)
row("norm", lambda v: A.norm(v.h, 2, [1], True) + v.h)
row("linalg_norm", lambda v: torch.linalg.norm(v.h, dim=1, keepdim=True) + v.h)
row("linalg_vector_norm", lambda v: torch.linalg.vector_norm(v.h, dim=1, keepdim=True) + v.h)
row("layer_norm", lambda v: v.m.layer_norm(v.h))
row("native_layer_norm", lambda v: A.native_layer_norm(v.h, [H], None, None, 1e-5)[0])
row("rms_norm", lambda v: F.rms_norm(v.h, [H]))
row("batch_norm", lambda v: v.m.batch_norm(v.h))
row("group_norm", lambda v: F.group_norm(v.h, 2))
row("instance_norm", lambda v: F.instance_norm(v.h.view(-1, 2, 4)).reshape(-1, H))
row("cross", lambda v: padded(torch.cross(v.h[:, :3], v.p[:, :3], dim=1)))
row("linalg_cross", lambda v: padded(torch.linalg.cross(v.h[:, :3], v.p[:, :3], dim=1)))
row("cosine_similarity", lambda v: F.cosine_similarity(v.h, v.p, 1).unsqueeze(1) + v.h)
row("diff", lambda v: v.h + (v.m.lin.bias.diff() * 2).sum())


# On some dimensions as a whole, the rows being a batch ------------------------------------------------------------------
def square(v):
    """A matrix for each row that is positive definite and therefore has an inverse."""
    m = v.h[:, :4].view(-1, 2, 2)
    return m @ m.transpose(1, 2) + torch.eye(2)


def parts(y):
    """The real part of a complex y, or all of y, as rows of H numbers."""
    y = torch.view_as_real(y.resolve_conj()) if y.is_complex() else y
    return padded(y.flatten(1)[:, :H])


def complex_rows(v):
    return torch.view_as_complex(v.h.view(-1, H // 2, 2))


row("cdist", lambda v: parts(torch.cdist(v.h.view(-1, 2, 4), v.p.view(-1, 2, 4))))
row("pairwise_distance", lambda v: F.pairwise_distance(v.h, v.p, keepdim=True) + v.h)
row("bilinear", lambda v: F.bilinear(v.h, v.p, v.m.lin.weight.view(4, 2, 8).repeat(1, 4, 1)).repeat(1, 2))
row("tensordot", lambda v: torch.tensordot(v.h.view(-1, 2, 4), v.m.lin.weight.view(2, 4, 8), dims=2))
row("scaled_dot_product_attention",
    lambda v: F.scaled_dot_product_attention(*[y.view(-1, 1, 2, 4) for y in (v.h, v.p, v.h * v.p)]).reshape(-1, H))
row("_native_multi_head_attention",
    lambda v: A._native_multi_head_attention(*[v.h.view(-1, 2, 4)] * 3, 4, 2, W["a"], W["b"], W["a"][:4], W["b"][:4])[0].flatten(1))
row("_transformer_encoder_layer_fwd",
    lambda v: A._transformer_encoder_layer_fwd(v.h.view(-1, 2, 4), 4, 2, W["a"], W["b"], W["a"][:4], W["b"][:4], False, False, 1e-5,
                                               *[W["b"][:4]] * 4, W["a"], W["b"], W["a"].t(), W["b"][:4]).flatten(1))
rows("bucketize searchsorted", lambda name, v: v.h + (torch.bucketize(v.h, W["grid"]) if name == "bucketize" else
                                                      torch.searchsorted(v.h.sort(1)[0], v.p)))
rows("tril triu", lambda name, v: getattr(torch, name)(v.h.view(-1, 2, 4)).flatten(1))
row("diagonal", lambda v: padded(v.h.view(-1, 2, 4).diagonal(1, 1, 2)))
row("diag_embed", lambda v: torch.diag_embed(v.h[:, :2]).flatten(1).repeat(1, 2))
row("unfold", lambda v: v.h.unfold(1, 2, 2).sum(2).repeat(1, 2))
row("index_fill", lambda v: v.h.index_fill(1, torch.tensor([0, 3]), 0.5))
rows("logdet linalg_det", lambda name, v: getattr(A, name)(square(v)).unsqueeze(1) + v.h)
rows("linalg_slogdet", lambda name, v: torch.linalg.slogdet(square(v))[1].unsqueeze(1) + v.h)
# Decompositions take memory of their own, some hundred bytes for each matrix, which the estimate leaves out.
rows("linalg_inv linalg_cholesky linalg_matrix_exp linalg_pinv linalg_eigvalsh linalg_svdvals",
     lambda name, v: parts(getattr(A, name)(square(v))), peaks=False)
rows("linalg_inv_ex linalg_cholesky_ex linalg_eigh linalg_qr", lambda name, v: parts(getattr(A, name)(square(v))[0]))
row("cholesky_inverse", lambda v: parts(A.cholesky_inverse(square(v))))
row("cholesky_solve", lambda v: parts(torch.cholesky_solve(v.h.view(-1, 2, 4), square(v))))
row("linalg_householder_product", lambda v: parts(torch.linalg.householder_product(square(v), v.p[:, :2])))
row("aminmax", lambda v: sum(torch.aminmax(v.h, dim=1, keepdim=True)) + v.h)
rows("upsample_linear1d upsample_nearest1d",
     lambda name, v: getattr(A, name)(v.h.unsqueeze(1), [4], *[False] * ("linear" in name))[:, 0].repeat(1, 2))
rows("upsample_bilinear2d upsample_nearest2d",
     lambda name, v: getattr(A, name)(v.h.view(-1, 1, 2, 4), [1, 4], *[False] * ("linear" in name)).flatten(1).repeat(1, 2))
row("pixel_shuffle", lambda v: F.pixel_shuffle(v.h.view(-1, 4, 1, 2), 2).flatten(1))
row("pixel_unshuffle", lambda v: F.pixel_unshuffle(v.h.view(-1, 1, 2, 4), 2).flatten(1))
row("linalg_svd", lambda v: parts(A.linalg_svd(square(v))[1]))
rows("linalg_matrix_power", lambda name, v: parts(getattr(A, name)(square(v), 3)))
row("linalg_solve", lambda v: parts(torch.linalg.solve(square(v), v.h[:, 4:6])))
row("linalg_solve_triangular", lambda v: parts(torch.linalg.solve_triangular(square(v), v.p.view(-1, 2, 4), upper=True)))
rows("quantile nanquantile", lambda name, v: getattr(torch, name)(v.h, torch.tensor([0.3, 0.6]), 1).mean(0).unsqueeze(1) + v.h)
rows("var_mean std_mean", lambda name, v: sum(getattr(torch, name)(v.h, 1, keepdim=True)) + v.h)

row("embedding_bag",
    lambda v: F.embedding_bag(v.i.abs() % 9, torch.cat([v.m.lin.weight, v.m.lin.weight[:1]]), mode="mean", padding_idx=0))

# On weights alone ------------------------------------------------------------------------------------------------------
row("_weight_norm", lambda v: v.h @ A._weight_norm(v.m.lin.weight, v.m.lin.bias.view(-1, 1), 0))
row("trace", lambda v: v.h * v.m.lin.weight.trace())
row("vdot", lambda v: v.h * torch.vdot(v.m.lin.bias, v.m.lin.bias))

# Complex numbers -------------------------------------------------------------------------------------------------------
row("view_as_complex", lambda v: parts(complex_rows(v) * (0.5 + 1j)))
row("view_as_real", lambda v: torch.view_as_real(complex_rows(v) * (0.5 + 1j)).flatten(1))
row("complex", lambda v: parts(torch.complex(v.h, v.p)))
row("polar", lambda v: parts(torch.polar(v.p, v.h)))
row("angle", lambda v: padded(complex_rows(v).angle()))
row("imag", lambda v: padded(complex_rows(v).imag))
row("conj_physical", lambda v: parts(A.conj_physical(complex_rows(v))))
rows("fft_fft fft_ifft fft_rfft fft_ihfft", lambda name, v: parts(getattr(A, name)(v.h)))
rows("fft_hfft fft_irfft", lambda name, v: parts(getattr(A, name)(complex_rows(v))))
rows("fft_fft2 fft_ifft2 fft_rfft2 fft_fftn fft_ifftn fft_rfftn",
     lambda name, v: parts(getattr(A, name)(v.h.view(-1, 2, 4), None, [1, 2])))
rows("fft_irfft2 fft_irfftn", lambda name, v: parts(getattr(A, name)(complex_rows(v).view(-1, 2, 2), None, [1, 2])))

# Recurrent and convolutional layers, the rows being the batch ------------------------------------------------------------
W = {"w1": torch.randn(H, H) / 3, "w2": torch.randn(H, H) / 3, "w3": torch.randn(3 * H, H) / 3,
     "w4": torch.randn(4 * H, H) / 3, "a": torch.randn(12, 4) / 2, "b": torch.randn(12), "grid": torch.tensor([-0.5, 0.2, 0.5]), "k": torch.randn(2, 1, 3)}


def recurrent(name, weight, pair=False, **options):
    def body(v):
        steps = torch.stack([v.h, v.p], 1)
        start = v.h.new_zeros(1, v.n, H)
        hidden = [start, start] if pair else start
        return getattr(A, name)(steps, hidden, [W[weight], W[weight]], False, 1, 0.0, False, False, True)[0][:, 1]

    row(name, body, **options)


recurrent("gru", "w3")
recurrent("lstm", "w4", True, peaks=False)  # takes some 33 KB whatever the batch, which the estimate leaves out
recurrent("rnn_tanh", "w1")
recurrent("rnn_relu", "w1")
row("_convolution", lambda v: A._convolution(v.h.unsqueeze(1), W["k"], None, [1], [1], [1], False, [0], 1, False, False,
                                             False, False)[:, 1])
row("max_pool1d", lambda v: padded(F.max_pool1d(v.h.unsqueeze(1), 2).squeeze(1)))
row("avg_pool1d", lambda v: padded(F.avg_pool1d(v.h.unsqueeze(1), 2).squeeze(1)))
row("max_pool2d", lambda v: padded(F.max_pool2d(v.h.view(-1, 1, 2, 4), 2).flatten(1)))
row("avg_pool2d", lambda v: padded(F.avg_pool2d(v.h.view(-1, 1, 2, 4), 2).flatten(1)))
row("adaptive_avg_pool2d", lambda v: padded(F.adaptive_avg_pool2d(v.h.view(-1, 1, 2, 4), 2).flatten(1)))

# Views -------------------------------------------------------------------------------------------------------------------
row("view", lambda v: v.h.view(-1, 2, 4).sum(1).repeat(1, 2))
row("reshape", lambda v: v.h.reshape(-1, 2, 4).sum(1).repeat(1, 2))
row("_unsafe_view", lambda v: A._unsafe_view(v.h, [-1, 2, 4]).sum(1).repeat(1, 2))
row("_reshape_alias", lambda v: v.h * A._reshape_alias(v.m.lin.weight, [H * H], [1])[:H])
row("view_as", lambda v: v.h.view(-1, 2, 4).view_as(v.p))
row("reshape_as", lambda v: v.h.view(-1, 2, 4).reshape_as(v.p))
row("flatten", lambda v: v.h.view(-1, 2, 4).flatten(1))
row("unflatten", lambda v: v.h.unflatten(1, (2, 4)).sum(1).repeat(1, 2))
row("ravel", lambda v: v.h * v.m.lin.weight.ravel()[:H])
row("squeeze", lambda v: v.h[:, :1].squeeze(1).unsqueeze(1) + v.h)
row("unsqueeze", lambda v: v.h.unsqueeze(1).sum(1))
row("expand", lambda v: v.h[:, :1].expand(-1, H) + v.p)
row("expand_as", lambda v: v.h[:, :1].expand_as(v.p) + v.p)
row("broadcast_to", lambda v: v.m.lin.bias.broadcast_to(v.n, H) + v.h)
row("permute", lambda v: v.h.view(-1, 2, 4).permute(0, 2, 1).reshape(-1, H))
row("transpose", lambda v: v.h.view(-1, 2, 4).transpose(1, 2).reshape(-1, H))
row("t", lambda v: v.h @ v.m.lin.weight.t())
row("numpy_T", lambda v: v.h @ A.numpy_T(v.m.lin.weight))
row("movedim", lambda v: v.h.view(-1, 2, 4).movedim(1, 2).reshape(-1, H))
row("select", lambda v: v.h.select(1, 2).unsqueeze(1) + v.h)
row("slice", lambda v: padded(v.h[:, 1:7:2]))
row("narrow", lambda v: padded(v.h.narrow(1, 1, 3)))
row("as_strided", lambda v: v.h * v.m.lin.weight.as_strided((H,), (H + 1,)))
row("unbind", lambda v: torch.stack(v.h.unbind(1)[::-1], 1))
rows("chunk unsafe_chunk", lambda name, v: torch.cat(getattr(torch, name)(v.h, 3, 1)[::-1], 1))
rows("split unsafe_split", lambda name, v: torch.cat(getattr(torch, name)(v.h, 3, 1)[::-1], 1))
row("split_with_sizes", lambda v: torch.cat(v.h.split([5, 3], 1)[::-1], 1))
row("tensor_split", lambda v: torch.cat(v.h.tensor_split(3, 1)[::-1], 1))

# Moving and joining ------------------------------------------------------------------------------------------------------
row("repeat", lambda v: v.h[:, :4].repeat(1, 2))
row("tile", lambda v: v.h[:, :4].tile(1, 2))
row("repeat_interleave", lambda v: v.h[:, :4].repeat_interleave(2, 1))
row("flip", lambda v: v.h.flip(1))
row("roll", lambda v: v.h.roll(1, 1))
row("pad", lambda v: A.pad(v.h[:, :5], [1, 2]))
row("constant_pad_nd", lambda v: A.constant_pad_nd(v.h[:, :5], [1, 2], 0.5))
row("select_scatter", lambda v: torch.select_scatter(v.h, v.p[:, 0], 1, 3))
row("slice_scatter", lambda v: torch.slice_scatter(v.h, v.p[:, :3], 1, 2, 5))
row("stack", lambda v: torch.stack([v.h, v.p], 1).mean(1))
row("cat", lambda v: torch.cat([v.h[:, :3], v.p[:, :5]], 1))

# Products ----------------------------------------------------------------------------------------------------------------
row("linear", lambda v: v.m.lin(v.h))
row("einsum", lambda v: torch.einsum("nf,fg->ng", v.h, v.m.lin.weight))
row("matmul", lambda v: v.h @ v.m.lin.weight)
row("mm", lambda v: v.h.mm(v.m.lin.weight))
row("bmm", lambda v: v.h.view(-1, 2, 4).bmm(v.p.view(-1, 4, 2)).flatten(1).repeat(1, 2))
row("baddbmm", lambda v: torch.baddbmm(v.h.view(-1, 2, 4)[:, :, :2], v.h.view(-1, 2, 4), v.p.view(-1, 4, 2)).flatten(1)
    .repeat(1, 2))
row("addmm", lambda v: torch.addmm(torch.addmm(v.m.lin.bias, v.h, v.m.lin.weight), v.h, v.m.lin.weight, beta=0.5, alpha=2))
row("mv", lambda v: v.h.mv(v.m.lin.bias).unsqueeze(1) + v.h)
row("addmv", lambda v: torch.addmv(v.h[:, 0], v.h, v.m.lin.bias).unsqueeze(1) + v.h)
row("dot", lambda v: v.h * v.m.lin.bias.dot(v.m.lin.bias))
row("inner", lambda v: torch.inner(v.h, v.m.lin.weight))
row("outer", lambda v: torch.outer(v.h[:, 0], v.m.lin.bias))

# Reading and writing by row numbers --------------------------------------------------------------------------------------
row("index_select", lambda v: torch.zeros_like(v.h).index_add(0, v.e[1], v.h.index_select(0, v.e[0])))
row("index", lambda v: torch.zeros_like(v.h).index_add(0, v.e[1], v.h[v.e[0]]))
row("embedding", lambda v: v.m.table(v.c) + v.h)
row("gather", lambda v: torch.zeros_like(v.h).index_add(0, v.e[1], v.h.gather(0, along(v.e[0], v))))
row("take_along_dim", lambda v: torch.zeros_like(v.h).index_add(0, v.e[1], v.h.take_along_dim(along(v.e[0], v), 0)))
row("scatter_add", lambda v: torch.zeros_like(v.h).scatter_add(0, along(v.e[1], v), v.h[v.e[0]]))
row("scatter_reduce", lambda v: torch.zeros_like(v.h).scatter_reduce(0, along(v.e[1], v), v.h[v.e[0]], "amax"))
row("scatter", lambda v: torch.zeros_like(v.h).scatter(0, along(torch.arange(v.n), v), v.h))
row("index_add", lambda v: v.h.index_add(0, v.e[1], v.h[v.e[0]]))
row("index_reduce", lambda v: v.h.index_reduce(0, v.e[1], v.h[v.e[0]], "amax"))
row("index_copy", lambda v: torch.zeros_like(v.h).index_copy(0, torch.arange(v.n), v.h))
row("index_put", lambda v: torch.zeros_like(v.h).index_put((v.e[1],), v.h[v.e[0]], accumulate=True))
row("_index_put_impl", lambda v: A._index_put_impl(torch.zeros_like(v.h), [v.e[1]], v.h[v.e[0]], True))
row("masked_scatter", lambda v: v.h * v.m.lin.bias.masked_scatter(torch.arange(H) > 4, torch.ones(H)))
row("masked_select", lambda v: v.h * v.w.masked_select(v.w > 0.5).sum())
# What analysis makes of a median.
row("hopscope::select_rank",
    lambda v: median(v.h[v.e[0]], v.e[1], dim_size=v.n, dim=0) + median(v.p[v.e[1]], v.e[0], dim_size=v.n, dim=0))
# What analysis makes of to_dense_batch; of two messages at most, since tracing keeps the width.
def pairs_of_messages(v):
    sources, targets = v.e[:, v.e[1].argsort(stable=True)]
    return to_dense_batch(v.h[sources], targets, max_num_nodes=2, batch_size=v.n)[0].flatten(1)[:, H // 2:3 * H // 2]


row("hopscope::pad_groups", pairs_of_messages)
row("bincount", lambda v: v.h * torch.bincount(v.e[1], minlength=v.n).unsqueeze(1))
row("one_hot", lambda v: F.one_hot(v.c, H) + v.h)
row("nonzero", lambda v: torch.zeros_like(v.h).index_add(
    0, v.e[1][(v.w > 0.5).nonzero().squeeze(1)], v.h[v.e[0][(v.w > 0.5).nonzero().squeeze(1)]]))
row("nonzero_numpy", lambda v: torch.zeros_like(v.h).index_add(
    0, v.e[1][A.nonzero_numpy(v.w > 0.5)[0]], v.h[v.e[0][A.nonzero_numpy(v.w > 0.5)[0]]]))
row("argwhere", lambda v: v.h + torch.argwhere(v.w > 0.5).sum())
row("_unique2", lambda v: v.h * v.c.unique().sum())
row("unique_consecutive", lambda v: v.h * v.c.unique_consecutive().sum())
# Scaled: the sum is some thousands, by which the layer behind it would amplify rounding beyond the tolerance.
row("unique_dim", lambda v: v.h * (0.001 * v.e.unique(dim=1).sum()))
row("segment_reduce", lambda v: v.h * torch.segment_reduce(v.w, "sum", lengths=torch.bincount(v.e[1])).sum())

# Sparse matrices ---------------------------------------------------------------------------------------------------------


script("sparse_coo_tensor", "torch.sparse.mm(a, h)")
script("_sparse_mm", "torch.ops.aten._sparse_mm(a, h)")
script("_sparse_sum", "h * torch.ops.aten._sparse_sum(a, [1]).to_dense().unsqueeze(1) + torch.ops.aten._sparse_sum(a)")
script("_sparse_coo_tensor_unsafe",
       "torch.sparse.mm(torch.ops.aten._sparse_coo_tensor_unsafe(edge_index, edge_weight, [n, n]), h)")
script("sparse_csr_tensor", "torch.sparse.mm(torch.sparse_csr_tensor(torch._convert_indices_from_coo_to_csr("
       "edge_index[1][o], n), edge_index[0][o], edge_weight[o], [n, n]), h)")
script("sparse_compressed_tensor", "torch.sparse.mm(torch.sparse_compressed_tensor(torch._convert_indices_from_coo_to_csr("
       "edge_index[1][o], n), edge_index[0][o], edge_weight[o], [n, n], layout=torch.sparse_csr), h)")
script("coalesce", "torch.sparse.mm(a.coalesce(), h)")
script("_coalesce", "torch.sparse.mm(torch.ops.aten._coalesce(a), h)")
script("_coalesced", "torch.sparse.mm(torch.ops.aten._coalesced(a, False), h)")
script("values", "h * a.coalesce().values().sum()")
script("indices", "h * a.coalesce().indices().sum()")
script("_values", "h * a._values().sum()")
script("_indices", "h * a._indices().sum()")
# Sparse weights, of some hundred bytes here, are predicted as dense ones.
SPARSE_WEIGHTS = {"peaks": False, "gpu": False}
script("to_dense", "h @ self.lin.weight.to_sparse().to_dense()", **SPARSE_WEIGHTS)
script("to_sparse", "h @ self.lin.weight.to_sparse().to_dense()", **SPARSE_WEIGHTS)
script("to_sparse_csr", "h @ self.lin.weight.to_sparse_csr().to_dense()", **SPARSE_WEIGHTS)
script("to_sparse_csc", "h @ self.lin.weight.to_sparse_csc().to_dense()", **SPARSE_WEIGHTS)
script("crow_indices", "h * self.lin.weight.to_sparse_csr().crow_indices().sum()", **SPARSE_WEIGHTS)
script("col_indices", "h * self.lin.weight.to_sparse_csr().col_indices().sum()", gpu=False)
script("ccol_indices", "h * self.lin.weight.to_sparse_csc().ccol_indices().sum()", **SPARSE_WEIGHTS)
script("row_indices", "h * self.lin.weight.to_sparse_csc().row_indices().sum()", gpu=False)
script("_convert_indices_from_coo_to_csr",
       "h * torch._convert_indices_from_coo_to_csr(edge_index[1].sort()[0], n).sum()")
script("_convert_indices_from_csr_to_coo",
       "h * torch._convert_indices_from_csr_to_coo(torch._convert_indices_from_coo_to_csr("
       "edge_index[1].sort()[0], n), edge_index[0]).sum()")
script("gru_cell", "torch.gru_cell(h, p, self.gru.weight_ih, self.gru.weight_hh)")
script("lstm_cell", "torch.lstm_cell(h, [p, p], self.gru.weight_ih.repeat(2, 1)[:32], self.gru.weight_hh.repeat(2, 1)[:32])[0]")
script("rnn_tanh_cell", "torch.rnn_tanh_cell(h, p, self.lin.weight, self.lin.weight)")
script("rnn_relu_cell", "torch.rnn_relu_cell(h, p, self.lin.weight, self.lin.weight)")
script("conv1d", "torch.conv1d(h.unsqueeze(1), self.lin.weight[:1, :3].unsqueeze(0), padding=[1])[:, 0]")
script("conv2d", "torch.conv2d(h.view(-1, 1, 2, 4), self.lin.weight[:1, :3].unsqueeze(0).unsqueeze(0), padding=[0, 1]).reshape(-1, 8)")

# torch_scatter, whose library need not be there ----------------------------------------------------------------------------
library = torch.library.Library("torch_scatter", "DEF")


def scatter(name, result, how):
    def compute(src, index, dim, out=None, dim_size=None):
        y = src.new_zeros((dim_size,) + src.shape[1:]).scatter_reduce(
            0, index.view((-1,) + (1,) * (src.dim() - 1)).expand_as(src), src, how, include_self=False)
        return (y, y.long()) if result != "Tensor" else y

    library.define(f"{name}(Tensor src, Tensor index, int dim, Tensor? out, int? dim_size) -> {result}")
    library.impl(name, compute, "CompositeExplicitAutograd")


scatter("scatter_sum", "Tensor", "sum")
scatter("scatter_mean", "Tensor", "mean")
scatter("scatter_min", "(Tensor, Tensor)", "amin")
scatter("scatter_max", "(Tensor, Tensor)", "amax")
script("torch_scatter::scatter_sum", "torch.ops.torch_scatter.scatter_sum(h[edge_index[0]], edge_index[1], 0, None, n)")
script("torch_scatter::scatter_mean",
       "h * torch.ops.torch_scatter.scatter_mean(edge_weight, edge_index[1], 0, None, n).sum()")
script("torch_scatter::scatter_min",
       "h * torch.ops.torch_scatter.scatter_min(edge_weight, edge_index[1], 0, None, n)[0].sum()")
script("torch_scatter::scatter_max",
       "h * torch.ops.torch_scatter.scatter_max(edge_weight, edge_index[1], 0, None, n)[0].sum()")
