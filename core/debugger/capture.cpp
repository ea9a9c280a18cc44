#include "debugger/capture.h"

#include <ATen/ATen.h>

#include <chrono>

#include "analysis/naming/table_labels.h"
#include "base/proc.h"
#include "debugger/match.h"
#include "debugger/statistics.h"
#include "executor/failure.h"
#include "loader/tensors.h"

namespace hopscope::debugger {

using analysis::Analysis;
using executor::Probed;

namespace {

std::int64_t memoryForRows() { return base::availableMemory() > 0 ? base::availableMemory() / 3 : INT64_MAX; }

std::vector<std::int64_t> numbersOf(const at::Tensor& numbers)
{
    const at::Tensor whole = numbers.to(at::kLong).contiguous();
    const auto* data = whole.const_data_ptr<std::int64_t>();
    return {data, data + whole.numel()};
}

void describe(const Analysis& analysis, ir::ValueId value, SeenTensor& seen)
{
    const ir::Value& known = analysis.program.value(value);
    schema::TensorSummary& record = seen.record;
    record.place = recordOf(analysis, analysis.program.op(known.producer), value);
    const at::Tensor rows = loader::toTensor(seen.rows);
    record.dtype = base::dtypeName(seen.rows.dtype);
    if (analysis.hasRows(value)) record.axis = analysis.rowDim(value);
    record.shape = rows.movedim(0, record.axis.value_or(0)).sizes().vec();
    record.count = rows.size(0);
    record.statistics = statisticsOf(rows);
    seen.table = analysis.rowSpace(value);
}

}  // namespace

SeenTensor seenNow(const Analysis& analysis, const Probed& result, std::int64_t batch)
{
    const auto start = std::chrono::steady_clock::now();
    SeenTensor seen;
    const bool rows = analysis.hasRows(result.value);
    const int dim = rows ? analysis.rowDim(result.value) : 0;
    at::Tensor table = result.tensor.dim() == 0 ? result.tensor.unsqueeze(0) : result.tensor;
    table = table.movedim(dim, 0).clone(at::MemoryFormat::Contiguous);
    seen.rows = loader::toView(table);
    describe(analysis, result.value, seen);
    if (rows) seen.numbers = numbersOf(result.rowNumbers());
    seen.record.shape = result.tensor.sizes().vec();
    seen.record.stage = result.stage;
    seen.record.batch =
        schema::BatchPlace{.number = batch, .firstDestination = result.first, .destinations = result.destinations};
    seen.record.rows = rows ? analysis::rowsLabel(analysis.tables, result.rows) : "";
    seen.record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return seen;
}

CaptureProbe::CaptureProbe(const Analysis& analysis, ir::ValueId value, const TensorRequest& request,
                           std::stop_source enough)
    : m_analysis(analysis),
      m_value(value),
      m_request(request),
      m_enough(std::move(enough)),
      m_mostBytes(memoryForRows())
{}

void CaptureProbe::computed(const Probed& result)
{
    if (m_complete) return;
    const std::int64_t batch = m_batches.number(result);
    if (m_stage && result.stage != *m_stage) return finish();
    if (result.value != m_value) return;
    m_stage = result.stage;
    m_words = analysis::rowsLabel(m_analysis.tables, result.rows);
    const std::int64_t node = m_request.batchOf.value_or(result.first);
    if (node < result.first || node >= result.first + result.destinations) return;
    add(result);
    if (!m_request.batchOf) return;
    m_batch =
        schema::BatchPlace{.number = batch, .firstDestination = result.first, .destinations = result.destinations};
    finish();
}

void CaptureProbe::finish()
{
    m_complete = true;
    m_enough.request_stop();
}

// The places of the rows that are to be kept.
at::Tensor CaptureProbe::wanted(const Probed& result, const at::Tensor& numbers)
{
    at::Tensor chosen = at::ones({numbers.numel()}, at::kBool);
    if (!m_request.nodes.empty()) {
        const bool owned = result.rows.kind == ir::RowKind::Owned;
        chosen = at::isin(owned ? result.owners() : numbers, at::tensor(m_request.nodes, at::kLong));
    }
    if (m_request.rows)
        chosen = chosen.logical_and(numbers.ge(m_request.rows->first)).logical_and(numbers.lt(m_request.rows->second));
    auto* keep = chosen.mutable_data_ptr<bool>();
    const std::vector<std::int64_t> all = numbersOf(numbers);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto at = static_cast<std::size_t>(all[i]);
        if (m_taken.size() <= at) m_taken.resize(std::max(at + 1, 2 * m_taken.size()));
        if (m_taken[at]) keep[i] = false;
        else if (keep[i]) m_taken[at] = true;
    }
    return chosen.nonzero().flatten();
}

void CaptureProbe::add(const Probed& result)
{
    const at::Tensor numbers = result.rowNumbers().to(at::kLong), places = wanted(result, numbers);
    m_rows.push_back(result.tensor.movedim(m_analysis.rowDim(m_value), 0).index_select(0, places));
    m_numbers.push_back(numbers.index_select(0, places));
    m_bytes += static_cast<std::int64_t>(m_rows.back().nbytes());
    if (m_bytes > m_mostBytes)
        executor::raise(base::ErrorCode::Resources, "the rows of " + ir::valueName(m_value) + " do not fit into memory",
                        "look at fewer rows: at some nodes, at a range of rows, or at one batch");
}

SeenTensor CaptureProbe::take()
{
    at::Tensor rows = at::cat(m_rows), numbers = at::cat(m_numbers);
    const std::int64_t count = numbers.numel();
    if (count > 1 && !numbers.slice(0, 1).gt(numbers.slice(0, 0, count - 1)).all().item<bool>()) {
        const at::Tensor order = numbers.argsort();
        rows = rows.index_select(0, order);
        numbers = numbers.index_select(0, order);
    }
    SeenTensor seen;
    seen.rows = loader::toView(rows.contiguous());
    describe(m_analysis, m_value, seen);
    seen.record.stage = m_stage;
    seen.record.batch = m_batch;
    seen.record.rows = m_words;
    const bool chosen = !m_request.nodes.empty() || m_request.rows || m_request.batchOf;
    if (chosen || !numbers.equal(at::arange(count, at::kLong))) seen.numbers = numbersOf(numbers);
    return seen;
}

}  // namespace hopscope::debugger
