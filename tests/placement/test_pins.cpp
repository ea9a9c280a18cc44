#include "analysis/naming/value_names.h"
#include "placement/judge.h"

#include "placement/pins.h"

using namespace hopscope;
using base::Strategy;
using plan::Pin;
using plan::PinKind;
using test::Analysed;
using test::flaw;
using test::storedBy;
using test::twoLayers;

namespace {

Pin store(ir::ValueId v) { return {PinKind::Checkpoint, v}; }
Pin never(ir::ValueId v) { return {PinKind::NoCheckpoint, v}; }

// The stages that compute a value's operator.
std::vector<int> stagesOf(const analysis::Analysis& a, const plan::Plan& plan, ir::ValueId v)
{
    std::vector<int> stages;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            if (std::ranges::any_of(loop.steps, [&](const auto& s) { return s.op == a.program.value(v).producer; }))
                stages.push_back(stage.index.number);
    return stages;
}

bool readLater(const plan::Plan& plan, ir::ValueId v)
{
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            if (std::ranges::find(loop.reads, v, &plan::Access::value) != loop.reads.end()) return true;
    return false;
}

void refused(const Analysed& p, const std::vector<Pin>& pins, const std::string& words)
{
    const auto plan = placement::makePlan(p.a, Strategy::Depth, pins);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == base::ErrorCode::Unsupported);
    INFO(base::describe(plan.error()));
    CHECK(base::describe(plan.error()).find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("without pins a plan is the strategy's")
{
    const Analysed p(twoLayers + "out = h2\n");
    for (const Strategy s : base::rules)
        CHECK(placement::makePlan(p.a, s, {}).value() == placement::makePlan(p.a, s).value());
}

TEST_CASE("a pinned store moves the cut there and the store it replaces disappears")
{
    const Analysed p(twoLayers + "out = h2\n");
    const ir::ValueId relu = p.value("relu"), linear = p.value("linear", 1);
    const auto plan = placement::makePlan(p.a, Strategy::Depth, {store(relu)});
    REQUIRE(plan);
    CHECK(storedBy(*plan) == std::set{relu, p.value("index_add", 1)});
    CHECK(stagesOf(p.a, *plan, linear) == std::vector{2});
    CHECK(plan->stages.size() == 2);
    CHECK(plan->strategy == base::Strategy::Depth);
    CHECK(plan->pins == std::vector{store(relu)});
    CHECK(flaw(p.a, *plan) == "");
}

TEST_CASE("a pin where no later stage would read makes one more stage")
{
    const Analysed p(twoLayers + "out = h2\n");
    const ir::ValueId first = p.value("linear", 0);
    const auto plan = placement::makePlan(p.a, Strategy::Depth, {store(first)});
    REQUIRE(plan);
    CHECK(plan->stages.size() == 3);
    CHECK(stagesOf(p.a, *plan, first) == std::vector{1});
    CHECK(readLater(*plan, first));
    CHECK(flaw(p.a, *plan) == "");
}

TEST_CASE("dragging a store to the value before it is two pins")
{
    const Analysed p(twoLayers + "out = h2\n");
    const ir::ValueId h1 = p.value("index_add", 0);
    const auto plan = placement::makePlan(p.a, Strategy::Depth, {never(p.value("linear", 1)), store(h1)});
    REQUIRE(plan);
    CHECK(storedBy(*plan) == std::set{h1, p.value("index_add", 1)});
    CHECK(flaw(p.a, *plan) == "");
}

TEST_CASE("the last pin on a value counts")
{
    const Analysed p(twoLayers + "out = h2\n");
    const ir::ValueId relu = p.value("relu");
    const auto plan = placement::makePlan(p.a, Strategy::Depth, {store(relu), never(relu)});
    REQUIRE(plan);
    CHECK(storedBy(*plan) == storedBy(placement::makePlan(p.a, Strategy::Depth).value()));
}

TEST_CASE("of pins that answer one question the last one is kept, of others all, in their order")
{
    const Analysed p(twoLayers + "out = h2\n");
    const ir::ValueId relu = p.value("relu"), linear = p.value("linear", 1), last = p.value("index_add", 1);
    const Pin cut{PinKind::Cut, relu, linear}, once{PinKind::NoRecompute, relu};
    const Pin early{PinKind::HopStage, last, {}, plan::StageId(1)}, late{PinKind::HopStage, last, {}, plan::StageId(2)};
    CHECK(placement::settled({store(relu), early, cut, never(relu), once, late, store(linear), cut}) ==
          std::vector{never(relu), once, late, store(linear), cut});
    CHECK(placement::settled({never(relu), store(relu)}) == std::vector{store(relu)});
}

TEST_CASE("each value, alone and in pairs, makes a sound plan that stores and reads it, or is refused in words")
{
    const Analysed p(twoLayers + "s = aten::add.Tensor(self=h2, other=lin2, alpha=1) -> f[7,3]\nout = s\n");
    int made = 0;
    for (const ir::ValueId one : p.rowValues())
        for (const ir::ValueId two : p.rowValues())
            for (const Strategy strategy : base::rules) {
                const auto plan = placement::makePlan(p.a, strategy, {store(one), store(two)});
                CAPTURE(one.index);
                CAPTURE(two.index);
                REQUIRE_MESSAGE(plan, (plan ? "" : base::describe(plan.error())));
                CHECK(flaw(p.a, *plan) == "");
                for (const ir::ValueId v : {one, two}) {
                    CHECK(storedBy(*plan).contains(v));
                    CHECK((readLater(*plan, v) || v == p.a.program.outputs[0].value));
                }
                ++made;
            }
    CHECK(made > 50);
}

TEST_CASE("what cannot be pinned is refused with the reason and the place")
{
    const Analysed p(twoLayers + "mean = aten::mean.dim(self=h2, dim=[0], keepdim=true, dtype=none) -> f[1,3]\n"
                                 "o = aten::sub.Tensor(self=h2, other=mean, alpha=1) -> f[7,3]\nout = o\n");
    refused(p, {store(p.a.program.inputs[0].value)}, "it is the input 'x'");
    refused(p, {store(p.value("mean"))}, "it has no rows");
    refused(p, {store(p.value("new_zeros"))}, "it depends on the graph structure only");
    refused(p, {never(p.value("sub"))}, "it is the output 'out'");
    refused(p, {never(p.value("sub"))}, "aten::sub");
}

TEST_CASE("pins that leave no legal plan are refused with the conflicting ones")
{
    const Analysed p(twoLayers + "out = h2\n");
    const ir::ValueId relu = p.value("relu"), linear = p.value("linear", 1);
    const auto plan = placement::makePlan(p.a, Strategy::Depth, {never(relu), never(linear)});
    REQUIRE_FALSE(plan);
    const std::string message = plan.error().message;
    INFO(message);
    CHECK(message.find("never store '" + analysis::nameOfValue(p.a, linear) + "'") != std::string::npos);
    CHECK(message.find("never store '" + analysis::nameOfValue(p.a, relu) + "'") == std::string::npos);
    CHECK(message.find("can neither be computed nor read") != std::string::npos);
}
