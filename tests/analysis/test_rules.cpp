// One row per operator family: the row spaces that its rule gives, or the words of its refusal.

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "analysis/stored.h"
#include "support/program_text.h"

using namespace hopscope;

namespace {

// 7 nodes, 9 edges, 3 graphs.
const std::string prelude = R"(
x = node f[7,4]
h = node f[7,2,4]
e = index i[2,9]
ea = edge f[9,5]
ew = edge f[9]
b = key i[7]
w = weight f[4,6]
bias = weight f[6]
sq = weight f[7,7]
p = plain f[3]
pg = graph f[3,4]
pair = weight f[2]
sevenths = weight f[7]
turned = aten::t(self=x) -> f[4,7]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
mask = aten::ne(self=src, other=dst) -> b[9]
)";

struct Row {
    const char* line;
    const char* expected;  // dims of the result, or "refused: words"
};

// The dims of `r`.
std::string describeProgram(const std::string& lines)
{
    const auto drawn = test::drawProgram(prelude + lines + "\nout = r\n");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    if (a.refusal) return "refused: " + a.refusal->message;
    std::string dims;
    for (ir::SpaceId s : a.info(a.program.outputs[0].value).dims)
        dims += (dims.empty() ? "" : ",") + (s.valid() ? a.tables.spaceName(s) : std::string("-"));
    return dims;
}

std::string describe(const std::string& line) { return describeProgram("r = " + line); }

const Row rows[] = {
    // row-wise
    {"aten::relu(self=x) -> f[7,4]", "v,-"},
    {"aten::add.Tensor(self=x, other=x, alpha=1) -> f[7,4]", "v,-"},
    {"aten::mul.Tensor(self=x, other=w) -> f[7,4]", "refused: a constant of 4 rows meets v"},
    {"aten::add.Tensor(self=x, other=ea, alpha=1) -> f[7,4]", "refused: row spaces differ"},
    {"aten::linear(input=x, weight=w, bias=bias) -> f[7,6]", "v,-"},
    {"aten::matmul(self=x, other=w) -> f[7,6]", "v,-"},
    {"aten::matmul(self=x, other=turned) -> f[7,7]", "refused: a dense product of rows by rows (all pairs of nodes)"},
    {"aten::softmax.int(self=x, dim=1, dtype=none) -> f[7,4]", "v,-"},
    {"aten::layer_norm(input=x, normalized_shape=[4], weight=none, bias=none, eps=0.1, cudnn_enable=false) -> f[7,4]",
     "v,-"},
    {"aten::batch_norm(input=x, weight=none, bias=none, running_mean=none, running_var=none, training=false, "
     "momentum=0.1, "
     "eps=0.1, cudnn_enabled=false) -> f[7,4]",
     "v,-"},
    {"aten::batch_norm(input=turned, weight=none, bias=none, running_mean=none, running_var=none, training=true, "
     "momentum=0.1, "
     "eps=0.1, cudnn_enabled=false) -> f[4,7]",
     "refused: normalises over a batch whose channels are the rows"},
    {"aten::batch_norm(input=pg, weight=none, bias=none, running_mean=none, running_var=none, training=true, "
     "momentum=0.1, "
     "eps=0.1, cudnn_enabled=false) -> f[3,4]",
     "g,-"},
    {"aten::cumsum(self=x, dim=0, dtype=none) -> f[7,4]", "refused: works over the rows of v"},
    {"aten::topk(self=x, k=2, dim=0, largest=true, sorted=true) -> f[2,4]", "refused: works over the rows of v"},
    {"aten::new_zeros(self=x, size=[n, 3], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,3]", "v,-"},
    // views
    {"aten::view(self=x, size=[-1, 2, 2]) -> f[7,2,2]", "v,-,-"},
    {"aten::view(self=x, size=[-1]) -> f[28]", "refused: mixes the rows"},
    {"aten::flatten.using_ints(self=h, start_dim=1, end_dim=-1) -> f[7,8]", "v,-"},
    {"aten::unsqueeze(self=ew, dim=-1) -> f[9,1]", "e,-"},
    {"aten::transpose.int(self=h, dim0=0, dim1=1) -> f[2,7,4]", "-,v,-"},
    {"aten::permute(self=h, dims=[2, 0, 1]) -> f[4,7,2]", "-,v,-"},
    {"aten::t(self=x) -> f[4,7]", "-,v"},
    {"aten::select.int(self=x, dim=0, index=0) -> f[4]", "-"},
    {"aten::select.int(self=x, dim=0, index=n) -> f[4]", "-"},
    {"aten::slice.Tensor(self=x, dim=0, start=0, end=3, step=1) -> f[3,4]", "v[v"},
    {"aten::slice.Tensor(self=x, dim=0, start=-3, end=none, step=1) -> f[3,4]", "v[v"},
    {"aten::slice.Tensor(self=x, dim=0, start=n, end=none, step=1) -> f[0,4]", "v[v"},
    {"aten::slice.Tensor(self=ea, dim=0, start=0, end=none, step=2) -> f[5,5]", "e[v"},
    {"aten::slice.Tensor(self=x, dim=0, start=bias, end=none, step=1) -> f[3,4]",
     "refused: picks a range of rows of v"},
    {"aten::narrow(self=x, dim=0, start=n, length=2) -> f[2,4]", "refused: picks a range of rows of v"},
    {"aten::chunk(self=x, chunks=2, dim=0) -> f[7,4]", "refused: splits the rows of v"},
    {"aten::slice_scatter(self=x, src=w, dim=0, start=0, end=4, step=1) -> f[7,4]",
     "refused: overwrites some rows of v"},
    {"aten::select_scatter(self=x, src=p, dim=0, index=n) -> f[7,4]", "v,-"},
    {"aten::slice.Tensor(self=x, dim=0, start=0, end=n, step=1) -> f[7,4]", "v,-"},
    {"aten::slice.Tensor(self=x, dim=1, start=0, end=2, step=1) -> f[7,2]", "v,-"},
    {"aten::roll(self=x, shifts=[1], dims=[0]) -> f[7,4]", "v,-"},
    {"aten::roll(self=x, shifts=[1], dims=[]) -> f[7,4]", "refused: changes the order of the rows"},
    {"aten::roll(self=x, shifts=[1], dims=[1]) -> f[7,4]", "v,-"},
    {"aten::flip(self=x, dims=[0]) -> f[7,4]", "v,-"},
    {"aten::flip(self=x, dims=[0, 1]) -> f[7,4]", "refused: changes the order of the rows"},
    {"aten::flip(self=ea, dims=[0]) -> f[9,5]", "e,-"},
    {"aten::expand(self=p, size=[n, -1], implicit=false) -> f[7,3]", "v,-"},
    {"aten::expand(self=sevenths, size=[n], implicit=false) -> f[7]", "refused: a constant of 7 rows meets v"},
    {"aten::repeat(self=x, repeats=[2, 1]) -> f[14,4]", "refused: repeats the rows of v"},
    {"aten::cat(tensors=[x, x], dim=1) -> f[7,8]", "v,-"},
    {"aten::cat(tensors=[x, x], dim=0) -> f[14,4]", "(v + v),-"},
    {"aten::stack(tensors=[x, x], dim=0) -> f[2,7,4]", "-,v,-"},
    {"aten::constant_pad_nd(self=x, pad=[0, 0, 1, 0], value=0) -> f[8,4]", "refused: adds rows to v"},
    {"aten::constant_pad_nd(self=x, pad=[0, 0, -1, 0], value=0) -> f[6,4]", "refused: removes rows of v by position"},
    // on some dimensions as a whole
    {"aten::tril(self=h, diagonal=0) -> f[7,2,4]", "v,-,-"},
    {"aten::tril(self=x, diagonal=0) -> f[7,4]", "refused: needs all rows of v at once"},
    {"aten::linalg_inv(A=x) -> f[7,4]", "refused: needs all rows of v at once"},
    {"aten::cdist(x1=h, x2=h, p=2, compute_mode=none) -> f[7,2,2]", "v,-,-"},
    {"aten::cdist(x1=x, x2=x, p=2, compute_mode=none) -> f[7,7]", "refused: compares all pairs of rows of v"},
    {"aten::cdist(x1=x, x2=sq, p=2, compute_mode=none) -> f[7,7]", "v,-"},
    {"aten::mse_loss(self=x, target=x, reduction=0) -> f[7,4]", "v,-"},
    {"aten::mse_loss(self=x, target=x, reduction=1) -> f[]", "refused: reduces over the rows of v"},
    {"aten::scaled_dot_product_attention(query=x, key=x, value=x) -> f[7,4]",
     "refused: compares all pairs of rows of v"},
    {"aten::bilinear(input1=x, input2=x, weight=w, bias=none) -> f[7,6]", "v,-"},
    {"aten::bilinear(input1=x, input2=ea, weight=w, bias=none) -> f[7,6]", "refused: row spaces differ"},
    {"aten::bilinear(input1=x, input2=x, weight=h, bias=none) -> f[7,6]", "refused: has an operand with rows, weight"},
    {"aten::bucketize.Tensor(self=x, boundaries=p) -> i[7,4]", "v,-"},
    {"aten::bucketize.Tensor(self=p, boundaries=ew) -> i[3]", "refused: needs all rows of e at once"},
    {"aten::linalg_solve(A=h, B=h) -> f[7,4,4]", "v,-,-"},
    {"aten::view_as_real(self=x) -> f[7,4,2]", "v,-,-"},
    {"aten::diagonal(self=h, offset=0, dim1=-1, dim2=-2) -> f[7,2]", "v,-"},
    {"aten::diagonal(self=x, offset=0, dim1=0, dim2=1) -> f[4]", "refused: needs all rows of v at once"},
    {"aten::diag_embed(self=x, offset=0, dim1=-2, dim2=-1) -> f[7,4,4]", "v,-,-"},
    {"aten::unfold(self=x, dimension=1, size=2, step=1) -> f[7,3,2]", "v,-,-"},
    {"aten::unfold(self=x, dimension=0, size=2, step=1) -> f[6,4,2]", "refused: takes windows of the rows of v"},
    {"aten::tensordot(self=x, other=w, dims_self=[1], dims_other=[0]) -> f[7,6]", "v,-"},
    {"aten::tensordot(self=x, other=x, dims_self=[0], dims_other=[0]) -> f[4,4]", "refused: sums over the rows of v"},
    {"aten::fft_fft2(self=h, s=none, dim=[1, 2], norm=none) -> f[7,2,4]", "v,-,-"},
    {"aten::fft_fft2(self=x, s=none, dim=[-2, -1], norm=none) -> f[7,4]", "refused: needs all rows of v at once"},
    {"aten::fft_fftn(self=x, s=none, dim=none, norm=none) -> f[7,4]", "refused: needs all rows of v at once"},
    {"aten::quantile(self=x, q=p, dim=1, keepdim=false) -> f[3,7]", "-,v"},
    {"aten::vdot(self=x, other=x) -> f[]", "refused: has no rule yet for rows of v"},
    // moving between tables
    {"aten::index_select(self=x, dim=0, index=src) -> f[9,4]", "e,-"},
    {"aten::index.Tensor(self=x, indices=[dst]) -> f[9,4]", "e,-"},
    {"aten::index.Tensor(self=ea, indices=[src]) -> f[9,5]", "refused: the index points into v, not e"},
    {"aten::scatter_add(self=x, dim=0, index=dst, src=ew) -> f[7,4]", "v,-"},
    {"aten::index_add(self=x, dim=0, index=dst, source=ea, alpha=1) -> f[7,4]", "v,-"},
    {"hopscope::select_rank(rank=b, index=dst, src=ea) -> f[7,5]", "v,-"},
    {"hopscope::select_rank(rank=b, index=dst, src=x) -> f[7,4]", "refused: rows of v scattered by an index over e"},
    {"hopscope::select_rank(rank=p, index=b, src=x) -> f[3,4]", "refused: needs all rows of a graph at once"},
    {"hopscope::pad_groups(counts=b, index=dst, src=ea, width=3) -> f[7,3,5]", "v,-,-"},
    {"aten::index_add(self=w, dim=0, index=dst, source=ea, alpha=1) -> f[4,6]",
     "refused: an index into v writes to a constant"},
    {"aten::bincount(self=dst, weights=none, minlength=n) -> i[7]", "v"},
    {"aten::bincount(self=mask, weights=none, minlength=n) -> i[7]",
     "refused: bincount of numbers that are not known to be row numbers"},
    {"aten::bincount(self=dst, weights=none, minlength=7) -> i[7]", "refused: its result 'out' has unknown rows"},
    // reductions and products over rows
    {"aten::mean.dim(self=x, dim=[0], keepdim=false, dtype=none) -> f[4]", "-"},
    {"aten::sum.dim_IntList(self=x, dim=[-1], keepdim=true, dtype=none) -> f[7,1]", "v,-"},
    {"aten::argmax(self=x, dim=0, keepdim=false) -> i[4]", "refused: needs all rows of v"},
    {"aten::einsum(equation='nhf,f->nh', tensors=[h, p]) -> f[7,2]", "v,-"},
    {"aten::einsum(equation='...f,f->...', tensors=[h, p]) -> f[7,2]", "v,-"},
    {"aten::einsum(equation='n...,n...', tensors=[x, x]) -> f[4]", "-"},
    {"aten::einsum(equation='nf,mf->nm', tensors=[x, x]) -> f[7,7]", "refused: has rows by rows"},
    {"aten::einsum(equation='nf,ef->f', tensors=[x, x]) -> f[4]", "-"},
    {"aten::einsum(equation='vw,wc->vc', tensors=[sq, x]) -> f[7,4]",
     "refused: multiplies the rows of v by a dimension"},
    {"aten::expand(self=h, size=[n, -1, -1, -1], implicit=false) -> f[7,7,2,4]", "refused: has rows by rows"},
    {"aten::arange.start_step(start=1, end=n, step=1, dtype=none, layout=none, device=none, pin_memory=none) -> i[6]",
     "refused: arange over a number that is not the size of a table"},
    {"aten::sparse_coo_tensor.indices_size(indices=e, values=ew, size=[7, 7]) -> f[7,7]",
     "refused: aten::sparse_coo_tensor: its result 'out' is a sparse matrix"},
    {"aten::sparse_coo_tensor.indices_size(indices=e, values=ew, size=[9, 9]) -> f[9,9]",
     "refused: its result 'out' has unknown rows"},
    {"aten::sparse_coo_tensor.indices_size(indices=e, values=ew, size=[9, 7]) -> f[9,7]",
     "refused: its result 'out' has unknown rows"},
    // arguments that are not what the schema says
    {"aten::gelu(self=x, approximate:='tanh') -> f[7,4]", "v,-"},
    {"aten::index_add(self=x, dim:=0, index=dst, source=ea, alpha:=2) -> f[7,4]", "v,-"},
    {"aten::index_add(self=pg, dim:=0, index=b, source=x, alpha:=2) -> f[3,4]", "g,-"},
    {"aten::relu(self=x, layout:=0, memory_format:=2, device:=none) -> f[7,4]", "v,-"},
    {"aten::flatten.using_ints(self=h, start_dim:=1, end_dim=-1, order:='F') -> f[7,8]",
     "refused: is called with order='F', which its rule does not support"},
    {"aten::flatten.using_ints(self=h, start_dim:=1, end_dim=-1, order='C') -> f[7,8]", "v,-"},
    {"aten::embedding(weight=x, indices=dst, padding_idx:=1, further:=[1, 2.5]) -> f[9,4]",
     "refused: is called with further=[1, 2.5], which its rule does not support"},
    {"aten::linear(input=x, weight=w, bias=ew) -> f[7,6]", "refused: has an operand with rows, bias, that its rule"},
    {"aten::linalg_norm(self=x, ord:=2, dim=none, keepdim=false, dtype=none) -> f[]", "refused: a norm other than 2"},
    {"aten::cross(self=x, other=x, dim=none) -> f[7,4]", "refused: takes the first dimension of size 3"},
    {"aten::addmm(self=ea, mat1=x, mat2=w, beta=1, alpha:=2) -> f[7,6]", "refused: row spaces differ"},
    {"aten::prelu(self=h, weight=pair) -> f[7,2,4]", "v,-,-"},
    {"aten::prelu(self=turned, weight=sevenths) -> f[4,7]", "refused: has one weight for each row of v"},
};

}  // namespace

TEST_CASE("each operator family gives its rows or refuses with a reason")
{
    for (const Row& row : rows) {
        CAPTURE(row.line);
        const std::string got = describe(row.line), expected = row.expected;
        if (!expected.starts_with("refused: ")) {
            CHECK_MESSAGE(got.starts_with(expected), "got ", got, ", expected ", expected);
            continue;
        }
        CHECK_MESSAGE(got.find(expected.substr(9)) != std::string::npos, "got ", got, ", expected ", expected);
        CHECK(got.starts_with("refused: "));
    }
}

TEST_CASE("a refusal names operator and place")
{
    const std::string got = describe("aten::cumsum(self=x, dim=0, dtype=none) -> f[7,4]");
    CHECK(got.find("aten::cumsum") != std::string::npos);
}

TEST_CASE("prelu with a slope for each row is written as a choice, as its hint says")
{
    const auto drawn =
        test::drawProgram(prelude + "r = aten::prelu(self=turned, weight=sevenths) -> f[4,7]\nout = r\n");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    REQUIRE(a.refusal);
    CHECK(a.refusal->hint.find("write torch.where(h > 0, h, w * h)") != std::string::npos);
    CHECK(describeProgram("slopes = node f[7]\n"
                          "low = aten::mul.Tensor(self=slopes, other=turned) -> f[4,7]\n"
                          "above = aten::gt.Scalar(self=turned, other=0) -> b[4,7]\n"
                          "r = aten::where.self(condition=above, self=turned, other=low) -> f[4,7]") == "-,v");
}

TEST_CASE("rows that are split, turned and merged again are those of the same table; sums of them are not")
{
    const std::string turned = R"(
p = aten::view(self=ea, size=[-1, 3, 5]) -> f[3,3,5]
q = aten::flip(self=p, dims=[1]) -> f[3,3,5]
)";
    CHECK(describeProgram(turned + "r = aten::reshape(self=q, shape=[-1, 5]) -> f[9,5]") == "e,-");
    const std::string sums =
        describeProgram(turned + "r = aten::sum.dim_IntList(self=q, dim=[1], keepdim=false, dtype=none) -> f[3,5]");
    CHECK_MESSAGE(sums.find("mixes the rows") != std::string::npos, sums);
    const std::string columns =
        "p = aten::view(self=x, size=[-1, 2, 2]) -> f[7,2,2]\nq = aten::flip(self=p, dims=[0, 1]) -> f[7,2,2]\n";
    const std::string both = describeProgram(columns + "r = aten::reshape(self=q, shape=[-1, 4]) -> f[7,4]");
    CHECK_MESSAGE(both.find("changes the order of the rows") != std::string::npos, both);
}

TEST_CASE("a concatenation comes apart where its parts begin, and nowhere else")
{
    const std::string both = "both = aten::cat(tensors=[x, x], dim=0) -> f[14,4]\n";
    CHECK(describeProgram(both + "r = aten::view(self=both, size=[2, n, 4]) -> f[2,7,4]") == "-,v,-");
    CHECK(describeProgram(both + "r = aten::view(self=both, size=[2, -1, 4]) -> f[2,7,4]") == "-,v,-");
    const std::string pairs = describeProgram(both + "r = aten::view(self=both, size=[n, 2, 4]) -> f[7,2,4]");
    CHECK_MESSAGE(pairs.find("mixes the rows") != std::string::npos, pairs);
    const auto lookUp = [&](const std::string& by) {
        return describeProgram(both + "i = aten::add.Scalar(self=src, other=" + by +
                               ", alpha=1) -> i[9]\nr = aten::index_select(self=both, dim=0, index=i) -> f[9,4]");
    };
    CHECK(lookUp("n") == "e,-");
    const std::string stack = both + "i = aten::add.Scalar(self=src, other=n, alpha=1) -> i[9]\n"
                                     "s = aten::stack(tensors=[i, dst], dim=0) -> i[2,9]\n"
                                     "j = aten::select.int(self=s, dim=0, index=0) -> i[9]\n"
                                     "r = aten::index.Tensor(self=both, indices=[j]) -> f[9,4]";
    CHECK(describeProgram(stack) == "e,-");
    CHECK_MESSAGE(lookUp("1").find("has an unknown origin") != std::string::npos, lookUp("1"));
}

TEST_CASE("a part of a table is the same whatever its bounds are read from, and others are others")
{
    const std::string parts = R"(
m = scalar::size(self=h, dim=0) -> n7
k = scalar::sub(a=n, b=3) -> n4
l = scalar::sub(a=m, b=3) -> n4
one = aten::slice.Tensor(self=x, dim=0, start=0, end=k, step=1) -> f[4,4]
wide = aten::flatten.using_ints(self=h, start_dim=1, end_dim=-1) -> f[7,8]
same = aten::slice.Tensor(self=wide, dim=0, start=none, end=l, step=1) -> f[4,8]
rest = aten::slice.Tensor(self=x, dim=0, start=3, end=none, step=1) -> f[4,4]
)";
    const std::string joined = describeProgram(parts + "r = aten::cat(tensors=[one, same], dim=1) -> f[4,12]");
    CHECK_MESSAGE(joined.starts_with("v[v"), joined);
    const std::string other = describeProgram(parts + "r = aten::add.Tensor(self=one, other=rest, alpha=1) -> f[4,4]");
    CHECK_MESSAGE(other.find("two orders or selections of the rows of v meet") != std::string::npos, other);
}

TEST_CASE("what is written to a part of a table is computed from the same part, or refused")
{
    const std::string part = R"(k = scalar::sub(a=n, b=3) -> n4
one = aten::slice.Tensor(self=x, dim=0, start=0, end=k, step=1) -> f[4,4]
y = aten::linear(input=one, weight=w, bias=none) -> f[4,4]
)";
    const std::string put = "r = aten::slice_scatter(self=x, src=y, dim=0, start=";
    CHECK(describeProgram(part + put + "0, end=k, step=1) -> f[7,4]") == "v,-");
    CHECK(describeProgram(part + put + "1, end=5, step=1) -> f[7,4]").find("overwrites some rows of v") !=
          std::string::npos);
}

TEST_CASE("the first rows of a table are looked up and added up like the table itself")
{
    const std::string target = R"(k = scalar::sub(a=n, b=3) -> n4
part = aten::slice.Tensor(self=x, dim=0, start=S, end=k, step=1) -> f[4,4]
)";
    const std::string looked = "r = aten::index_select(self=part, dim=0, index=src) -> f[9,4]";
    const std::string added = "m = aten::index_select(self=x, dim=0, index=src) -> f[9,4]\n"
                              "r = aten::index_add(self=part, dim=0, index=dst, source=m, alpha=1) -> f[4,4]";
    const auto from = [&](const char* start, const std::string& line) {
        std::string text = target;
        return describeProgram(text.replace(text.find("S"), 1, start) + line);
    };
    CHECK(from("0", looked) == "e,-");
    CHECK(from("0", added).starts_with("v[v"));
    CHECK(from("1", looked) == "e,-");
    CHECK(from("1", added).starts_with("refused: "));
}

TEST_CASE("a mask of the structure makes a table and keeps both ends as keys")
{
    const auto drawn = test::drawProgram(prelude + R"(
kept = aten::index.Tensor(self=e, indices=[none, mask]) -> i[2,5]
to = aten::select(self=kept, dim=0, index=1) -> i[5]
from = aten::select(self=kept, dim=0, index=0) -> i[5]
m = aten::index_select(self=x, dim=0, index=from) -> f[5,4]
r = aten::index_add(self=x, dim=0, index=to, source=m, alpha=1) -> f[7,4]
out = r
)");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    REQUIRE_MESSAGE(!a.refusal, (a.refusal ? base::describe(*a.refusal) : ""));
    CHECK(a.depth == 1);
    const auto& last = a.ops.back();
    CHECK(last.kind == analysis::OpKind::Aggregate);
    CHECK(a.tables.space(last.role.space).kind == analysis::SpaceKind::Filter);
    CHECK(a.tables.keyName(last.role.key) == "end1");
}

TEST_CASE("a part of the pair of ends has those of its ends, and a rolled pair has none")
{
    const auto endOf = [](const std::string& pair, const std::string& index) {
        const auto drawn = test::drawProgram(
            prelude + "p = " + pair + "\ni = aten::select.int(self=p, dim=0, index=" + index + ") -> i[9]\nout = i\n");
        const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
        if (a.refusal) FAIL(base::describe(*a.refusal));
        const auto& role = a.info(a.program.outputs[0].value).role;
        return role ? a.tables.keyName(role->key) : std::string("none");
    };
    const auto slice = [](const std::string& start, const std::string& end, const std::string& rows) {
        return "aten::slice.Tensor(self=e, dim=0, start=" + start + ", end=" + end + ", step=1) -> i[" + rows + ",9]";
    };
    CHECK(endOf(slice("0", "1", "1"), "-1") == "end0");
    CHECK(endOf(slice("0", "2", "2"), "-1") == "end1");
    CHECK(endOf(slice("1", "2", "1"), "0") == "end1");
    CHECK(endOf("aten::flip(self=e, dims=[0]) -> i[2,9]", "0") == "end1");
    CHECK(endOf("aten::roll(self=e, shifts=[2], dims=[0]) -> i[2,9]", "0") == "none");
}

TEST_CASE("a product with a sparse matrix is a round of message passing, as an aggregation is")
{
    const auto drawn = test::drawProgram(prelude + R"(
adj = aten::sparse_coo_tensor.indices_size(indices=e, values=ew, size=[n, n]) -> f[7,7]
r = aten::mm(self=adj, mat2=x) -> f[7,4]
s = aten::relu(self=r) -> f[7,4]
out = s
)");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    if (a.refusal) FAIL(base::describe(*a.refusal));
    CHECK(a.depth == 1);
    CHECK(a.depthOp == 1);
}

TEST_CASE("what stages store for each other is as narrow as asked for, results and what they are given are not")
{
    const auto drawn = test::drawProgram(
        prelude + "y = aten::relu(self=x) -> f[7,4]\nr = aten::exp(self=y) -> f[7,4]\n" + "out = r\n");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    REQUIRE(!a.refusal);
    const auto of = [&](const char* op) { return std::ranges::find(a.program.ops, op, &ir::Op::name)->outputs.at(0); };
    const auto stored = [&](ir::ValueId v) { return analysis::storedType(a, v, base::StoreType::Float16); };
    CHECK(stored(of("aten::relu")) == base::DType::Float16);
    CHECK(stored(of("aten::exp")) == base::DType::Float32);
    CHECK(stored(a.program.inputs.at(0).value) == base::DType::Float32);
    CHECK(analysis::storedBytes(a, of("aten::relu"), base::StoreType::Float16, 112) == 56);
    CHECK(analysis::storedBytes(a, of("aten::exp"), base::StoreType::Float16, 112) == 112);
}

TEST_CASE("what a choice is made of keeps the functions of the model: rounding and counting are choices, plain "
          "arithmetic is not")
{
    const auto feeds = [](const std::string& last) {
        const auto drawn = test::drawProgram(prelude + "y = aten::exp(self=x) -> f[7,4]\n" + last + "\nout = r\n");
        const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
        const auto exp = std::ranges::find(a.program.ops, "aten::exp", &ir::Op::name);
        return a.info(exp->id).feedsChoice;
    };
    CHECK_FALSE(feeds("r = aten::div.Tensor(self=y, other=x) -> f[7,4]"));
    CHECK(feeds("r = aten::div.Tensor_mode(self=y, other=x, rounding_mode='floor') -> f[7,4]"));
    CHECK_FALSE(feeds("r = aten::div.Tensor_mode(self=y, other=x, rounding_mode=none) -> f[7,4]"));
    CHECK(feeds("r = aten::remainder.Tensor(self=y, other=x) -> f[7,4]"));
    CHECK(feeds("r = aten::gt.Scalar(self=y, other=1) -> b[7,4]"));
}

TEST_CASE("structure is what follows from indices alone, features are not")
{
    const auto drawn = test::drawProgram(prelude + R"(
one = aten::new_ones(self=x, size=[n], dtype=none, layout=none, device=none, pin_memory=none) -> f[7]
gathered = aten::index_select(self=one, dim=0, index=src) -> f[9]
zero = aten::new_zeros(self=x, size=[n], dtype=none, layout=none, device=none, pin_memory=none) -> f[7]
deg = aten::index_add(self=zero, dim=0, index=dst, source=gathered, alpha=1) -> f[7]
col = aten::unsqueeze(self=deg, dim=1) -> f[7,1]
r = aten::mul.Tensor(self=x, other=col) -> f[7,4]
out = r
)");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    REQUIRE(!a.refusal);
    for (const ir::Op& op : a.program.ops) CHECK(a.info(op.id).structureOnly == (op.name != "aten::mul"));
    CHECK(a.depth == 0);
    CHECK(a.depthOp == 1);
}

TEST_CASE("ones are the same for every row, running sums of them are not")
{
    const auto drawn = test::drawProgram(prelude + R"(
k = scalar::size(self=pg, dim=0) -> n3
one = aten::new_ones(self=pg, size=[k], dtype=none, layout=none, device=none, pin_memory=none) -> f[3]
two = aten::exp(self=one) -> f[3]
sums = aten::cumsum(self=two, dim=0, dtype=none) -> f[3]
last = aten::exp(self=sums) -> f[3]
r = aten::mul.Tensor(self=pg, other=last) -> f[3,4]
out = two, sums, last
)");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    if (a.refusal) FAIL(base::describe(*a.refusal));
    for (int i = 0; i < 3; ++i)
        CHECK(a.info(a.program.outputs.at(static_cast<std::size_t>(i)).value).uniform == (i == 0));
}

TEST_CASE("ranks in sorted groups are an aggregation where something replaces those of empty groups")
{
    const std::string picked = R"(counts = aten::bincount(self=dst, weights=none, minlength=n) -> i[7]
sums = aten::cumsum(self=counts, dim=0, dtype=none) -> i[7]
starts = aten::sub.Tensor(self=sums, other=counts, alpha=1) -> i[7]
wide = aten::view(self=dst, size=[-1, 1]) -> i[9,1]
keys = aten::expand_as(self=wide, other=ea) -> i[9,5]
values, first = aten::sort(self=ea, dim=0, descending=false) -> f[9,5], i[9,5]
ordered = aten::take_along_dim(self=keys, indices=first, dim=0) -> i[9,5]
groups, second = aten::sort.stable(self=ordered, stable=true, dim=0, descending=false) -> i[9,5], i[9,5]
sorted = aten::take_along_dim(self=values, indices=second, dim=0) -> f[9,5]
least = aten::index_select(self=sorted, dim=0, index=starts) -> f[7,5]
empty = aten::eq.Scalar(self=counts, other=0) -> b[7]
column = aten::view(self=empty, size=[-1, 1]) -> b[7,1]
filled = aten::masked_fill.Scalar(self=least, mask=column, value=0) -> f[7,5]
out = )";
    const auto analysed = [&](const std::string& output) {
        const auto drawn = test::drawProgram(prelude + picked + output + "\n");
        return analysis::analyse(drawn.program, drawn.schema);
    };
    const analysis::Analysis masked = analysed("filled"), bare = analysed("least");
    if (masked.refusal) FAIL(base::describe(*masked.refusal));
    CHECK(std::ranges::any_of(masked.program.ops, [](const ir::Op& op) { return op.name == "hopscope::select_rank"; }));
    REQUIRE(bare.refusal);
    CHECK(bare.refusal->message.find("aten::sort") != std::string::npos);
}

TEST_CASE("rows that are merged with another dimension and separated again are rows all the while")
{
    const std::string heads = "y = aten::permute(self=h, dims=[1, 0, 2]) -> f[2,7,4]\n"
                              "m = aten::reshape(self=y, shape=[-1, 4]) -> f[14,4]\n"
                              "t = aten::tanh(self=m) -> f[14,4]\n";
    const std::string pairs = "m = aten::view(self=x, size=[-1, 2]) -> f[14,2]\n";
    const Row rows[] = {
        {"t = aten::tanh(self=m) -> f[14,2]\nr = aten::view(self=t, size=[n, 4]) -> f[7,4]", "v,-"},
        {"t = aten::softmax.int(self=m, dim=1, dtype=none) -> f[14,2]\nr = aten::view(self=t, size=[n, 4]) -> f[7,4]",
         "v,-"},
        {"t = aten::softmax.int(self=m, dim=0, dtype=none) -> f[14,2]\nr = aten::view(self=t, size=[n, 4]) -> f[7,4]",
         "mixes the rows"},
        {"r = aten::tanh(self=m) -> f[14,2]", "mixes the rows"},
        {"t = aten::tanh(self=m) -> f[14,2]\nr = aten::view(self=t, size=[4, 7]) -> f[4,7]", "mixes the rows"},
    };
    for (const Row& row : rows) {
        const std::string line = row.line, got = describeProgram(pairs + line);
        CHECK_MESSAGE(got.find(row.expected) != std::string::npos, (line + "\n" + got));
    }
    CHECK(describeProgram(heads + "r = aten::view(self=t, size=[2, -1, 4]) -> f[2,7,4]") == "-,v,-");
    CHECK(describeProgram(heads + "r = aten::view(self=t, size=[2, 7, 4]) -> f[2,7,4]").starts_with("refused: "));
}
