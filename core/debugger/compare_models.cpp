#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/units.h"
#include "debugger/debugger.h"
#include "debugger/match.h"
#include "debugger/rows.h"
#include "loader/tensors.h"

namespace hopscope::debugger {

namespace {

using analysis::Analysis;
using executor::UnsplitValues;
using ir::ValueId;

// Values that follow from weights and literals alone.
std::set<ValueId> fromWeights(const Analysis& analysis)
{
    std::set<ValueId> found;
    for (const ir::Value& value : analysis.program.values)
        if (value.origin == ir::Origin::Parameter || value.origin == ir::Origin::Constant) found.insert(value.id);
    for (const ir::Op& op : analysis.program.ops) {
        bool only = true, any = false;
        ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
            only = only && found.contains(v);
            any = true;
        });
        if (only && any) found.insert(op.outputs.begin(), op.outputs.end());
    }
    return found;
}

class Comparison {
public:
    Comparison(const Subject& first, const Subject& second, const Settings& settings, UnsplitValues a, UnsplitValues b)
        : m_first(first),
          m_second(second),
          m_settings(settings),
          m_a(std::move(a)),
          m_b(std::move(b)),
          m_weights(fromWeights(*first.analysis))
    {
        m_found.first = first.name;
        m_found.second = second.name;
    }

    base::Result<schema::DivergenceRecord> run()
    {
        if (const base::Status done = compareParameters(); !done) return base::forward(done);
        const auto pairs = matchOperators(m_first.analysis->program, m_second.analysis->program);
        std::int64_t done = 0;
        for (const auto& [a, b] : pairs) {
            if (m_settings.progress)
                m_settings.progress({"comparing operators", done++, static_cast<std::int64_t>(pairs.size())});
            if (const base::Status compared = compare(op(m_first, a), op(m_second, b)); !compared)
                return base::forward(compared);
        }
        listUnmatched(pairs);
        return std::move(m_found);
    }

private:
    static const ir::Op& op(const Subject& subject, ir::OpId id) { return subject.analysis->program.op(id); }

    base::Status compare(const ir::Op& a, const ir::Op& b)
    {
        for (std::size_t k = 0; k < std::min(a.outputs.size(), b.outputs.size()); ++k)
            if (m_a.wanted(a.outputs[k]) && m_b.wanted(b.outputs[k]))
                if (const base::Status done = compare(a, a.outputs[k], b, b.outputs[k]); !done) return done;
        return {};
    }

    base::Status compare(const ir::Op& a, ValueId v, const ir::Op& b, ValueId w)
    {
        if (m_first.analysis->info(v).sparse || m_second.analysis->info(w).sparse) return {};
        const auto x = m_a.value(v), y = m_b.value(w);
        if (!x) return base::forward(x);
        if (!y) return base::forward(y);
        if (m_weights.contains(v)) return {};
        const int dim = m_first.analysis->rowDim(v);
        const Difference difference =
            differenceOf(loader::toTensor(*x), loader::toTensor(*y), dim, m_settings.tolerance);
        ++m_found.compared;
        if (base::isFloating(x->dtype) && difference.mismatch.empty())
            m_found.growth.push_back({.op = a.id,
                                      .value = v,
                                      .depth = m_first.analysis->info(a.id).depth,
                                      .maxAbsolute = difference.maxAbsolute,
                                      .maxRelative = difference.maxRelative});
        if (difference.equal()) return {};
        return note(a, v, b, difference);
    }

    base::Status note(const ir::Op& a, ValueId v, const ir::Op& b, const Difference& difference)
    {
        const bool nodes = difference.mismatch.empty() && isNodeTable(*m_first.analysis, m_first.analysis->rowSpace(v));
        if (m_found.divergence && (m_found.nodes || !nodes)) return {};
        auto record = differenceRecord(*m_first.analysis, a, v, difference, m_a);
        if (!record) return base::forward(record);
        record->other = b.id;
        record->arguments = differentArguments(a, b);
        if (nodes && !m_found.nodes) m_found.nodes = *record;
        if (!m_found.divergence) m_found.divergence = std::move(*record);
        return {};
    }

    base::Status compareParameters()
    {
        std::map<std::string, ValueId> others;
        for (const ir::Value& value : m_second.analysis->program.values)
            if (value.origin == ir::Origin::Parameter) others[value.name] = value.id;
        for (const ir::Value& value : m_first.analysis->program.values) {
            const auto other = others.find(value.name);
            if (value.origin != ir::Origin::Parameter || other == others.end()) continue;
            const auto x = m_a.value(value.id), y = m_b.value(other->second);
            if (!x) return base::forward(x);
            if (!y) return base::forward(y);
            const at::Tensor a = loader::toTensor(*x).reshape(-1), b = loader::toTensor(*y).reshape(-1);
            const Difference difference = differenceOf(a, b, 0, {.absolute = 0, .relative = 0});
            if (!difference.equal()) m_found.parameters.push_back(parameterText(value.name, difference));
        }
        return {};
    }

    static std::string parameterText(const std::string& name, const Difference& difference)
    {
        if (!difference.mismatch.empty()) return name + ": " + difference.mismatch;
        return name + ": " + base::grouped(difference.rows) + " of " + base::counted(difference.of, "element") +
               ", by up to " + shortNumber(difference.maxAbsolute);
    }

    void listUnmatched(const std::vector<OperatorPair>& pairs)
    {
        std::set<ir::OpId> a, b;
        for (const auto& [x, y] : pairs) {
            a.insert(x);
            b.insert(y);
        }
        const auto list = [](const Subject& subject, const std::set<ir::OpId>& matched, const UnsplitValues& values,
                             std::vector<schema::OperatorRecord>& into) {
            for (const ir::Op& op : subject.analysis->program.ops)
                if (!matched.contains(op.id) && !op.outputs.empty() && values.wanted(op.outputs[0]))
                    into.push_back(recordOf(*subject.analysis, op, op.outputs[0]));
        };
        list(m_first, a, m_a, m_found.onlyFirst);
        list(m_second, b, m_b, m_found.onlySecond);
    }

    const Subject &m_first, &m_second;
    const Settings& m_settings;
    UnsplitValues m_a, m_b;
    std::set<ValueId> m_weights;
    schema::DivergenceRecord m_found;
};

}  // namespace

base::Result<schema::DivergenceRecord> compareModels(const Subject& first, const Subject& second,
                                                     const Settings& settings, std::stop_token stop)
{
    const auto start = std::chrono::steady_clock::now();
    const c10::InferenceMode inference;
    auto a = UnsplitValues::create(*first.walk, *first.analysis, *first.inputs, settings.folder, stop);
    if (!a) return base::forward(a);
    auto b = UnsplitValues::create(*second.walk, *second.analysis, *second.inputs, settings.folder, stop);
    if (!b) return base::forward(b);
    auto found = Comparison(first, second, settings, std::move(*a), std::move(*b)).run();
    if (found) found->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return found;
}

}  // namespace hopscope::debugger
