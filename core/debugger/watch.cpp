#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "debugger/breakpoints.h"
#include "debugger/contributions.h"
#include "debugger/match.h"
#include "debugger/probes.h"
#include "debugger/statistics.h"
#include "executor/failure.h"
#include "graph/npy.h"
#include "loader/tensors.h"

namespace hopscope::debugger {

namespace {

using analysis::Analysis;
using ir::ValueId;

struct Watched {
    ValueId value;
    at::Tensor rows;  // one for each node; undefined until a batch has computed some
};

class WatchProbe final : public executor::Probe {
public:
    WatchProbe(const Analysis& analysis, const WatchRequest& request, std::vector<ResolvedBreakpoint> breakpoints,
               std::vector<Watched> watched, const std::set<ValueId>& aggregations)
        : m_analysis(analysis),
          m_request(request),
          m_breakpoints(std::move(breakpoints)),
          m_watched(std::move(watched)),
          m_contributions(analysis, aggregations, request.nodes)
    {}

    [[nodiscard]] bool everyOperator() const override { return true; }

    void computed(const executor::Probed& result) override
    {
        const std::int64_t batch = m_batches.number(result);
        const bool hit =
            std::ranges::any_of(m_breakpoints, [&](const ResolvedBreakpoint& b) { return holds(b, result); });
        if (hit && m_report.seen++ < static_cast<std::int64_t>(m_request.hits)) describe(result, batch);
        for (Watched& watched : m_watched)
            if (watched.value == result.value) record(watched, result);
        m_contributions.look(result);
    }

    schema::WatchReport m_report;
    [[nodiscard]] const std::vector<Watched>& watched() const { return m_watched; }
    [[nodiscard]] const Contributions& contributions() const { return m_contributions; }

private:
    void describe(const executor::Probed& result, std::int64_t batch)
    {
        const ir::Op& op = m_analysis.program.op(m_analysis.program.value(result.value).producer);
        schema::HitRecord& hit = m_report.hits.emplace_back();
        hit.place = recordOf(m_analysis, op, result.value);
        hit.stage = result.stage;
        hit.batch = batch;
        hit.firstDestination = result.first;
        hit.destinations = result.destinations;
        hit.shape = result.tensor.sizes().vec();
        hit.dtype = base::dtypeName(m_analysis.program.value(result.value).dtype);
        hit.rows = analysis::rowsLabel(m_analysis.tables, result.rows);
        const schema::Statistics statistics = statisticsOf(result.tensor);
        hit.least = statistics.least;
        hit.most = statistics.most;
        hit.mean = statistics.mean;
        hit.zeros = statistics.zeros;
        hit.nan = statistics.nan;
        hit.infinite = statistics.infinite;
    }

    void record(Watched& watched, const executor::Probed& result)
    {
        const int dim = m_analysis.rowDim(watched.value);
        const at::Tensor table = result.tensor.movedim(dim, 0), numbers = result.rowNumbers();
        if (!watched.rows.defined()) {
            std::vector<std::int64_t> shape = table.sizes().vec();
            shape[0] = static_cast<std::int64_t>(m_request.nodes.size());
            watched.rows = at::zeros(shape, table.options());
        }
        for (std::size_t i = 0; i < m_request.nodes.size(); ++i) {
            const at::Tensor places = numbers.eq(m_request.nodes[i]).nonzero();
            if (places.numel() > 0)
                watched.rows[static_cast<std::int64_t>(i)].copy_(table[places[0].item<std::int64_t>()]);
        }
    }

    const Analysis& m_analysis;
    const WatchRequest& m_request;
    std::vector<ResolvedBreakpoint> m_breakpoints;
    std::vector<Watched> m_watched;
    Contributions m_contributions;
    BatchCounter m_batches;
};

base::Result<std::vector<Watched>> resolveWatched(const Subject& subject, const WatchRequest& request)
{
    const Analysis& analysis = *subject.analysis;
    const analysis::ValueNames names(analysis);
    std::vector<Watched> found;
    for (const std::string& place : request.values) {
        const std::size_t before = found.size();
        const std::set<ValueId> named = valuesAt(analysis, names, place);
        if (named.empty()) return unknownPlace(place);
        for (const ValueId v : named)
            if (analysis.hasRows(v) && !analysis.available(v)) found.push_back({v, {}});
        if (found.size() == before)
            return base::fail(base::ErrorCode::Usage, "no stage computes rows of '" + place + "'",
                              "debug --show " + place + " shows its values");
    }
    return found;
}

base::Result<std::set<ValueId>> resolveAggregations(const Subject& subject, const WatchRequest& request)
{
    const Analysis& analysis = *subject.analysis;
    const analysis::ValueNames names(analysis);
    std::set<ValueId> found;
    for (const std::string& place : request.aggregations) {
        const std::set<ValueId> named = valuesAt(analysis, names, place);
        if (named.empty()) return unknownPlace(place);
        if (Contributions(analysis, named, request.nodes).empty())
            return base::fail(base::ErrorCode::Usage, "'" + place + "' aggregates no messages",
                              "name an operator that does, or the module of a convolution");
        found.insert(named.begin(), named.end());
    }
    return found;
}

base::Status describe(const Subject& subject, const Contributions& contributions, const Settings& settings,
                      const std::stop_token& stop, schema::WatchReport& report)
{
    if (contributions.empty()) return {};
    auto values =
        executor::UnsplitValues::create(*subject.walk, *subject.analysis, *subject.inputs, settings.folder, stop);
    if (!values) return base::forward(values);
    auto found = contributions.finish(*values);
    if (!found) return base::forward(found);
    report.aggregations = std::move(*found);
    return {};
}

base::Status writeRows(const std::string& file, const at::Tensor& rows)
{
    const base::TensorView view = loader::toView(rows);
    base::Result<graph::NpyWriter> writer = graph::NpyWriter::create(file, view.dtype, view.shape);
    if (!writer) return base::forward(writer);
    std::memcpy(writer->data(), view.data, static_cast<std::size_t>(view.bytes()));
    return writer->publish();
}

std::vector<std::vector<double>> firstNumbers(const at::Tensor& table)
{
    std::vector<std::vector<double>> rows;
    if (table.is_complex()) return rows;
    for (std::int64_t row = 0; row < table.size(0); ++row) {
        const at::Tensor numbers =
            table[row].flatten().slice(0, 0, schema::mostWatchedNumbers).to(at::kDouble).contiguous();
        rows.emplace_back(numbers.data_ptr<double>(), numbers.data_ptr<double>() + numbers.numel());
    }
    return rows;
}

base::Status write(const Analysis& analysis, const WatchRequest& request, const std::vector<Watched>& watched,
                   schema::WatchReport& report)
{
    for (const Watched& w : watched) {
        if (!w.rows.defined()) continue;  // fused into its reader, or not on the way to an output
        const std::string file = request.output.empty() ? "" : request.output + "/" + ir::valueName(w.value) + ".npy";
        if (const base::Status done = file.empty() ? base::Status() : writeRows(file, w.rows.contiguous()); !done)
            return done;
        const ir::Op& op = analysis.program.op(analysis.program.value(w.value).producer);
        report.watched.push_back({.place = recordOf(analysis, op, w.value),
                                  .file = file,
                                  .nodes = request.nodes,
                                  .numbers = firstNumbers(w.rows)});
    }
    return {};
}

}  // namespace

base::Result<schema::WatchReport> watch(const Subject& subject, const plan::Plan& plan, const WatchRequest& request,
                                        const Settings& settings, std::stop_token stop)
{
    const auto start = std::chrono::steady_clock::now();
    const c10::InferenceMode inference;
    auto breakpoints = resolveBreakpoints(*subject.analysis, plan, request.breakpoints);
    if (!breakpoints) return base::forward(breakpoints);
    auto watched = resolveWatched(subject, request);
    if (!watched) return base::forward(watched);
    const auto aggregations = resolveAggregations(subject, request);
    if (!aggregations) return base::forward(aggregations);
    WatchProbe probe(*subject.analysis, request, std::move(*breakpoints), std::move(*watched), *aggregations);
    const base::Status run = runProbed(subject, plan, *subject.inputs, probe, settings, stop);
    if (!run) return base::forward(run);
    schema::WatchReport report = std::move(probe.m_report);
    const base::Status written = write(*subject.analysis, request, probe.watched(), report);
    if (!written) return base::forward(written);
    if (const base::Status told = describe(subject, probe.contributions(), settings, stop, report); !told)
        return base::forward(told);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace hopscope::debugger
