#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <chrono>

#include "base/proc.h"
#include "debugger/probes.h"
#include "debugger/rows.h"
#include "loader/tensors.h"

namespace hopscope::debugger {

namespace {

using analysis::Analysis;
using ir::ValueId;
using Values = std::map<ValueId, base::TensorView>;

// Numbers that a stage computes for nodes: values on edges are far more, and their faults show in the nodes' values.
std::vector<ValueId> onNodes(const Analysis& analysis)
{
    std::vector<ValueId> found;
    for (const ir::Value& value : analysis.program.values)
        if (value.kind == ir::ValueKind::Tensor && value.origin == ir::Origin::Op && !analysis.available(value.id) &&
            isNodeTable(analysis, analysis.rowSpace(value.id)))
            found.push_back(value.id);
    return found;
}

// Collects, for each value, the worst rows of all batches.
class ComparingProbe final : public executor::Probe {
public:
    ComparingProbe(const Analysis& analysis, const Values& reference, const schema::ToleranceRecord& tolerance)
        : m_analysis(analysis),
          m_reference(reference),
          m_tolerance(tolerance)
    {}

    [[nodiscard]] bool everyOperator() const override { return false; }

    void computed(const executor::Probed& result) override
    {
        const auto wanted = m_reference.find(result.value);
        if (wanted == m_reference.end()) return;
        const int dim = m_analysis.rowDim(result.value);
        const at::Tensor numbers = result.rowNumbers();
        const at::Tensor reference = loader::toTensor(wanted->second).index_select(dim, numbers);
        Difference difference = differenceOf(result.tensor, reference, dim, m_tolerance);
        for (DifferentRow& row : difference.shown) row.row = numbers[row.row].item<std::int64_t>();
        add(result, std::move(difference));
    }

    struct Seen {
        ValueId value;
        plan::StageId stage{1};
        Difference difference;
    };
    [[nodiscard]] const std::vector<Seen>& seen() const { return m_seen; }

private:
    void add(const executor::Probed& result, Difference difference)
    {
        const auto [at, fresh] = m_places.try_emplace({result.stage, result.value}, m_seen.size());
        if (fresh) {
            m_seen.push_back({.value = result.value, .stage = result.stage, .difference = std::move(difference)});
            return;
        }
        Difference& all = m_seen[at->second].difference;
        all.rows += difference.rows;
        all.of += difference.of;
        all.maxAbsolute = std::max(all.maxAbsolute, difference.maxAbsolute);
        all.maxRelative = std::max(all.maxRelative, difference.maxRelative);
        if (all.mismatch.empty()) all.mismatch = difference.mismatch;
        for (const DifferentRow& row : difference.shown)
            if (all.shown.size() < mostRowsShown) all.shown.push_back(row);
    }

    const Analysis& m_analysis;
    const Values& m_reference;
    const schema::ToleranceRecord& m_tolerance;
    std::vector<Seen> m_seen;  // in the order in which stages compute
    std::map<std::pair<plan::StageId, ValueId>, std::size_t> m_places;
};

base::Status describe(const Subject& subject, const ComparingProbe& probe, executor::UnsplitValues& values,
                      schema::DivergenceRecord& found)
{
    const Analysis& analysis = *subject.analysis;
    for (const ComparingProbe::Seen& seen : probe.seen()) {
        const ir::Op& op = analysis.program.op(analysis.program.value(seen.value).producer);
        ++found.compared;
        found.growth.push_back({.op = op.id,
                                .value = seen.value,
                                .depth = analysis.info(op.id).depth,
                                .maxAbsolute = seen.difference.maxAbsolute,
                                .maxRelative = seen.difference.maxRelative});
        if (found.divergence || seen.difference.equal()) continue;
        auto record = differenceRecord(analysis, op, seen.value, seen.difference, values);
        if (!record) return base::forward(record);
        record->stage = seen.stage;
        found.divergence = *record;
        found.nodes = std::move(*record);
    }
    return {};
}

base::Status checkMemory(const Analysis& analysis, const Subject& subject, const std::vector<ValueId>& values)
{
    std::map<std::string, std::int64_t> declared;
    double bytes = 0;
    for (const ValueId v : values) {
        const ir::SpaceId table = analysis.rowSpace(v);
        std::int64_t rows = 0;
        for (const ir::NamedValue& input : analysis.program.inputs)
            if (const auto at = subject.inputs->find(input.name);
                analysis.rowSpace(input.value) == table && at != subject.inputs->end())
                rows = at->second.shape[static_cast<std::size_t>(analysis.rowDim(input.value))];
        const ir::Value& value = analysis.program.value(v);
        double each = static_cast<double>(base::itemSize(value.dtype));
        for (std::size_t d = 0; d < value.shape.size(); ++d)
            if (static_cast<int>(d) != analysis.rowDim(v)) each *= static_cast<double>(value.shape[d]);
        bytes += each * static_cast<double>(rows);
    }
    const std::int64_t free = base::availableMemory();
    if (free <= 0 || bytes < 0.7 * static_cast<double>(free)) return {};
    return base::fail(base::ErrorCode::Resources, "the values of the unsplit model do not fit into memory",
                      "compare on a smaller graph, or use verify, which samples nodes");
}

}  // namespace

base::Result<schema::DivergenceRecord> compareStaged(const Subject& subject, const plan::Plan& plan,
                                                     const base::TensorMap& staged, const Settings& settings,
                                                     std::stop_token stop)
{
    const auto start = std::chrono::steady_clock::now();
    const c10::InferenceMode inference;
    const std::vector<ValueId> wanted = onNodes(*subject.analysis);
    if (const base::Status fits = checkMemory(*subject.analysis, subject, wanted); !fits) return base::forward(fits);
    if (settings.progress) settings.progress({"computing the unsplit model"});
    const auto reference =
        executor::evaluateUnsplit(*subject.walk, *subject.analysis, *subject.inputs, wanted, settings.folder, stop);
    if (!reference) return base::forward(reference);
    ComparingProbe probe(*subject.analysis, *reference, settings.tolerance);
    if (const base::Status run = runProbed(subject, plan, staged, probe, settings, stop); !run)
        return base::forward(run);
    auto values =
        executor::UnsplitValues::create(*subject.walk, *subject.analysis, *subject.inputs, settings.folder, stop);
    if (!values) return base::forward(values);
    schema::DivergenceRecord found;
    found.first = "staged";
    found.second = "unsplit";
    if (const base::Status described = describe(subject, probe, *values, found); !described)
        return base::forward(described);
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return found;
}

}  // namespace hopscope::debugger
