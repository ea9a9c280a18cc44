#include <doctest/doctest.h>

#include "analysis/functionalise.h"
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
