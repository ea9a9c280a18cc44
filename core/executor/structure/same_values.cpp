#include "executor/structure/same_values.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>

#include "operators/names.h"

namespace hopscope::executor {

namespace {

using analysis::Use;

// An operator with its operands, as text: operators with the same description have the same results.
class Describer {
public:
    Describer(const analysis::Analysis& analysis, const std::vector<ir::ValueId>& first)
        : m_analysis(analysis),
          m_first(first)
    {}

    [[nodiscard]] std::string describe(const ir::Op& op) const
    {
        if (auto size = tableSize(op)) return *size;
        std::string text = op.name + "." + op.overload;
        for (std::size_t i = 0; i < op.args.size(); ++i)
            text += " " + argument(op, op.args[i], {static_cast<int>(i), -1});
        return text;
    }

private:
    // The number of rows of a table, whichever tensor is asked.
    [[nodiscard]] std::optional<std::string> tableSize(const ir::Op& op) const
    {
        if (op.name != "scalar::size" || op.args.size() < 2 || !op.args[1].integer()) return std::nullopt;
        const auto& dims = m_analysis.info(*op.args[0].value()).dims;
        const std::int64_t d = *op.args[1].integer(), rank = static_cast<std::int64_t>(dims.size());
        const std::int64_t at = d < 0 ? d + rank : d;
        if (at < 0 || at >= rank || !dims[static_cast<std::size_t>(at)].valid()) return std::nullopt;
        return "rows of " + std::to_string(dims[static_cast<std::size_t>(at)].index);
    }

    [[nodiscard]] std::string argument(const ir::Op& op, const ir::Arg& arg, ir::Slot slot) const
    {
        if (const ir::ArgList* const items = arg.list()) {
            std::string text = "[";
            for (std::size_t i = 0; i < items->size(); ++i)
                text += argument(op, (*items)[i], {slot.arg, static_cast<int>(i)}) + ",";
            return text + "]";
        }
        if (const ir::ValueId* const value = arg.value()) return operand(op, *value, slot);
        return literal(arg);
    }

    [[nodiscard]] static std::string literal(const ir::Arg& arg)
    {
        if (const auto* n = arg.integer()) return "i" + std::to_string(*n);
        if (const auto* x = std::get_if<double>(&arg.data))
            return "d" + std::to_string(std::bit_cast<std::uint64_t>(*x));
        if (const auto* b = std::get_if<bool>(&arg.data)) return *b ? "true" : "false";
        if (const auto* s = std::get_if<std::string>(&arg.data)) return "s" + std::to_string(s->size()) + ":" + *s;
        return arg.none() ? "none" : "device";
    }

    // Describes an operand; one that is only read for its shape by its shape and dtype.
    [[nodiscard]] std::string operand(const ir::Op& op, ir::ValueId v, ir::Slot slot) const
    {
        const ir::Value& value = m_analysis.program.value(v);
        const bool shape = value.kind == ir::ValueKind::Tensor && !ir::isScalarOp(op) &&
                           m_analysis.info(op.id).use(slot).use == Use::Shape && !m_analysis.info(v).sparse;
        if (!shape || !m_analysis.knownShape(v)) return "v" + std::to_string(m_first[v.at()].index);
        std::string text = "like " + std::to_string(static_cast<int>(value.dtype));
        const auto& dims = m_analysis.info(v).dims;
        for (std::size_t d = 0; d < dims.size(); ++d)
            text += dims[d].valid() ? " t" + std::to_string(dims[d].index) : " n" + std::to_string(value.shape.at(d));
        return text;
    }

    const analysis::Analysis& m_analysis;
    const std::vector<ir::ValueId>& m_first;
};

bool inPrologue(const analysis::Analysis& analysis, const ir::Op& op)
{
    return !operators::isRandom(op.name) && !op.outputs.empty() &&
           std::ranges::all_of(op.outputs, [&](ir::ValueId v) { return analysis.info(v).structureOnly; });
}

}  // namespace

SameValues::SameValues(const analysis::Analysis& analysis) : m_first(analysis.program.values.size())
{
    for (const ir::Value& v : analysis.program.values) m_first[v.id.at()] = v.id;
    const Describer describer(analysis, m_first);
    std::map<std::string, const ir::Op*> known;
    for (const ir::Op& op : analysis.program.ops) {
        if (!inPrologue(analysis, op)) continue;
        const ir::Op& same = *known.try_emplace(describer.describe(op), &op).first->second;
        for (std::size_t i = 0; i < op.outputs.size() && i < same.outputs.size(); ++i)
            m_first[op.outputs[i].at()] = same.outputs[i];
    }
}

}  // namespace hopscope::executor
