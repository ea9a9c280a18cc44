#include "analysis/lowering/separate_products.h"

#include <algorithm>
#include <utility>

#include "analysis/lowering/dead_code.h"
#include "analysis/lowering/product_parts.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;

class SeparateProducts : ProductParts {
public:
    SeparateProducts(const ir::Program& program, std::vector<Reassociation>& moved)
        : ProductParts(program),
          m_moved(moved)
    {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops)
            if (!multiply(op)) {
                append(op, op.outputs);
                note(op);
            }
        return std::move(m_new);
    }

private:
    static bool isTable(const SummedColumns& columns)
    {
        const Summand& first = columns.summands.front();
        return columns.summands.size() == 1 && !first.gather && !first.negative;
    }

    // Columns are written and read once; all products but the first one are added to their predecessors.
    static bool saves(const GatheredSum& sum, std::int64_t in, std::int64_t out)
    {
        const auto sums = static_cast<std::int64_t>(sum.columns.size()) - 1;
        return sums > 0 && in >= sums * out && std::ranges::all_of(sum.columns, isTable);
    }

    bool multiply(const Op& op)
    {
        const auto product = productOf(op);
        const GatheredSum* const sum = factorOf(op, product);
        if (!sum) return false;
        const std::int64_t in = shape(product->input).back(), out = shape(op.outputs[0]).back();
        if (!saves(*sum, in, out)) return false;
        std::vector<Part> parts = partsOf(op, *product, *sum);
        if (parts.size() < 2) return false;
        m_moved.push_back({.place = ir::describeOp(op),
                           .module = ir::modulePath(op.modules),
                           .in = in,
                           .out = out,
                           .before = MovedBefore::Columns});
        const std::vector<Part> last{parts.back()};
        parts.pop_back();
        const ir::ValueId first = multiplied(op, parts, product->bias)[0].table,
                          second = multiplied(op, last, {})[0].table;
        append(syntheticOp("add.Tensor", {Arg{first}, Arg{second}, one()}, op), op.outputs);
        return true;
    }

    std::vector<Reassociation>& m_moved;
};

}  // namespace

ir::Program multiplySeparately(const ir::Program& program, std::vector<Reassociation>& moved)
{
    const std::size_t before = moved.size();
    ir::Program made = SeparateProducts(program, moved).run();
    return moved.size() == before ? program : removeDead(made);
}

}  // namespace hopscope::analysis
