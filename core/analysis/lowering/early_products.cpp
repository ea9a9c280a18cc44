#include "analysis/lowering/early_products.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analysis/lowering/dead_code.h"
#include "analysis/lowering/match.h"
#include "analysis/lowering/product_parts.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::Value;
using ir::ValueId;
using operators::Rule;

// Multiplications that take as long as reading one number of a gathered row.
constexpr std::int64_t productsPerRead = 32;

class EarlyProducts : ProductParts {
public:
    EarlyProducts(const ir::Program& program, const RowCounts& rows, std::vector<Reassociation>& moved)
        : ProductParts(program),
          m_rows(rows),
          m_moved(moved)
    {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops)
            if (!multiply(op) && !join(op)) {
                append(op, op.outputs);
                note(op);
            }
        return std::move(m_new);
    }

private:
    // ---- sums as operators

    // Appends operators whose result is that of `op`. No summand is negative, and the first one is gathered.
    void become(const Op& op, const std::vector<Summand>& summands)
    {
        const ValueId out = op.outputs[0];
        m_sums[out] = {.columns = {{.width = shape(out).back(), .summands = summands, .whole = out}},
                       .multiplied = true};
        if (summands.size() == 1) {
            gathered(summands[0], out);
            return;
        }
        ValueId sum = rowsOf(summands[0]);
        for (std::size_t i = 1; i + 1 < summands.size(); ++i)
            sum = add(op, "add.Tensor", {Arg{sum}, Arg{rowsOf(summands[i])}, one()}, m_old.value(out));
        const ValueId last = rowsOf(summands.back());
        append(syntheticOp("add.Tensor", {Arg{sum}, Arg{last}, one()}, op), {out});
    }

    // ---- products

    [[nodiscard]] std::int64_t rowsInData(std::int64_t inSample) const
    {
        const auto found = m_rows.find(inSample);
        return found == m_rows.end() ? -1 : found->second;
    }

    [[nodiscard]] bool hasFewerRows(const Summand& summand) const
    {
        if (!summand.gather) return false;
        const std::int64_t table = shape(summand.table)[static_cast<std::size_t>(summand.gather->dim)];
        const std::int64_t gathered = shape(summand.gather->index)[0];
        const std::int64_t inTable = rowsInData(table), all = rowsInData(gathered);
        return inTable < 0 || all < 0 ? table < gathered : inTable < all;
    }

    [[nodiscard]] bool moves(const SummedColumns& columns) const override
    {
        return std::ranges::all_of(columns.summands, [&](const Summand& summand) { return hasFewerRows(summand); });
    }

    // The parts that are multiplied before a gather: their columns, and the columns of the rows that they gather.
    struct Moved {
        std::int64_t columns = 0, reads = 0;
        std::vector<RowGather> gathers{};
    };

    [[nodiscard]] Moved movedParts(const GatheredSum& sum) const
    {
        Moved moved;
        std::set<std::pair<ValueId, ValueId>> tables;
        for (const SummedColumns& columns : sum.columns) {
            if (!moves(columns)) continue;
            moved.columns += columns.width;
            for (const Summand& summand : columns.summands) {
                if (tables.emplace(summand.gather->index, summand.table).second) moved.reads += columns.width;
                if (std::ranges::find(moved.gathers, *summand.gather) == moved.gathers.end())
                    moved.gathers.push_back(*summand.gather);
            }
        }
        return moved;
    }

    // Then products are gathered instead of rows, and no row of an edge is multiplied.
    static bool saves(const Moved& moved, std::int64_t out)
    {
        const auto gathers = static_cast<std::int64_t>(moved.gathers.size());
        return moved.columns > 0 &&
               productsPerRead * moved.reads + moved.columns * out >= productsPerRead * gathers * out;
    }

    bool multiply(const Op& op)
    {
        const auto product = productOf(op);
        const GatheredSum* const found = factorOf(op, product);
        if (!found) return false;
        const GatheredSum sum = *found;
        const Moved moved = movedParts(sum);
        const std::int64_t out = shape(op.outputs[0]).back();
        if (!saves(moved, out)) return false;
        m_moved.push_back({.place = ir::describeOp(op),
                           .module = ir::modulePath(op.modules),
                           .in = moved.columns,
                           .out = out,
                           .before = MovedBefore::Gather});
        become(op, multiplied(op, partsOf(op, *product, sum), product->bias));
        return true;
    }

    // ---- concatenations of such sums

    bool join(const Op& op)
    {
        const Rule rule = operators::of(op.name).rule;
        const Arg* const tensors = ir::argument(op, "tensors");
        const Arg* const dim = ir::argument(op, "dim");
        if ((rule != Rule::Cat && rule != Rule::Stack) || !tensors || !tensors->list() || !dim || !dim->integer())
            return false;
        std::vector<const SummedColumns*> items;
        for (const Arg& item : *tensors->list()) {
            const GatheredSum* const sum = item.value() ? sumOf(*item.value()) : nullptr;
            if (!sum || !sum->multiplied || !sum->single()) return false;
            items.push_back(&sum->columns[0]);
        }
        const auto rank = static_cast<std::int64_t>(shape(op.outputs[0]).size());
        const std::int64_t at = *dim->integer() < 0 ? *dim->integer() + rank : *dim->integer();
        if (items.empty() || !alike(items, at)) return false;
        std::vector<Summand> joined;
        for (std::size_t i = 0; i < items[0]->summands.size(); ++i) joined.push_back(joinedTable(op, items, i));
        become(op, joined);
        return true;
    }

    // The same gathers in the same order, of rows before dimension `at`.
    static bool alike(const std::vector<const SummedColumns*>& items, std::int64_t at)
    {
        const auto sameGather = [](const Summand& a, const Summand& b) { return a.gather == b.gather; };
        return std::ranges::all_of(items, [&](const SummedColumns* item) {
            return std::ranges::equal(item->summands, items[0]->summands, sameGather) &&
                   std::ranges::all_of(item->summands,
                                       [&](const Summand& s) { return s.gather && s.gather->dim < at && !s.negative; });
        });
    }

    Summand joinedTable(const Op& op, const std::vector<const SummedColumns*>& items, std::size_t summand)
    {
        Op copy = op;
        ir::ArgList tables;
        for (const SummedColumns* item : items) tables.push_back(Arg{item->summands[summand].table});
        const RowGather gather = *items[0]->summands[summand].gather;
        const auto rows = static_cast<std::size_t>(gather.dim);
        Value result = m_old.value(op.outputs[0]);
        result.shape[rows] = shape(*tables.front().value())[rows];
        for (std::size_t i = 0; i < copy.args.size(); ++i)
            if (copy.argInfo[i].name == "tensors") copy.args[i] = Arg{tables};
        const ValueId table = fresh(std::move(result));
        append(std::move(copy), {table});
        return {.gather = gather, .table = table};
    }

    const RowCounts& m_rows;
    std::vector<Reassociation>& m_moved;
};

}  // namespace

ir::Program multiplyBeforeGathers(const ir::Program& program, const RowCounts& rows, std::vector<Reassociation>& moved)
{
    const std::size_t before = moved.size();
    ir::Program made = EarlyProducts(program, rows, moved).run();
    return moved.size() == before ? program : removeDead(made);
}

}  // namespace hopscope::analysis
