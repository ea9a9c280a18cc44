#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <chrono>
#include <set>
#include <utility>

#include "debugger/match.h"
#include "debugger/probes.h"
#include "debugger/rows.h"
#include "loader/tensors.h"

namespace hopscope::debugger {

namespace {

using analysis::Analysis;
using ir::ValueId;

// The place where a value was first seen not to be finite, and the number of such elements.
struct Bad {
    NonFinite numbers;
    std::optional<plan::StageId> stage;
    std::int64_t batch = 0;
};

class NonFiniteProbe final : public executor::Probe {
public:
    explicit NonFiniteProbe(const Analysis& analysis) : m_analysis(analysis) {}

    [[nodiscard]] bool everyOperator() const override { return true; }

    void computed(const executor::Probed& result) override
    {
        const std::int64_t batch = m_batches.number(result);
        m_seen.insert(result.value);
        const int dim = m_analysis.rowDim(result.value);
        NonFinite found = nonFinite(result.tensor, dim);
        if (found.any() && dim >= 0) found = ofNewRows(result, dim);
        if (!found.any()) return;
        const auto [at, fresh] =
            m_bad.try_emplace(result.value, Bad{.numbers = found, .stage = result.stage, .batch = batch});
        if (fresh || at->second.stage != result.stage) return;  // another stage computes the same again
        at->second.numbers.nan += found.nan;
        at->second.numbers.infinite += found.infinite;
    }

    std::map<ValueId, Bad> m_bad;
    std::set<ValueId> m_seen;  // that some batch computed

private:
    // Looks only at rows of nodes that no other batch of the stage has computed: frontiers overlap. Edges belong to one
    // batch.
    NonFinite ofNewRows(const executor::Probed& result, int dim)
    {
        at::Tensor tensor = result.tensor, numbers = result.rowNumbers();
        if (result.rows.kind != ir::RowKind::Owned) {
            const at::Tensor fresh = newRows(result, numbers);
            tensor = tensor.index_select(dim, fresh);
            numbers = numbers.index_select(0, fresh);
        }
        NonFinite found = nonFinite(tensor, dim);
        for (DifferentRow& row : found.shown) row.row = numbers[row.row].item<std::int64_t>();
        return found;
    }

    at::Tensor newRows(const executor::Probed& result, const at::Tensor& numbers)
    {
        if (std::exchange(m_stage, result.stage) != result.stage) m_looked.clear();
        std::vector<bool>& looked = m_looked[result.value];
        std::vector<std::int64_t> fresh;
        for (std::int64_t i = 0; i < numbers.numel(); ++i) {
            const auto row = numbers.const_data_ptr<std::int64_t>()[i * numbers.stride(0)];
            if (row >= std::ssize(looked)) looked.resize(static_cast<std::size_t>(row) + 1);
            if (!looked[static_cast<std::size_t>(row)]) fresh.push_back(i);
            looked[static_cast<std::size_t>(row)] = true;
        }
        return at::tensor(fresh, at::kLong);
    }

    const Analysis& m_analysis;
    BatchCounter m_batches;
    std::optional<plan::StageId> m_stage;
    std::map<ValueId, std::vector<bool>> m_looked;  // of the stage: by row, whether a batch with such numbers had it
};

class Hunt {
public:
    Hunt(const Subject& subject, executor::UnsplitValues values, NonFiniteProbe& probe)
        : m_analysis(*subject.analysis),
          m_values(std::move(values)),
          m_bad(probe.m_bad),
          m_seen(probe.m_seen)
    {}

    base::Result<schema::NonFiniteReport> run()
    {
        if (const base::Status looked = lookAtGiven(); !looked) return base::forward(looked);
        for (const ir::NamedValue& output : m_analysis.program.outputs) {
            std::set<ValueId> bad;
            addBad(output.value, bad);
            if (bad.empty()) continue;
            m_report.outputs.push_back(output.name);
            for (const ValueId value : bad) trace(value);
        }
        for (const ir::Op& op : m_analysis.program.ops)
            if (const base::Status told = tell(op); !told) return base::forward(told);
        return std::move(m_report);
    }

private:
    [[nodiscard]] bool isBad(ValueId value) const { return m_bad.contains(value); }

    // Looks at inputs and weights, and at values that are computed once.
    base::Status lookAtGiven()
    {
        for (const ir::Value& value : m_analysis.program.values) {
            const bool given = value.origin != ir::Origin::Op || m_analysis.info(value.id).structureOnly;
            if (!given || !m_values.wanted(value.id) || m_analysis.info(value.id).sparse) continue;
            const auto tensor = m_values.value(value.id);
            if (!tensor) return base::forward(tensor);
            m_seen.insert(value.id);
            const NonFinite found = nonFinite(loader::toTensor(*tensor), m_analysis.rowDim(value.id));
            if (!found.any()) continue;
            m_bad[value.id] = {.numbers = found, .stage = std::nullopt, .batch = 0};
            if (value.origin == ir::Origin::Input || value.origin == ir::Origin::Parameter)
                m_report.inputs.push_back(value.name);
        }
        return {};
    }

    // The value, if it is not finite. A value that was never seen, such as a sum over all rows, is replaced by its operands.
    void addBad(ValueId v, std::set<ValueId>& found) const
    {
        if (isBad(v)) found.insert(v);
        const ir::OpId producer = m_analysis.program.value(v).producer;
        if (!m_seen.contains(v) && producer.valid()) badOperands(m_analysis.program.op(producer), found);
    }

    // The operands of an operator that are not finite.
    void badOperands(const ir::Op& op, std::set<ValueId>& found) const
    {
        ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
            if (m_analysis.info(op.id).use(slot).use != analysis::Use::Shape) addBad(v, found);
        });
    }

    // Walks back from an output that is not finite, along operands that are not.
    void trace(ValueId from)
    {
        std::vector<ValueId> open{from};
        while (!open.empty()) {
            const ValueId value = open.back();
            open.pop_back();
            if (!m_reaching.insert(value).second) continue;
            const ir::OpId producer = m_analysis.program.value(value).producer;
            if (!producer.valid()) continue;
            std::set<ValueId> operands;
            badOperands(m_analysis.program.op(producer), operands);
            open.insert(open.end(), operands.begin(), operands.end());
        }
    }

    base::Status tell(const ir::Op& op)
    {
        const auto bad = std::ranges::find_if(op.outputs, [&](ValueId v) { return isBad(v); });
        std::set<ValueId> operands;
        if (bad != op.outputs.end()) badOperands(op, operands);
        if (bad == op.outputs.end() || !operands.empty()) return {};
        const Bad& found = m_bad.at(*bad);
        auto rows = rowRecords(m_analysis, m_analysis.rowSpace(*bad), found.numbers.shown, m_values);
        if (!rows) return base::forward(rows);
        m_report.makers.push_back({.place = recordOf(m_analysis, op, *bad),
                                   .nan = found.numbers.nan,
                                   .infinite = found.numbers.infinite,
                                   .stage = found.stage,
                                   .batch = found.batch,
                                   .reachesOutput = m_reaching.contains(*bad),
                                   .shown = std::move(*rows)});
        return {};
    }

    const Analysis& m_analysis;
    executor::UnsplitValues m_values;
    std::map<ValueId, Bad>& m_bad;
    std::set<ValueId>& m_seen;
    std::set<ValueId> m_reaching;
    schema::NonFiniteReport m_report;
};

}  // namespace

base::Result<schema::NonFiniteReport> huntNonFinite(const Subject& subject, const plan::Plan& plan,
                                                    const Settings& settings, std::stop_token stop)
{
    const auto start = std::chrono::steady_clock::now();
    const c10::InferenceMode inference;
    NonFiniteProbe probe(*subject.analysis);
    const base::Status run = runProbed(subject, plan, *subject.inputs, probe, settings, stop);
    if (!run) return base::forward(run);
    auto values =
        executor::UnsplitValues::create(*subject.walk, *subject.analysis, *subject.inputs, settings.folder, stop);
    if (!values) return base::forward(values);
    auto report = Hunt(subject, std::move(*values), probe).run();
    if (report) report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace hopscope::debugger
