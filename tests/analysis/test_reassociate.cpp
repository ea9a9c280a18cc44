// Which products are computed before an aggregation, and that nothing else of a program changes. What the moved programs
// compute is compared with forward in tests/app/engine_reassociate.py.

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "support/program_text.h"

using namespace hopscope;

namespace {

// 7 nodes, 9 edges; rows of 4 columns, weights that make 2 of them, 4, or 6.
const std::string prelude = R"(
x = node f[7,4]
other = node f[7,4]
e = index i[2,9]
ea = edge f[9,4]
ew = edge f[9]
w = weight f[2,4]
same = weight f[4,4]
wide = weight f[6,4]
wt = weight f[4,2]
bias = weight f[2]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
m = aten::index_select(self=x, dim=0, index=src) -> f[9,4]
width = scalar::size(self=m, dim=1) -> n4
zero = aten::new_zeros(self=m, size=[n, width], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,4]
column = aten::view(self=dst, size=[-1, 1]) -> i[9,1]
index = aten::expand_as(self=column, other=m) -> i[9,4]
)";

const std::string sum = "s = aten::scatter_add(self=zero, dim=0, index=index, src=m) -> f[7,4]\n";
const std::string product = "r = aten::linear(input=s, weight=w, bias=bias) -> f[7,2]\n";

analysis::Analysis analysed(const std::string& lines, bool reassociate = true)
{
    const auto drawn = test::drawProgram(prelude + lines + (lines.find("out = ") < lines.size() ? "" : "out = r\n"));
    return analysis::analyse(drawn.program, drawn.schema, {.reassociate = reassociate});
}

// The columns of what aggregations add up.
std::vector<std::int64_t> aggregatedColumns(const analysis::Analysis& a)
{
    std::vector<std::int64_t> columns;
    for (const ir::Op& op : a.program.ops)
        if (a.info(op.id).kind == analysis::OpKind::Aggregate && !a.info(op.id).structureOnly)
            columns.push_back(a.program.value(op.outputs[0]).shape.back());
    return columns;
}

// Names of the operators that compute with rows of features, in order.
std::string computing(const analysis::Analysis& a)
{
    std::string text;
    for (const ir::Op& op : a.program.ops)
        if (!a.info(op.id).structureOnly && !ir::isScalarOp(op)) text += (text.empty() ? "" : " ") + op.name.substr(6);
    return text;
}

struct Case {
    const char* what;
    std::string lines;
};

}  // namespace

TEST_CASE("a product that makes rows narrower is computed before the sum, and the bias is added after it")
{
    const analysis::Analysis a = analysed(sum + product);
    REQUIRE(!a.refusal);
    CHECK(computing(a) == "linear index_select scatter_add add");
    CHECK(aggregatedColumns(a) == std::vector<std::int64_t>{2});
    REQUIRE(a.reassociations.size() == 1);
    CHECK(a.reassociations[0].in == 4);
    CHECK(a.reassociations[0].out == 2);
    CHECK(a.reassociations[0].place.find("aten::linear") != std::string::npos);
    const auto tells = [](const analysis::Lint& lint) { return lint.code == "reassociated"; };
    CHECK(std::ranges::count_if(a.lints, tells) == 1);
    // Nothing asks for the width of wide messages any more.
    const auto isWide = [](const ir::Value& v) {
        return v.origin == ir::Origin::Op && v.shape == std::vector<std::int64_t>{9, 4};
    };
    CHECK(std::ranges::none_of(a.program.values, isWide));
}

TEST_CASE("without the option nothing is moved and nothing is said")
{
    const analysis::Analysis a = analysed(sum + product, false);
    REQUIRE(!a.refusal);
    CHECK(computing(a) == "index_select scatter_add linear");
    CHECK(a.reassociations.empty());
    CHECK(std::ranges::none_of(a.lints, [](const analysis::Lint& lint) { return lint.code == "reassociated"; }));
}

TEST_CASE("sums, means, weights of edges and all that is linear between are passed")
{
    const std::string counted =
        R"(one = aten::new_ones(self=m, size=[9], dtype=none, layout=none, device=none, pin_memory=none) -> f[9]
none0 = aten::new_zeros(self=m, size=[n], dtype=none, layout=none, device=none, pin_memory=none) -> f[7]
count = aten::scatter_add(self=none0, dim=0, index=dst, src=one) -> f[7]
least = aten::clamp(self=count, min=1, max=none) -> f[7]
col = aten::view(self=least, size=[-1, 1]) -> f[7,1]
)";
    const std::string weighted = "c = aten::view(self=ew, size=[-1, 1]) -> f[9,1]\n";
    const std::string add = "s = aten::index_add(self=zero, dim=0, index=dst, source=k, alpha=1) -> f[7,4]\n";
    const Case cases[] = {
        {"mean", counted +
                     "t = aten::scatter_add(self=zero, dim=0, index=index, src=m) -> f[7,4]\n"
                     "d = aten::expand_as(self=col, other=t) -> f[7,4]\n"
                     "s = aten::div.Tensor(self=t, other=d) -> f[7,4]\n" +
                     product},
        {"mean of a column", counted +
                                 "t = aten::scatter_add(self=zero, dim=0, index=index, src=m) -> f[7,4]\n"
                                 "s = aten::div.Tensor(self=t, other=col) -> f[7,4]\n" +
                                 product},
        {"weights", weighted + "k = aten::mul.Tensor(self=c, other=m) -> f[9,4]\n" + add + product},
        {"weights behind", weighted + "k = aten::mul.Tensor(self=m, other=c) -> f[9,4]\n" + add + product},
        {"a number", "k = aten::mul.Scalar(self=m, other=0.5) -> f[9,4]\n" + add + product},
        {"scatter_reduce", "s = aten::scatter_reduce.two(self=zero, dim=0, index=index, src=m, reduce='mean', "
                           "include_self=false) -> f[7,4]\n" +
                               product},
        {"what is added to a node's own row", "t = aten::scatter_add(self=zero, dim=0, index=index, src=m) -> f[7,4]\n"
                                              "own = aten::mul.Scalar(self=x, other=2) -> f[7,4]\n"
                                              "s = aten::add.Tensor(self=t, other=own, alpha=1) -> f[7,4]\n" +
                                                  product},
        {"two hops", "t = aten::scatter_add(self=zero, dim=0, index=index, src=m) -> f[7,4]\n"
                     "k = aten::index_select(self=t, dim=-2, index=src) -> f[9,4]\n" +
                         add + product},
        {"matmul", sum + "r = aten::matmul(self=s, other=wt) -> f[7,2]\n"},
        {"addmm", sum + "tw = aten::t(self=w) -> f[4,2]\n"
                        "r = aten::addmm(self=bias, mat1=s, mat2=tw, beta=1, alpha=1) -> f[7,2]\n"},
        {"no bias", sum + "r = aten::linear(input=s, weight=w, bias=none) -> f[7,2]\n"},
        {"no-ops", sum + "k = aten::contiguous(self=s, memory_format=0) -> f[7,4]\n"
                         "r = aten::linear(input=k, weight=w, bias=bias) -> f[7,2]\n"},
        {"a start like another value",
         "z = aten::zeros_like(self=x, dtype=none, layout=none, device=none, pin_memory=none, "
         "memory_format=none) -> f[7,4]\n"
         "s = aten::index_add(self=z, dim=0, index=dst, source=m, alpha=1) -> f[7,4]\n" +
             product},
    };
    for (const Case& one : cases) {
        CAPTURE(one.what);
        const analysis::Analysis a = analysed(one.lines);
        if (a.refusal) FAIL(base::describe(*a.refusal));
        CHECK(a.reassociations.size() == 1);
        const auto columns = aggregatedColumns(a);
        CHECK(!columns.empty());
        CHECK(std::ranges::all_of(columns, [](std::int64_t n) { return n == 2; }));
        CHECK(a.program.value(a.program.outputs[0].value).shape == std::vector<std::int64_t>{7, 2});
    }
}

TEST_CASE("what is not linear, does not narrow, or is used otherwise stays as the model wrote it")
{
    const std::string from =
        R"(z = aten::new_ones(self=m, size=[n, width], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,4]
)";
    const Case cases[] = {
        {"as wide", sum + "r = aten::linear(input=s, weight=same, bias=none) -> f[7,4]\n"},
        {"wider", sum + "r = aten::linear(input=s, weight=wide, bias=none) -> f[7,6]\n"},
        {"a maximum", "s = aten::scatter_reduce.two(self=zero, dim=0, index=index, src=m, reduce='amax', "
                      "include_self=false) -> f[7,4]\n" +
                          product},
        {"a mean that counts the start",
         "s = aten::scatter_reduce.two(self=zero, dim=0, index=index, src=m, reduce='mean', "
         "include_self=true) -> f[7,4]\n" +
             product},
        {"a start of ones", from + "s = aten::scatter_add(self=z, dim=0, index=index, src=m) -> f[7,4]\n" + product},
        {"a start of features", "s = aten::scatter_add(self=other, dim=0, index=index, src=m) -> f[7,4]\n" + product},
        {"a result", sum + product + "out = s\nout = r\n"},
        {"two users", sum + product +
                          "a = aten::relu(self=s) -> f[7,4]\nb = aten::linear(input=a, weight=w, bias=bias) -> f[7,2]\n"
                          "c = aten::add.Tensor(self=r, other=b, alpha=1) -> f[7,2]\nout = c\n"},
        {"two products", sum + product +
                             "b = aten::linear(input=s, weight=w, bias=none) -> f[7,2]\n"
                             "c = aten::add.Tensor(self=r, other=b, alpha=1) -> f[7,2]\nout = c\n"},
        {"messages that something else needs", sum + product + "q = aten::relu(self=m) -> f[9,4]\nout = q\nout = r\n"},
        {"an activation between", sum + "k = aten::relu(self=s) -> f[7,4]\n"
                                        "r = aten::linear(input=k, weight=w, bias=bias) -> f[7,2]\n"},
        {"an activation of messages", "k = aten::relu(self=m) -> f[9,4]\n"
                                      "s = aten::scatter_add(self=zero, dim=0, index=index, src=k) -> f[7,4]\n" +
                                          product},
        {"a factor for each column", "k = aten::mul.Tensor(self=m, other=ea) -> f[9,4]\n"
                                     "s = aten::scatter_add(self=zero, dim=0, index=index, src=k) -> f[7,4]\n" +
                                         product},
        {"features of edges, which are more",
         "s = aten::index_add(self=zero, dim=0, index=dst, source=ea, alpha=1) -> f[7,4]\n" + product},
        {"another table beside it", "t = aten::scatter_add(self=zero, dim=0, index=index, src=m) -> f[7,4]\n"
                                    "s = aten::add.Tensor(self=t, other=other, alpha=1) -> f[7,4]\n" +
                                        product},
        {"no aggregation", "r = aten::linear(input=x, weight=w, bias=bias) -> f[7,2]\n"},
        {"a weight of the data", "f2 = aten::t(self=x) -> f[4,7]\np2 = aten::matmul(self=f2, other=x) -> f[4,4]\n"
                                 "v2 = aten::slice.Tensor(self=p2, dim=1, start=0, end=2, step=1) -> f[4,2]\n" +
                                     sum + "r = aten::matmul(self=s, other=v2) -> f[7,2]\n"},
        {"scaled sums", sum + "r = aten::addmm(self=bias, mat1=s, mat2=wt, beta=1, alpha=2) -> f[7,2]\n"},
    };
    for (const Case& one : cases) {
        CAPTURE(one.what);
        const analysis::Analysis a = analysed(one.lines), plain = analysed(one.lines, false);
        if (a.refusal) FAIL(base::describe(*a.refusal));
        CHECK(a.reassociations.empty());
        CHECK(computing(a) == computing(plain));
        CHECK(aggregatedColumns(a) == aggregatedColumns(plain));
        const auto tells = [](const analysis::Lint& lint) {
            return lint.message.starts_with("nothing to reassociate");
        };
        CHECK(std::ranges::count_if(a.lints, tells) == 1);
    }
}

TEST_CASE("only floating-point rows of one type are moved")
{
    const auto drawn = test::drawProgram(R"(
x = node d[7,4]
e = index i[2,9]
w = weight d[2,4]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
m = aten::index_select(self=x, dim=0, index=src) -> d[9,4]
zero = aten::new_zeros(self=m, size=[n, 4], dtype=none, layout=none, device=none, pin_memory=none) -> d[7,4]
s = aten::index_add(self=zero, dim=0, index=dst, source=m, alpha=1) -> d[7,4]
r = aten::linear(input=s, weight=w, bias=none) -> d[7,2]
out = r
)");
    const auto of = [&](base::DType rows, base::DType weight) {
        ir::Program program = drawn.program;
        for (ir::Value& v : program.values)
            if (v.dtype == base::DType::Float64) v.dtype = v.name == "w" ? weight : rows;
        return analysis::analyse(program, drawn.schema, {.reassociate = true}).reassociations.size();
    };
    using base::DType;
    for (const DType type : {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16})
        CHECK(of(type, type) == 1);
    for (const DType type : {DType::Int64, DType::Complex64}) CHECK(of(type, type) == 0);
    CHECK(of(DType::Float64, DType::Float32) == 0);
}
