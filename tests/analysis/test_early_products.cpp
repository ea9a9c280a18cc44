// Which products are computed before the gathers of the rows that they multiply. What such programs compute is compared
// with forward in tests/app/engine_early_products.py.

#include "analysed_products.h"

using namespace hopscope;

namespace {

// 7 nodes, 19 edges; x has 8 columns, weights make 6 of 16 columns, or of 8.
const std::string prelude = R"(
x = node f[7,8]
few = node f[7,2]
fd = node d[7,8]
wd = weight d[6,16]
e = index i[2,19]
ea = edge f[19,8]
w = weight f[6,16]
w1 = weight f[6,8]
wt = weight f[16,6]
w3 = weight f[6,24]
w10 = weight f[6,10]
bias = weight f[6]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[19]
dst = aten::select(self=e, dim=0, index=1) -> i[19]
xi = aten::index_select(self=x, dim=0, index=dst) -> f[19,8]
xj = aten::index.Tensor(self=x, indices=[src]) -> f[19,8]
fj = aten::index_select(self=few, dim=-2, index=src) -> f[19,2]
)";

const std::string cat = "c = aten::cat(tensors=[xi, xj], dim=-1) -> f[19,16]\n";
const std::string product = "r = aten::linear(input=c, weight=w, bias=bias) -> f[19,6]\n";
const std::string maximum = R"(
zero = aten::new_zeros(self=r, size=[n, 6], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,6]
column = aten::view(self=dst, size=[-1, 1]) -> i[19,1]
index = aten::expand_as(self=column, other=r) -> i[19,6]
a = aten::relu(self=r) -> f[19,6]
s = aten::scatter_reduce.two(self=zero, dim=0, index=index, src=a, reduce='amax', include_self=false) -> f[7,6]
out = s
)";

analysis::Analysis analysed(const std::string& lines, const std::map<std::string, std::int64_t>& sizes = {},
                            bool reassociate = true)
{
    return test::analysedProducts(prelude + lines, sizes, reassociate);
}

struct Case {
    const char* what;
    std::string lines, products;
    std::int64_t columns = 0;  // that are moved; 0: no product is
};

}  // namespace

TEST_CASE("a product with both ends of edges side by side becomes a product with each table")
{
    const analysis::Analysis a = analysed(cat + product + maximum);
    CHECK(test::productsOf(a) == "7x8 7x8");
    CHECK(test::countOps(a, "aten::cat") == 0);
    REQUIRE(a.reassociations.size() == 1);
    CHECK(a.reassociations[0].in == 16);
    CHECK(a.reassociations[0].out == 6);
    CHECK(a.reassociations[0].before == analysis::MovedBefore::Gather);
    CHECK(test::notesWith(a, "before rows are gathered: rows of 6 instead of 16") == 1);
    const analysis::Analysis plain = analysed(cat + product + maximum, {}, false);
    CHECK(test::productsOf(plain) == "19x16");
    CHECK(plain.reassociations.empty());
}

TEST_CASE("parts are split, added up and taken apart as the model does it")
{
    const std::string difference = "d = aten::sub.Tensor(self=xj, other=xi, alpha=1) -> f[19,8]\n";
    const Case cases[] = {
        {"rows of one end", "r = aten::linear(input=xj, weight=w1, bias=none) -> f[19,6]\n", "7x8", 8},
        {"a difference: one product for each end",
         difference + "c = aten::cat(tensors=[xi, d], dim=1) -> f[19,16]\n" + product, "7x8 7x8", 16},
        {"a difference alone", difference + "r = aten::linear(input=d, weight=w1, bias=bias) -> f[19,6]\n", "7x8 7x8",
         8},
        {"with rows of edges, which stay",
         "c = aten::cat(tensors=[xi, xj, ea], dim=-1) -> f[19,24]\n"
         "r = aten::linear(input=c, weight=w3, bias=bias) -> f[19,6]\n",
         "7x8 7x8 19x8", 16},
        {"tables that are gathered alike are added up first",
         "c = aten::cat(tensors=[fj, xj], dim=-1) -> f[19,10]\n"
         "r = aten::linear(input=c, weight=w10, bias=none) -> f[19,6]\n",
         "7x2 7x8", 10},
        {"matmul", cat + "r = aten::matmul(self=c, other=wt) -> f[19,6]\n", "7x8 7x8", 16},
        {"addmm", cat + "r = aten::addmm(self=bias, mat1=c, mat2=wt, beta=1, alpha=1) -> f[19,6]\n", "7x8 7x8", 16},
        {"the opposite",
         "m = aten::neg(self=xj) -> f[19,8]\nc = aten::cat(tensors=[xi, m], dim=-1) -> f[19,16]\n" + product, "7x8 7x8",
         16},
        {"a number",
         "m = aten::mul.Tensor(self=xj, other=0.5) -> f[19,8]\n"
         "c = aten::cat(tensors=[xi, m], dim=-1) -> f[19,16]\n" +
             product,
         "7x8 7x8", 16},
    };
    for (const Case& one : cases) {
        CAPTURE(one.what);
        const analysis::Analysis a = analysed(one.lines + maximum);
        CHECK(test::productsOf(a) == one.products);
        REQUIRE(a.reassociations.size() == 1);
        CHECK(a.reassociations[0].in == one.columns);
    }
}

TEST_CASE("towers are rows of one table")
{
    const analysis::Analysis a = analysed(R"(
t = aten::view(self=x, size=[-1, 1, 8]) -> f[7,1,8]
tt = aten::repeat(self=t, repeats=[1, 2, 1]) -> f[7,2,8]
ti = aten::index_select(self=tt, dim=0, index=dst) -> f[19,2,8]
tj = aten::index_select(self=tt, dim=0, index=src) -> f[19,2,8]
c = aten::cat(tensors=[ti, tj], dim=-1) -> f[19,2,16]
all = aten::slice.Tensor(self=c, dim=0, start=0, end=9223372036854775807, step=1) -> f[19,2,16]
c0 = aten::select.int(self=all, dim=1, index=0) -> f[19,16]
c1 = aten::select.int(self=c, dim=1, index=1) -> f[19,16]
p0 = aten::linear(input=c0, weight=w, bias=bias) -> f[19,6]
p1 = aten::linear(input=c1, weight=w, bias=none) -> f[19,6]
p = aten::stack(tensors=[p0, p1], dim=1) -> f[19,2,6]
z = aten::new_zeros(self=p, size=[n, 2, 6], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,2,6]
s = aten::index_add(self=z, dim=0, index=dst, source=p, alpha=1) -> f[7,2,6]
out = s
)");
    CHECK(test::productsOf(a) == "7x8 7x8 7x8 7x8");
    CHECK(a.reassociations.size() == 2);
    for (const ir::Op& op : a.program.ops)
        if (op.name == "aten::stack") CHECK(a.program.value(op.outputs[0]).shape == std::vector<std::int64_t>{7, 2, 6});
    CHECK(test::countOps(a, "aten::stack") == 2);
}

TEST_CASE("products stay where moving them saves nothing")
{
    const Case cases[] = {
        {"few columns", "wf = weight f[6,2]\nr = aten::linear(input=fj, weight=wf, bias=none) -> f[19,6]\n", "19x2"},
        {"rows of edges in the sum",
         "d = aten::add.Tensor(self=xj, other=ea, alpha=1) -> f[19,8]\n"
         "r = aten::linear(input=d, weight=w1, bias=none) -> f[19,6]\n",
         "19x8"},
        {"an activation before it",
         "d = aten::relu(self=xj) -> f[19,8]\n"
         "r = aten::linear(input=d, weight=w1, bias=none) -> f[19,6]\n",
         "19x8"},
        {"a weight of the data",
         "f2 = aten::t(self=few) -> f[2,7]\np2 = aten::matmul(self=f2, other=x) -> f[2,8]\n"
         "p6 = aten::repeat(self=p2, repeats=[3, 1]) -> f[6,8]\n"
         "r = aten::linear(input=xj, weight=p6, bias=none) -> f[19,6]\n",
         "2x7 19x8"},
        {"rows that a concatenation widens",
         "xd = aten::index_select(self=fd, dim=0, index=src) -> d[19,8]\n"
         "c = aten::cat(tensors=[xj, xd], dim=1) -> d[19,16]\n"
         "r = aten::linear(input=c, weight=wd, bias=none) -> d[19,6]\n",
         "19x16"},
        {"a scaled product", cat + "r = aten::addmm(self=bias, mat1=c, mat2=wt, beta=1, alpha=2) -> f[19,6]\n",
         "19x16"},
    };
    for (const Case& one : cases) {
        CAPTURE(one.what);
        const analysis::Analysis a = analysed(one.lines + maximum);
        CHECK(test::productsOf(a) == one.products);
        CHECK(a.reassociations.empty());
    }
}

TEST_CASE("products stay on edges if the data have fewer edges than nodes")
{
    const std::string text = cat + product + maximum;
    CHECK(test::productsOf(analysed(text, {{"v", 50}, {"e", 40}})) == "19x16");
    CHECK(test::productsOf(analysed(text, {{"v", 50}, {"e", 51}})) == "7x8 7x8");
}
