// Reductions that are formed of the parts of several batches, against LibTorch's over all rows at once.

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "bare_session.h"
#include "executor/batch/batch.h"
#include "executor/calls/reduce.h"
#include "executor/failure.h"

using namespace hopscope;
using namespace hopscope::executor;
using analysis::Reduction;

namespace {

constexpr std::int64_t slots = 6, width = 3;

ir::Op& addOp(analysis::Analysis& a, Reduction reduction, std::vector<std::int64_t> shape)
{
    ir::Value made;
    made.id = ir::ValueId(a.program.values.size());
    made.shape = std::move(shape);
    ir::Op op;
    op.id = ir::OpId(a.program.ops.size());
    op.outputs = {made.id};
    a.program.values.push_back(std::move(made));
    a.program.ops.push_back(std::move(op));
    a.values.resize(a.program.values.size());
    a.ops.emplace_back().reduction = reduction;
    return a.program.ops.back();
}

// scatter_reduce(start, 0, index, rows).
analysis::Analysis scattering(Reduction reduction, bool includeSelf)
{
    analysis::Analysis a;
    a.program.values.resize(3);
    a.values.resize(3);
    ir::Op& op = addOp(a, reduction, {slots, width});
    op.args = {{ir::ValueId(0)}, {std::int64_t{0}}, {ir::ValueId(1)}, {ir::ValueId(2)}};
    for (const char* const name : {"self", "dim", "index", "src"}) op.argInfo.emplace_back().name = name;
    a.ops[0].includeSelf = includeSelf;
    return a;
}

at::Tensor inParts(const analysis::Analysis& a, const at::Tensor& start, const at::Tensor& index,
                   const at::Tensor& rows)
{
    const NumberEvaluator numbers(a, {});
    Caller caller(a, numbers);
    Reducer reducer(a, ir::OpId(0));
    for (std::int64_t first = 0; first < rows.size(0); first += 4) {
        const std::int64_t count = std::min<std::int64_t>(4, rows.size(0) - first);
        const at::Tensor operands[] = {start, index.narrow(0, first, count), rows.narrow(0, first, count)};
        CallContext context;
        context.operand = [&](ir::Slot, ir::ValueId v) { return operands[v.at()]; };
        reducer.replace(reducer.merged(reducer.contribute(caller, context, count)));
    }
    return reducer.finish(start, at::kCPU);
}

}  // namespace

TEST_CASE("what is scattered in parts is what is scattered at once, with the table that it begins with or without")
{
    at::manual_seed(3);
    const at::Tensor start = at::randn({slots, width}), rows = at::randn({11, width});
    const at::Tensor index = at::randint(slots - 1, {11, width}, at::kLong);  // nothing meets the last slot
    for (const auto& [reduction, name] : {std::pair(Reduction::ScatterMean, "mean"),
                                          {Reduction::ScatterMax, "amax"},
                                          {Reduction::ScatterMin, "amin"},
                                          {Reduction::ScatterSum, "sum"}})
        for (const bool includeSelf : {true, false}) {
            if (reduction == Reduction::ScatterSum && !includeSelf) continue;
            CAPTURE(std::string(name));
            CAPTURE(includeSelf);
            const at::Tensor found = inParts(scattering(reduction, includeSelf), start, index, rows);
            CHECK(at::allclose(found, start.scatter_reduce(0, index, rows, name, includeSelf)));
        }
}

TEST_CASE("of no rows, a sum and a norm are zero, a mean and a variance not numbers, and there is no maximum")
{
    const at::Tensor none = at::empty({0, width});
    for (const auto& [reduction, expected] : {std::pair(Reduction::Sum, none.sum(0)),
                                              {Reduction::Norm2, none.norm(2, {0}, false)},
                                              {Reduction::Mean, none.mean(0)},
                                              {Reduction::Var, none.var(0)},
                                              {Reduction::Std, none.std(0)}}) {
        analysis::Analysis a;
        addOp(a, reduction, {width});
        CHECK(at::allclose(Reducer(a, ir::OpId(0)).finish({}, at::kCPU), expected, 0, 0, /*equal_nan=*/true));
    }
    analysis::Analysis a;
    addOp(a, Reduction::Max, {width});
    CHECK_THROWS_AS((void)Reducer(a, ir::OpId(0)).finish({}, at::kCPU), Failure);
}

TEST_CASE("a batch that cannot be merged into one of its reductions changes none of them")
{
    analysis::Analysis a;
    for (int i = 0; i < 2; ++i) addOp(a, Reduction::Sum, {width});
    tests::BareSession bare(a);
    const auto contribution = [](std::int64_t columns) {
        return Contribution{.value = at::ones({columns}, at::kDouble), .spread = {}, .count = 1, .empty = false};
    };
    const ir::OpId first(0), second(1);
    for (const ir::OpId op : {first, second}) bare.session.reducer(op).replace(contribution(width));
    CHECK_THROWS_AS(mergeTotals(bare.session, {{first, contribution(width)}, {second, contribution(width + 1)}}),
                    c10::Error);
    for (const ir::OpId op : {first, second}) CHECK(bare.session.reducer(op).total().count == 1);
    mergeTotals(bare.session, {{first, contribution(width)}, {second, contribution(width)}});
    for (const ir::OpId op : {first, second}) CHECK(bare.session.reducer(op).total().count == 2);
}
