#include <doctest/doctest.h>

#include "analysis/code_roles.h"
#include "support/program_text.h"

using namespace hopscope;

namespace {

// The roles that the code asks for: "w=edge:e".
std::string asked(const std::string& text, const std::string& given = {})
{
    test::DrawnProgram drawn = test::drawProgram(text);
    if (!given.empty()) drawn.schema.roles.at(given).overridden = true;
    std::string roles;
    for (const auto& [key, role] : analysis::rolesByCode(drawn.program, drawn.schema))
        roles += (roles.empty() ? "" : " ") + key + "=" + analysis::roleText(role);
    return roles;
}

const std::string gated = R"(
x = node f[7,4]
w = node f[7,4]
e = index i[2,7]
s = aten::select(self=e, dim=0, index=0) -> i[7]
t = aten::select(self=e, dim=0, index=1) -> i[7]
m = aten::index(self=x, indices=[s]) -> f[7,4]
g = aten::mul(self=m, other=w) -> f[7,4]
z = aten::zeros_like(self=x) -> f[7,4]
y = aten::index_add(self=z, dim=0, index=t, source=g) -> f[7,4]
out = y
)";

}  // namespace

TEST_CASE("values computed with gathered rows have a row for each edge") { CHECK(asked(gated) == "w=edge:e"); }

TEST_CASE("edges may be taken apart at once")
{
    CHECK(asked(R"(
x = node f[7,4]
w = edge f[7,4]
e = index i[2,7]
s, t = aten::unbind(self=e, dim=0) -> i[7], i[7] list
m = aten::index(self=x, indices=[s]) -> f[7,4]
z = aten::zeros_like(self=x) -> f[7,4]
y = aten::index_add(self=z, dim=0, index=t, source=m) -> f[7,4]
g = aten::mul(self=y, other=w) -> f[7,4]
out = g
)") == "w=node:v");
}

TEST_CASE("a role that the user gave stays") { CHECK(asked(gated, "w").empty()); }

TEST_CASE("a role that the user gave to sources stays if the form of their offsets changes")
{
    test::DrawnProgram drawn = test::drawProgram(R"(
x = node f[7,4]
p = index i[8]
s = index i[9]
m = aten::index(self=x, indices=[s]) -> f[9,4]
y = aten::segment_reduce(data=m, reduce='sum', lengths=none, indices=none, offsets=p, axis=0) -> f[7,4]
out = y
)");
    analysis::InputRole& offsets = drawn.schema.roles.at("p");
    analysis::InputRole& sources = drawn.schema.roles.at("s");
    offsets.form = analysis::EdgeForm::Starts;
    sources.form = analysis::EdgeForm::Source;
    sources.relation = offsets.relation;
    for (const bool given : {false, true}) {
        sources.overridden = given;
        const analysis::Overrides roles = analysis::rolesByCode(drawn.program, drawn.schema);
        CHECK(roles.contains("p"));
        CHECK(roles.contains("s") != given);
    }
}

TEST_CASE("roles that the schema has already are not repeated")
{
    CHECK(asked(R"(
x = node f[7,4]
e = index i[2,9]
s = aten::select(self=e, dim=0, index=0) -> i[9]
t = aten::select(self=e, dim=0, index=1) -> i[9]
m = aten::index_select(self=x, dim=0, index=s) -> f[9,4]
y = aten::index_add(self=x, dim=0, index=t, source=m) -> f[7,4]
out = y
)")
              .empty());
}

TEST_CASE("a table has the type of the end that gathers it, whatever sizes say")
{
    CHECK(asked(R"(
a = node:u f[7,4]
b = node:v f[7,4]
e = index:v>v i[2,9]
s = aten::select(self=e, dim=0, index=0) -> i[9]
t = aten::select(self=e, dim=0, index=1) -> i[9]
m = aten::index_select(self=a, dim=0, index=s) -> f[9,4]
y = aten::index_add(self=b, dim=0, index=t, source=m) -> f[7,4]
out = y
)") == "a=node:u e=index:u>v");
}

TEST_CASE("a linear layer, a view by heads and a column in between change nothing")
{
    CHECK(asked(R"(
x = node f[7,4]
w = node f[7]
e = index i[2,7]
l = weight f[6,4]
s = aten::select(self=e, dim=0, index=0) -> i[7]
h = aten::linear(self=x, weight=l, bias=none) -> f[7,6]
v = aten::view(self=h, size=[-1,2,3]) -> f[7,2,3]
m = aten::index(self=v, indices=[s]) -> f[7,2,3]
u = aten::view(self=w, size=[-1,1,1]) -> f[7,1,1]
g = aten::mul_(self=m, other=u) -> f[7,2,3] writes 0 as aten::mul
out = g
)") == "w=edge:e");
}
