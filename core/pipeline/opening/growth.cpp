#include "pipeline/opening/growth.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "operators/operators.h"

namespace hopscope::pipeline {

namespace {

using analysis::Analysis;
using analysis::OpInfo;
using analysis::OpKind;
using ir::ValueId;
using operators::Rule;

// The power of ten of the largest number.
double largest(base::DType dtype)
{
    if (dtype == base::DType::Float16) return std::log10(65504.0);
    return dtype == base::DType::Float64 ? 308 : 38;
}

class Follower {
public:
    Follower(const Analysis& a, const std::map<ir::SpaceId, std::int64_t>& sizes) : m_a(a), m_sizes(sizes) {}

    std::optional<Growth> run()
    {
        for (const ir::Op& op : m_a.program.ops) {
            const OpInfo& info = m_a.info(op.id);
            if (info.structureOnly || info.kind == OpKind::Scalar || info.kind == OpKind::Reduce) continue;
            const std::optional<Growth> growth = after(op, info);
            if (!growth) continue;
            if (growth->power > largest(m_a.program.value(op.outputs.at(0)).dtype)) return growth;
            for (const ValueId v : op.outputs) m_grown[v] = *growth;
        }
        return std::nullopt;
    }

private:
    // The growth of the operand that has grown most.
    Growth before(const ir::Op& op) const
    {
        Growth most;
        ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
            const auto it = m_grown.find(v);
            if (it != m_grown.end() && it->second.power > most.power) most = it->second;
        });
        return most;
    }

    std::optional<Growth> after(const ir::Op& op, const OpInfo& info) const
    {
        Growth growth = before(op);
        if (info.kind == OpKind::Aggregate) {
            if (!sums(op) || !base::isFloating(m_a.program.value(op.outputs.at(0)).dtype)) return std::nullopt;
            growth.power += std::log10(std::max(messagesPerRow(info), 1.0));
            ++growth.rounds;
            growth.op = op.id;
            return growth;
        }
        if (growth.rounds == 0 || !keepsSize(op)) return std::nullopt;
        return growth;
    }

    static bool sums(const ir::Op& op)
    {
        if (op.name == "aten::index_add" || op.name == "aten::scatter_add") return true;
        return std::ranges::any_of(op.args, [](const ir::Arg& arg) {
            const auto* text = std::get_if<std::string>(&arg.data);
            return text && (*text == "sum" || *text == "add");
        });
    }

    double messagesPerRow(const OpInfo& info) const
    {
        const auto messages = m_sizes.find(info.role.space), rows = m_sizes.find(info.role.target);
        if (messages == m_sizes.end() || rows == m_sizes.end() || rows->second == 0) return 1;
        return static_cast<double>(messages->second) / static_cast<double>(rows->second);
    }

    static bool keepsSize(const ir::Op& op)
    {
        static const std::set<std::string> names{"aten::add",        "aten::sub",      "aten::relu",
                                                 "aten::leaky_relu", "aten::elu",      "aten::gelu",
                                                 "aten::silu",       "aten::softplus", "aten::prelu"};
        static const std::set<Rule> rules{Rule::Linear,      Rule::Cat,    Rule::Copy,    Rule::Reshape,
                                          Rule::Unsqueeze,   Rule::Expand, Rule::Permute, Rule::Select,
                                          Rule::IndexSelect, Rule::Index,  Rule::Slice,   Rule::Stack};
        return names.contains(op.name) || rules.contains(operators::of(op.name).rule);
    }

    const Analysis& m_a;
    const std::map<ir::SpaceId, std::int64_t>& m_sizes;
    std::map<ValueId, Growth> m_grown;
};

}  // namespace

std::optional<Growth> growthBeyondType(const Analysis& analysis, const std::map<ir::SpaceId, std::int64_t>& sizes)
{
    return Follower(analysis, sizes).run();
}

}  // namespace hopscope::pipeline
