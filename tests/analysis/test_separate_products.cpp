// Which products with tables side by side become sums of products. What such programs compute is compared with forward
// in tests/app/engine_separate_products.py.

#include <doctest/doctest.h>

#include "analysed_products.h"

using namespace hopscope;

namespace {

// 7 nodes, 19 edges; a, b and c have 8 columns; weights make 6 of 16 or of 24 columns.
const std::string prelude = R"(
a = node f[7,8]
b = node f[7,8]
c = node f[7,8]
ad = node d[7,8]
scale = node f[7,1]
e = index i[2,19]
w = weight f[6,16]
wt = weight f[16,6]
w3 = weight f[6,24]
w8 = weight f[6,8]
wide = weight f[20,16]
wd = weight d[6,16]
bias = weight f[6]
src = aten::select(self=e, dim=0, index=0) -> i[19]
dst = aten::select(self=e, dim=0, index=1) -> i[19]
)";

const std::string cat = "r = aten::cat(tensors=[a, b], dim=-1) -> f[7,16]\n";
const std::string product = "p = aten::linear(input=r, weight=w, bias=bias) -> f[7,6]\n";

analysis::Analysis analysed(const std::string& lines) { return test::analysedProducts(prelude + lines + "out = p\n"); }

struct Case {
    const char* what;
    std::string lines, products;
};

}  // namespace

TEST_CASE("a product with tables side by side becomes a sum of products")
{
    const analysis::Analysis a = analysed(cat + product);
    CHECK(test::productsOf(a) == "7x8 7x8");
    CHECK(test::countOps(a, "aten::cat") == 0);
    CHECK(test::countOps(a, "aten::add") == 1);
    REQUIRE(a.reassociations.size() == 1);
    CHECK(a.reassociations[0].in == 16);
    CHECK(a.reassociations[0].out == 6);
    CHECK(a.reassociations[0].before == analysis::MovedBefore::Columns);
    CHECK(test::notesWith(a, "no rows of 16 columns are written") == 1);
}

TEST_CASE("tables are found behind what treats columns alike")
{
    const std::string three = "p = aten::linear(input=r, weight=w3, bias=bias) -> f[7,6]\n";
    const Case cases[] = {
        {"one in another",
         cat + "r3 = aten::cat(tensors=[c, r], dim=1) -> f[7,24]\n"
               "p = aten::linear(input=r3, weight=w3, bias=none) -> f[7,6]\n",
         "7x8 7x8 7x8"},
        {"a number for each row",
         "s = aten::cat(tensors=[a, b], dim=-1) -> f[7,16]\n"
         "r = aten::mul.Tensor(self=s, other=scale) -> f[7,16]\n" +
             product,
         "7x8 7x8"},
        {"an activation",
         "s = aten::cat(tensors=[a, b], dim=-1) -> f[7,16]\nr = aten::relu(self=s) -> f[7,16]\n" + product, "7x8 7x8"},
        {"scaled, and as they are, as PNA does it",
         "s = aten::mul.Tensor(self=c, other=scale) -> f[7,8]\nr = aten::cat(tensors=[c, s, a], dim=-1) -> f[7,24]\n" +
             three,
         "7x8 7x8 7x8"},
        {"views",
         "s = aten::view(self=a, size=[-1, 1, 8]) -> f[7,1,8]\nt = aten::view(self=b, size=[-1, 1, 8]) -> f[7,1,8]\n"
         "u = aten::cat(tensors=[s, t], dim=-1) -> f[7,1,16]\n"
         "r = aten::select.int(self=u, dim=1, index=0) -> f[7,16]\n" +
             product,
         "7x8 7x8"},
        {"a table twice", "r = aten::cat(tensors=[a, b, a], dim=-1) -> f[7,24]\n" + three, "7x8 7x8"},
        {"matmul", cat + "p = aten::matmul(self=r, other=wt) -> f[7,6]\n", "7x8 7x8"},
        {"addmm", cat + "p = aten::addmm(self=bias, mat1=r, mat2=wt, beta=1, alpha=1) -> f[7,6]\n", "7x8 7x8"},
    };
    for (const Case& one : cases) {
        CAPTURE(one.what);
        const analysis::Analysis a = analysed(one.lines);
        CHECK(test::productsOf(a) == one.products);
        CHECK(test::countOps(a, "aten::cat") == 0);
        CHECK(a.reassociations.size() == 1);
    }
}

TEST_CASE("products stay whole where their sum would touch more numbers, or where columns are not tables")
{
    const Case cases[] = {
        {"many columns of results", cat + "p = aten::linear(input=r, weight=wide, bias=none) -> f[7,20]\n", "7x16"},
        {"one table",
         "r = aten::cat(tensors=[a], dim=-1) -> f[7,8]\n"
         "p = aten::linear(input=r, weight=w8, bias=none) -> f[7,6]\n",
         "7x8"},
        {"the same table", "r = aten::cat(tensors=[a, a], dim=-1) -> f[7,16]\n" + product, "7x16"},
        {"rows below each other",
         "r = aten::cat(tensors=[a, b], dim=0) -> f[14,8]\n"
         "s = aten::linear(input=r, weight=w8, bias=none) -> f[14,6]\n"
         "p = aten::slice.Tensor(self=s, dim=0, start=0, end=7, step=1) -> f[7,6]\n",
         "14x8"},
        {"a table that is widened",
         "r = aten::cat(tensors=[a, ad], dim=-1) -> d[7,16]\n"
         "p = aten::linear(input=r, weight=wd, bias=none) -> d[7,6]\n",
         "7x16"},
        {"columns that see each other",
         "s = aten::cat(tensors=[a, b], dim=-1) -> f[7,16]\n"
         "r = aten::softmax.int(self=s, dim=-1, dtype=none) -> f[7,16]\n" +
             product,
         "7x16"},
        {"some columns of both",
         "s = aten::cat(tensors=[a, b, c], dim=-1) -> f[7,24]\n"
         "r = aten::slice.Tensor(self=s, dim=1, start=4, end=20, step=1) -> f[7,16]\n" +
             product,
         "7x16"},
    };
    for (const Case& one : cases) {
        CAPTURE(one.what);
        const analysis::Analysis a = analysed(one.lines);
        CHECK(test::productsOf(a) == one.products);
        CHECK(a.reassociations.empty());
    }
}

TEST_CASE("a part that becomes a product of its own moves before the sum that it follows")
{
    const analysis::Analysis a = analysed(R"(
m = aten::index_select(self=b, dim=0, index=src) -> f[19,8]
n = scalar::size(self=a, dim=0) -> n7
zero = aten::new_zeros(self=m, size=[n, 8], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,8]
s = aten::index_add(self=zero, dim=0, index=dst, source=m, alpha=1) -> f[7,8]
r = aten::cat(tensors=[a, s], dim=-1) -> f[7,16]
)" + product);
    CHECK(test::productsOf(a) == "7x8 7x8");
    REQUIRE(a.reassociations.size() == 2);
    CHECK(a.reassociations[0].before == analysis::MovedBefore::Columns);
    CHECK(a.reassociations[1].before == analysis::MovedBefore::Sum);
    for (const ir::Op& op : a.program.ops)
        if (op.name == "aten::index_add") CHECK(a.program.value(op.outputs[0]).shape.back() == 6);
}
