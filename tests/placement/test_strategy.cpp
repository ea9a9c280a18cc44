#include "placement/judge.h"

using namespace hopscope;
using test::Analysed;
using test::flaw;
using test::storedBy;
using test::twoLayers;

TEST_CASE("two convolutions run in two stages and the first one is kept between them")
{
    const Analysed p(twoLayers + "out = h2\n");
    CHECK(p.a.depth == 2);
    const auto plan = placement::makePlan(p.a, base::Strategy::Depth);
    REQUIRE(plan.has_value());
    CHECK(plan->stages.size() == 2);
    CHECK(storedBy(*plan) == std::set{p.value("linear", 1), p.value("index_add", 1)});
    CHECK(flaw(p.a, *plan) == "");
}

TEST_CASE("the three-step rule pulls the cut towards the parents up to the message passing")
{
    const Analysed p(twoLayers + "out = h2\n");
    const auto plan = placement::makePlan(p.a, base::Strategy::SourceRule);
    REQUIRE(plan.has_value());
    CHECK(plan->stages.size() == 2);
    CHECK(flaw(p.a, *plan) == "");
    CHECK(storedBy(*plan).size() == 2);
}

namespace {

// twoLayers, whose second layer and another result are computed from `seen`.
std::string withSeen(const std::string& seen)
{
    std::string text = twoLayers;
    const std::size_t second = text.find("lin2 = ");
    text.replace(text.find("input=r1", second), 8, "input=seen");
    return text.insert(second, seen) + "early = aten::tanh(self=seen) -> f[7,6]\nout = h2, early\n";
}

}  // namespace

TEST_CASE("the three-step rule pulls no cut past what an earlier round needs as well")
{
    const Analysed p(withSeen("seen = aten::relu(self=r1) -> f[7,6]\n"));
    const auto plan = placement::makePlan(p.a, base::Strategy::SourceRule);
    REQUIRE(plan.has_value());
    CHECK(storedBy(*plan) == std::set{p.value("relu", 1), p.value("index_add", 1), p.value("tanh")});
    CHECK(flaw(p.a, *plan) == "");
}

TEST_CASE("rules store no views, but what these are views of")
{
    const Analysed p(withSeen("seen = aten::view(self=r1, size=[-1, 6]) -> f[7,6]\n"));
    for (const auto rule : base::rules) {
        CAPTURE(base::nameOf(rule));
        const auto plan = placement::makePlan(p.a, rule);
        REQUIRE(plan.has_value());
        CHECK_FALSE(storedBy(*plan).contains(p.value("view")));
        CHECK(flaw(p.a, *plan) == "");
    }
}

TEST_CASE("every set of stored values is a sound plan or is refused with a value's name")
{
    const Analysed p(twoLayers + "s = aten::add.Tensor(self=h2, other=lin2, alpha=1) -> f[7,3]\nout = s\n");
    const std::vector<ir::ValueId> values = p.rowValues();
    REQUIRE(values.size() <= 12);
    int legal = 0, refused = 0;
    for (unsigned bits = 0; bits < (1u << values.size()); ++bits) {
        std::set<ir::ValueId> stored;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (bits & (1u << i)) stored.insert(values[i]);
        CAPTURE(bits);
        const auto plan = placement::evaluate(p.a, stored);
        if (!plan) {
            ++refused;
            CHECK(plan.error().code == base::ErrorCode::Unsupported);
            CHECK(plan.error().message.find(" v") != std::string::npos);
            continue;
        }
        ++legal;
        CHECK(flaw(p.a, *plan) == "");
    }
    CHECK(legal > 0);
    CHECK(refused > 0);  // nothing stored between the two hops
}

TEST_CASE("a plan that stores nothing between two hops names what is missing")
{
    const Analysed p(twoLayers + "out = h2\n");
    const auto plan = placement::evaluate(p.a, {});
    REQUIRE(!plan);
    CHECK(plan.error().message.find("aten::index_add") != std::string::npos);
    CHECK(plan.error().hint.find("store '") != std::string::npos);
}

TEST_CASE("rules store rows of nodes, not the messages that are made of them")
{
    // On the edges of its sources a message is complete one stage before it is wanted on those of the destinations.
    const std::string weighted = R"(
x = node f[7,4]
e = index i[2,9]
c = edge f[9,1]
w2 = weight f[3,4]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
g1 = aten::index_select(self=x, dim=0, index=src) -> f[9,4]
m1 = aten::mul.Tensor(self=g1, other=c) -> f[9,4]
z1 = aten::new_zeros(self=x, size=[n, 4], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,4]
h1 = aten::index_add(self=z1, dim=0, index=dst, source=m1, alpha=1) -> f[7,4]
lin2 = aten::linear(input=h1, weight=w2, bias=none) -> f[7,3]
g2 = aten::index_select(self=lin2, dim=0, index=src) -> f[9,3]
m2 = aten::mul.Tensor(self=g2, other=c) -> f[9,3]
r2 = aten::relu(self=m2) -> f[9,3]
z2 = aten::new_zeros(self=lin2, size=[n, 3], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,3]
h2 = aten::index_add(self=z2, dim=0, index=dst, source=r2, alpha=1) -> f[7,3]
out = h2
)";
    const Analysed p(weighted);
    for (const auto rule : base::rules) {
        CAPTURE(base::nameOf(rule));
        const auto plan = placement::makePlan(p.a, rule);
        REQUIRE(plan.has_value());
        CHECK(plan->stages.size() == 2);
        for (const ir::ValueId v : storedBy(*plan))
            CHECK(p.a.tables.space(p.a.rowSpace(v)).kind == analysis::SpaceKind::Node);
        CHECK(flaw(p.a, *plan) == "");
    }
}

TEST_CASE("what follows from inputs alone is recomputed, not stored")
{
    const Analysed p(twoLayers + "lin3 = aten::linear(input=x, weight=w1, bias=none) -> f[7,6]\n"
                                 "s = aten::sum.dim_IntList(self=lin3, dim=[1], keepdim=true, dtype=none) -> f[7,1]\n"
                                 "o = aten::add.Tensor(self=h2, other=s, alpha=1) -> f[7,3]\nout = o\n");
    const auto plan = placement::makePlan(p.a, base::Strategy::Depth);
    REQUIRE(plan.has_value());
    CHECK(!storedBy(*plan).contains(p.value("sum")));
    CHECK(!storedBy(*plan).contains(p.value("linear", 0)));
    CHECK(flaw(p.a, *plan) == "");
}

TEST_CASE("a reduction over all rows takes one more stage, not more depth")
{
    const Analysed p(twoLayers + "mean = aten::mean.dim(self=h2, dim=[0], keepdim=true, dtype=none) -> f[1,3]\n"
                                 "o = aten::sub.Tensor(self=h2, other=mean, alpha=1) -> f[7,3]\nout = o\n");
    const auto plan = placement::makePlan(p.a, base::Strategy::Depth);
    REQUIRE(plan.has_value());
    CHECK(p.a.depth == 2);
    CHECK(plan->stages.size() == 3);
    CHECK(plan->stages[1].loops[0].reductions.size() == 1);
    CHECK(flaw(p.a, *plan) == "");
}

TEST_CASE("strategies have names and unknown ones are a usage error")
{
    for (const auto s : base::rules) CHECK(base::parseName<base::Strategy>(base::nameOf(s), "strategy") == s);
    CHECK(base::parseName<base::Strategy>("fastest", "strategy").error().code == base::ErrorCode::Usage);
}
