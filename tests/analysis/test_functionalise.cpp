#include <doctest/doctest.h>

#include "analysis/lowering/functionalise.h"
#include "support/program_text.h"

using namespace hopscope;

namespace {

std::string names(const ir::Program& p)
{
    std::string text;
    for (const ir::Op& op : p.ops) text += (text.empty() ? "" : " ") + op.name.substr(op.name.find("::") + 2);
    return text;
}

ir::Program functional(const std::string& text)
{
    const auto drawn = test::drawProgram(text);
    auto p = analysis::functionalise(drawn.program);
    REQUIRE_MESSAGE(p.has_value(), (p ? "" : base::describe(p.error())));
    return *p;
}

}  // namespace

TEST_CASE("an in-place operator becomes its functional twin and later readers see the result")
{
    const ir::Program p = functional(R"(
x = node f[7,4]
y = aten::relu_(self=x) -> f[7,4] writes 0 as aten::relu
z = aten::exp(self=x) -> f[7,4]
out = z
)");
    CHECK(names(p) == "relu exp");
    CHECK(*p.ops[1].args[0].value() == p.ops[0].outputs[0]);
}

TEST_CASE("a write through a view reaches its base")
{
    const ir::Program p = functional(R"(
x = node f[7,4]
c = aten::clone(self=x, memory_format=none) -> f[7,4]
s = aten::select(self=c, dim=1, index=0) -> f[7]
w = aten::mul_(self=s, other=2) -> f[7] writes 0 as aten::mul
out = c, x
)");
    CHECK(names(p) == "select mul select_scatter");
    CHECK(p.outputs[0].value == p.ops[2].outputs[0]);
    CHECK(p.value(p.outputs[1].value).origin == ir::Origin::Input);  // the clone was written, not the input
}

TEST_CASE("a write through moved dimensions moves them back")
{
    const ir::Program p = functional(R"(
x = node f[7,4,2,3]
c = aten::clone(self=x, memory_format=none) -> f[7,4,2,3]
m = aten::movedim.int(self=c, source=1, destination=3) -> f[7,2,3,4]
w = aten::mul_(self=m, other=2) -> f[7,2,3,4] writes 0 as aten::mul
out = c
)");
    CHECK(names(p) == "movedim mul permute");
    CHECK(p.value(p.outputs[0].value).shape == std::vector<std::int64_t>{7, 4, 2, 3});
}

TEST_CASE("a view made before a write to its base is replayed on its next use")
{
    const ir::Program p = functional(R"(
x = node f[7,4]
c = aten::clone(self=x, memory_format=none) -> f[7,4]
t = aten::t(self=c) -> f[4,7]
w = aten::exp_(self=c) -> f[7,4] writes 0 as aten::exp
r = aten::relu(self=t) -> f[4,7]
out = r
)");
    CHECK(names(p) == "t exp t relu");
    CHECK(*p.ops[2].args[0].value() == p.ops[1].outputs[0]);
}

TEST_CASE("writes through views of views go all the way up")
{
    const ir::Program p = functional(R"(
x = node f[7,4]
c = aten::clone(self=x, memory_format=none) -> f[7,4]
a = aten::slice(self=c, dim=1, start=0, end=2, step=1) -> f[7,2]
b = aten::select(self=a, dim=1, index=1) -> f[7]
w = aten::exp_(self=b) -> f[7] writes 0 as aten::exp
out = c
)");
    CHECK(names(p) == "slice select exp select_scatter slice_scatter");
    CHECK(p.outputs[0].value == p.ops.back().outputs[0]);
}

TEST_CASE("evaluation-mode dropout, detach and casts to the same type vanish")
{
    const ir::Program p = functional(R"(
x = node f[7,4]
a = aten::dropout(input=x, p=0.5, train=false) -> f[7,4]
b = aten::detach(self=a) -> f[7,4]
c = aten::to.dtype(self=b, dtype=6, non_blocking=false, copy=false, memory_format=none) -> f[7,4]
out = c
)");
    CHECK(p.ops.empty());
    CHECK(p.outputs[0].value == p.inputs[0].value);
}

TEST_CASE("a write through expand is refused")
{
    const auto drawn = test::drawProgram(R"(
x = node f[7,1]
v = aten::expand(self=x, size=[7, 4], implicit=false) -> f[7,4]
w = aten::exp_(self=v) -> f[7,4] writes 0 as aten::exp
out = x
)");
    const auto p = analysis::functionalise(drawn.program);
    REQUIRE(!p);
    CHECK(p.error().message.find("expand") != std::string::npos);
}

TEST_CASE("truth values written in place keep the dtype of what they are written to")
{
    const ir::Program p = functional(R"(
x = node f[7,4]
c = aten::clone(self=x, memory_format=none) -> f[7,4]
w = aten::gt_(self=c, other=0) -> f[7,4] writes 0 as aten::gt
out = c
)");
    CHECK(names(p) == "gt to");
    CHECK(p.value(p.outputs[0].value).dtype == base::DType::Float32);
}

TEST_CASE("a write through a view of another dtype is refused")
{
    const auto drawn = test::drawProgram(R"(
x = node f[7,4]
v = aten::view.dtype(self=x, dtype=3) -> i[7,4]
w = aten::bitwise_not_(self=v) -> i[7,4] writes 0 as aten::bitwise_not
out = x
)");
    CHECK_FALSE(analysis::functionalise(drawn.program));
}

namespace {

// What the walk would have seen of `y = x.contiguous()`; the second value is y.
test::DrawnProgram maybeCopied(const std::string& written, const std::string& out, bool shares, bool varies)
{
    auto drawn = test::drawProgram("x = node f[7,4]\ny = aten::contiguous(self=x, memory_format=none) -> f[7,4]\n"
                                   "w = aten::exp_(self=" +
                                   written + ") -> f[7,4] writes 0 as aten::exp\nout = " + out + "\n");
    drawn.program.values[0].memory = 0;
    drawn.program.values[1].memory = shares ? 0 : 1;
    drawn.program.values[2].memory = written == "x" ? 0 : drawn.program.values[1].memory;
    drawn.program.ops[0].sharingVaries = varies;
    return drawn;
}

}  // namespace

TEST_CASE("what is a view or a copy is what the walk saw")
{
    const auto view = analysis::functionalise(maybeCopied("y", "x", true, false).program);
    REQUIRE(view);
    CHECK(view->value(view->outputs[0].value).origin == ir::Origin::Op);
    const auto copy = analysis::functionalise(maybeCopied("y", "x", false, false).program);
    REQUIRE(copy);
    CHECK(copy->value(copy->outputs[0].value).origin == ir::Origin::Input);
}

TEST_CASE("a write is refused if the other side is read after it and shares memory on some graphs only")
{
    for (const bool shares : {false, true}) {
        for (const auto& [written, read] : {std::pair("x", "y"), std::pair("y", "x")}) {
            const auto p = analysis::functionalise(maybeCopied(written, read, shares, true).program);
            REQUIRE_FALSE(p);
            CHECK(p.error().message.find("view on some graphs and a copy on others") != std::string::npos);
            CHECK(p.error().hint.find("clone()") != std::string::npos);
            CHECK(analysis::functionalise(maybeCopied(written, written, shares, true).program));
        }
    }
}

TEST_CASE("a write to a weight is refused if another weight in the same memory is read later")
{
    auto drawn = test::drawProgram(R"(
a = weight f[4]
b = weight f[4]
w = aten::exp_(self=a) -> f[4] writes 0 as aten::exp
y = aten::mul(self=w, other=b) -> f[4]
out = y
)");
    for (ir::Value& v : drawn.program.values) v.memory = v.id.index;
    CHECK(analysis::functionalise(drawn.program));
    drawn.program.values[1].memory = 0;
    CHECK_FALSE(analysis::functionalise(drawn.program));
}

TEST_CASE("a write to the entries of a sparse matrix is refused if the matrix is read later")
{
    const auto drawn = test::drawProgram(R"(
e = index i[2,9]
w = edge f[9]
m = aten::sparse_coo_tensor.indices_size(indices=e, values=w, size=[7, 7]) -> f[7,7]
z = aten::exp_(self=w) -> f[9] writes 0 as aten::exp
y = aten::sum(self=m) -> f[]
out = y
)");
    CHECK_FALSE(analysis::functionalise(drawn.program));
}
