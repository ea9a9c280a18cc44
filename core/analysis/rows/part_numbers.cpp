#include "analysis/rows/part_numbers.h"

#include "analysis/rows/chain.h"
#include "operators/operators.h"

namespace hopscope::analysis {

using ir::Arg;

std::vector<Linear> startsOf(const RuleContext& c, SpaceId cat)
{
    std::vector<Linear> starts{constant(0)};
    for (const SpaceId part : c.space(cat).parts)
        starts.push_back(add(starts.back(), rowsOf(c.builder.analysis.tables, part)));
    return starts;
}

bool isAdded(const RuleContext& c, SpaceId part) { return c.space(part).isAdded(); }

Linear fromFront(const RuleContext& c, SpaceId cat, const Linear& position)
{
    const bool back = position.isConstant() && position.constant < 0;
    return back ? add(startsOf(c, cat).back(), position) : position;
}

std::optional<RowPlace> placeOf(const RuleContext& c, SpaceId cat, const Linear& position)
{
    const std::vector<Linear> starts = startsOf(c, cat);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
        const Linear behind = add(position, starts[i], -1);
        const bool inside = behind.isConstant() && behind.constant >= 0 &&
                            (behind.constant == 0 || behind.constant < c.space(c.space(cat).parts[i]).rows);
        if (inside) return RowPlace{i, behind.constant};
    }
    return std::nullopt;
}

ValueId columnUnder(const RuleContext& c, ValueId index)
{
    using operators::Rule;
    while (c.rank(index) > 1) {
        if (c.value(index).origin != ir::Origin::Op) return {};
        const ir::Op& op = c.builder.analysis.program.op(c.value(index).producer);
        const Rule rule = operators::of(op.name).rule;
        if (rule != Rule::Expand && rule != Rule::Unsqueeze && rule != Rule::Reshape) return {};
        const ValueId from = *op.args.at(0).value();
        if (c.rank(from) == 0 || !c.isRow(c.dim(from, 0)) || c.dim(from, 0) != c.dim(index, 0)) return {};
        index = from;
    }
    return index;
}

namespace {

// A column of row numbers, and what all of them are larger by.
struct Shifted {
    ValueId ids;
    Linear by;
};
using Numbers = std::vector<Shifted>;  // columns that are joined

// Follows numbers back to columns of row numbers, through sums and columns that were joined.
class ShiftFinder {
public:
    ShiftFinder(Emitter& emitter, const RuleContext& c)
        : m_emitter(emitter),
          m_analysis(emitter.builder().analysis),
          m_c(c)
    {}

    // Nothing where they are something else.
    Numbers find(ValueId v)
    {
        if (info(v).role) return Numbers{Shifted{v, constant(0)}};
        const ir::Value value = m_analysis.program.value(v);
        if (!info(v).structureOnly) return {};
        if (const auto number = uniform(v); number && value.shape.size() == 1) return zerosFor(v, *number);
        if (value.origin != ir::Origin::Op) return Numbers{Shifted{v, constant(0)}};
        const ir::Op op = m_analysis.program.op(value.producer);
        using operators::Rule;
        switch (operators::of(op.name).rule) {
        case Rule::Pointwise: return throughSum(op);
        case Rule::Cat: return isNumber(op, 1, 0) ? joined(items(op)) : Numbers{};
        default: return {};
        }
    }

private:
    const ValueInfo& info(ValueId v) const { return m_analysis.info(v); }

    static bool isNumber(const ir::Op& op, std::size_t arg, std::int64_t wanted)
    {
        return op.args.at(arg).integer() && *op.args[arg].integer() == wanted;
    }

    static std::vector<ValueId> items(const ir::Op& op)
    {
        std::vector<ValueId> values;
        for (const Arg& item : *op.args.at(0).list()) values.push_back(*item.value());
        return values;
    }

    Numbers joined(const std::vector<ValueId>& columns)
    {
        Numbers all;
        for (const ValueId column : columns) {
            const Numbers part = find(column);
            if (part.empty()) return {};
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }

    // The number that each row of a column is.
    std::optional<Linear> uniform(ValueId v) const
    {
        const ir::Value& value = m_analysis.program.value(v);
        if (value.origin != ir::Origin::Op || !info(v).uniform) return std::nullopt;
        const ir::Op& op = m_analysis.program.op(value.producer);
        const operators::Operator::Traits& traits = operators::of(op.name).traits;
        if (traits.fill == operators::Fill::Zero) return constant(0);
        if (traits.fill == operators::Fill::One) return constant(1);
        if (traits.fill == operators::Fill::Number)
            return m_c.linear(op.args.at(static_cast<std::size_t>(traits.fillArgument)));
        const bool sum = op.name == "aten::add" || op.name == "aten::sub";
        if ((!sum && op.name != "aten::mul") || (sum && !isNumber(op, 2, 1))) return std::nullopt;
        const auto first = uniform(*op.args[0].value()), by = m_c.linear(op.args[1]);
        return first && by ? combine(op.name.substr(6), {*first, *by}) : std::nullopt;
    }

    // Zeros for each row, which the number is added to.
    Numbers zerosFor(ValueId v, const Linear& number)
    {
        const ir::Value& value = m_analysis.program.value(v);
        Chain chain(m_emitter, m_analysis.program.op(value.producer));
        const auto made =
            chain.done(chain.call("mul.Scalar", {Arg{v}, Arg{std::int64_t{0}}}, value.shape, value.dtype));
        return made ? Numbers{Shifted{made->front(), number}} : Numbers{};
    }

    // The numbers of the first operand, shifted by the other operand of a sum or difference.
    Numbers throughSum(const ir::Op& op)
    {
        const bool minus = op.name == "aten::sub";
        const std::int64_t* const alpha = op.args.size() > 2 ? op.args[2].integer() : nullptr;
        if ((op.name != "aten::add" && !minus) || !alpha || !op.args[0].value()) return {};
        const auto by = m_c.linear(op.args[1]);
        Numbers found = by ? find(*op.args[0].value()) : Numbers{};
        for (Shifted& column : found) column.by = add(column.by, *by, minus ? -*alpha : *alpha);
        return found;
    }

    Emitter& m_emitter;
    const Analysis& m_analysis;
    const RuleContext& m_c;
};

ValueId increased(Emitter& emitter, const RuleContext& c, ValueId ids, std::int64_t by)
{
    if (by == 0) return ids;
    const ir::Value value = c.value(ids);
    Chain chain(emitter, c.op);
    const auto made =
        chain.done(chain.call("add.Scalar", {Arg{ids}, Arg{by}, Arg{std::int64_t{1}}}, value.shape, value.dtype));
    return made ? made->front() : ValueId{};
}

}  // namespace

std::vector<PartNumbers> partsOfNumbers(Emitter& emitter, const RuleContext& c, SpaceId cat, ValueId index)
{
    std::vector<PartNumbers> parts;
    for (const Shifted& column : ShiftFinder(emitter, c).find(index)) {
        const auto place = placeOf(c, cat, column.by);
        const SpaceId table = place ? c.space(cat).parts[place->part] : SpaceId{};
        const auto role = c.of(column.ids).role;
        const bool added = place && isAdded(c, table);
        if (!added && (!role || role->target != table)) return {};
        Chain chain(emitter, c.op);
        const ValueId ids = added ? increased(emitter, c, column.ids, place->row) : column.ids;
        const bool narrow = ids.valid() && base::itemSize(c.value(ids).dtype) < 4;  // joined to wider ones
        parts.push_back({place->part, narrow ? castTo(chain, c, ids, c.value(index).dtype) : ids});
        if (!parts.back().ids.valid()) return {};
    }
    return parts;
}

}  // namespace hopscope::analysis
