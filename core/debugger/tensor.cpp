#include "debugger/tensor.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>

#include "analysis/naming/table_labels.h"
#include "debugger/breakpoints.h"
#include "debugger/capture.h"
#include "debugger/match.h"
#include "debugger/rows.h"
#include "debugger/statistics.h"
#include "graph/npy.h"
#include "loader/tensors.h"

namespace hopscope::debugger {

using analysis::Analysis;
using ir::ValueId;
using schema::TensorOrigin;

namespace {

// Ends a run with either of two reasons.
struct Enough {
    explicit Enough(const std::stop_token& stop) : link(stop, [this] { source.request_stop(); }) {}
    std::stop_source source;
    std::stop_callback<std::function<void()>> link;
};

// Inputs and weights, which no place of an operator names.
std::set<ValueId> leavesAt(const Analysis& analysis, const std::string& place)
{
    std::set<ValueId> found;
    for (const ir::Value& value : analysis.program.values) {
        const bool tensor = value.kind == ir::ValueKind::Tensor && value.origin != ir::Origin::Op;
        const bool named = place == ir::valueName(value.id) || (!value.name.empty() && place == value.name);
        if (tensor && named) found.insert(value.id);
    }
    return found;
}

base::Result<ValueId> valueAt(const Analysis& analysis, const std::string& place)
{
    std::set<ValueId> found = leavesAt(analysis, place);
    if (found.empty() && !place.empty()) found = valuesAt(analysis, analysis::ValueNames(analysis), place);
    std::erase_if(found, [&](ValueId v) { return analysis.program.value(v).kind != ir::ValueKind::Tensor; });
    if (found.empty()) return unknownPlace(place);
    const ir::OpId producer = analysis.program.value(*found.begin()).producer;
    const bool one = found.size() == 1 || (producer.valid() && place == ir::opName(producer));
    if (one) return *found.begin();
    return base::fail(base::ErrorCode::Usage, "'" + place + "' names " + std::to_string(found.size()) + " values",
                      "name one of them, such as " + ir::valueName(*found.begin()) + ": inspect --json lists them");
}

schema::OperatorRecord leafRecord(const Analysis& analysis, const ir::Value& value)
{
    schema::OperatorRecord record;
    record.value = value.id;
    record.name = analysis::nameOfValue(analysis, value.id);
    record.kind = value.origin == ir::Origin::Input ? "input" : "weight";
    return record;
}

at::Tensor chosenRows(const at::Tensor& rows, const TensorRequest& request, SeenTensor& seen)
{
    if (request.nodes.empty() && !request.rows) return rows;
    const std::int64_t end = request.rows ? std::min(request.rows->second, rows.size(0)) : rows.size(0);
    const std::int64_t begin = request.rows ? std::min(request.rows->first, end) : 0;
    at::Tensor numbers;
    if (request.nodes.empty()) {
        numbers = at::arange(begin, end, at::kLong);
    } else {
        numbers = std::get<0>(at::_unique(at::tensor(request.nodes, at::kLong)));  // in ascending order
        numbers = numbers.masked_select(numbers.ge(begin).logical_and(numbers.lt(end)));
    }
    seen.numbers.assign(numbers.const_data_ptr<std::int64_t>(),
                        numbers.const_data_ptr<std::int64_t>() + numbers.numel());
    return rows.index_select(0, numbers);
}

// A tensor that is there as a whole.
base::Result<SeenTensor> seenWhole(const Analysis& analysis, ValueId value, const base::TensorView& view,
                                   const TensorRequest& request)
{
    SeenTensor seen;
    const bool choosy = !request.nodes.empty() || request.rows;
    if (choosy && !analysis.hasRows(value))
        return base::fail(base::ErrorCode::Usage, ir::valueName(value) + " has no rows to choose from");
    if (!request.nodes.empty() && !isNodeTable(analysis, analysis.rowSpace(value)))
        return base::fail(base::ErrorCode::Usage,
                          ir::valueName(value) + " has no rows of nodes and is not computed in batches",
                          "choose rows by their numbers instead of nodes");
    const at::Tensor whole = loader::toTensor(view);
    const int dim = analysis.hasRows(value) ? analysis.rowDim(value) : -1;
    const at::Tensor table = dim < 0 ? whole : chosenRows(whole.movedim(dim, 0), request, seen);
    seen.table = analysis.rowSpace(value);
    seen.rows = loader::toView(table);
    seen.record.dtype = base::dtypeName(view.dtype);
    seen.record.shape = (dim < 0 ? table : table.movedim(0, dim)).sizes().vec();
    if (dim >= 0) seen.record.axis = dim;
    seen.record.count = table.dim() == 0 ? 1 : table.size(0);
    if (dim >= 0) seen.record.rows = "rows of " + analysis::tableLabel(analysis.tables, seen.table);
    seen.record.statistics = statisticsOf(table);
    return seen;
}

base::Result<SeenTensor> seeLeaf(const Subject& subject, ValueId id, const TensorRequest& request)
{
    const ir::Value& value = subject.analysis->program.value(id);
    std::optional<base::TensorView> view;
    if (value.origin != ir::Origin::Input) view = loader::leafTensor(*subject.walk, value);
    else if (const auto it = subject.inputs->find(value.name); it != subject.inputs->end()) view = it->second;
    if (!view) return base::fail(base::ErrorCode::Usage, ir::valueName(id) + " is not in the data");
    base::Result<SeenTensor> seen = seenWhole(*subject.analysis, id, *view, request);
    if (!seen) return seen;
    seen->record.place = leafRecord(*subject.analysis, value);
    seen->record.from = value.origin == ir::Origin::Input ? TensorOrigin::Input : TensorOrigin::Weight;
    return seen;
}

base::Result<SeenTensor> seeUnsplit(const Subject& subject, ValueId value, const TensorRequest& request,
                                    const Settings& settings, std::stop_token stop)
{
    if (settings.progress) settings.progress({"computing on whole tensors"});
    const Analysis& analysis = *subject.analysis;
    if (analysis.info(value).sparse)
        return base::fail(base::ErrorCode::Usage, ir::valueName(value) + " is a sparse matrix, not a tensor of rows");
    const auto found =
        executor::evaluateUnsplit(*subject.walk, analysis, *subject.inputs, {value}, settings.folder, std::move(stop));
    if (!found) return base::forward(found);
    base::Result<SeenTensor> seen = seenWhole(analysis, value, found->at(value), request);
    if (!seen) return seen;
    seen->record.place = recordOf(analysis, analysis.program.op(analysis.program.value(value).producer), value);
    seen->record.from = TensorOrigin::Unsplit;
    return seen;
}

// Nothing where no batch computes the value by itself.
base::Result<std::optional<SeenTensor>> seeStaged(const Subject& subject, const plan::Plan& plan, ValueId value,
                                                  const TensorRequest& request, const Settings& settings,
                                                  const std::stop_token& stop)
{
    Enough enough(stop);
    CaptureProbe probe(*subject.analysis, value, request, enough.source);
    const base::Status run = runProbed(subject, plan, *subject.inputs, probe, settings, enough.source.get_token());
    if (!run && (!probe.complete() || stop.stop_requested())) return base::forward(run);
    if (!probe.seen()) return std::nullopt;
    if (probe.empty())
        return base::fail(base::ErrorCode::Usage, "no batch computes " + ir::valueName(value) + " for " +
                                                      std::to_string(request.batchOf.value_or(-1)));
    return probe.take();
}

base::Result<SeenTensor> see(const Subject& subject, const plan::Plan& plan, const TensorRequest& request,
                             const Settings& settings, const std::stop_token& stop)
{
    const base::Result<ValueId> value = valueAt(*subject.analysis, request.place);
    if (!value) return base::forward(value);
    const Analysis& analysis = *subject.analysis;
    if (analysis.program.value(*value).origin != ir::Origin::Op) return seeLeaf(subject, *value, request);
    if (!analysis.available(*value) && analysis.hasRows(*value)) {
        auto staged = seeStaged(subject, plan, *value, request, settings, stop);
        if (!staged) return base::forward(staged);
        if (std::optional<SeenTensor>& found = *staged; found.has_value()) return std::move(*found);
    }
    return seeUnsplit(subject, *value, request, settings, stop);
}

base::Status write(const std::string& file, const at::Tensor& tensor)
{
    const base::TensorView view = loader::toView(tensor.contiguous());
    base::Result<graph::NpyWriter> writer = graph::NpyWriter::create(file, view.dtype, view.shape);
    if (!writer) return base::forward(writer);
    std::memcpy(writer->data(), view.data, static_cast<std::size_t>(view.bytes()));
    return writer->publish();
}

// The rows [begin, end); a tensor without dimensions becomes a single row.
at::Tensor tableOf(const SeenTensor& tensor, std::int64_t begin, std::int64_t end)
{
    const at::Tensor rows = loader::toTensor(tensor.rows);
    return (rows.dim() == 0 ? rows.unsqueeze(0) : rows).slice(0, begin, end);
}

}  // namespace

base::Result<SeenTensor> seeTensor(const Subject& subject, const plan::Plan& plan, const TensorRequest& request,
                                   const Settings& settings, std::stop_token stop)
{
    const auto start = std::chrono::steady_clock::now();
    const c10::InferenceMode inference;
    base::Result<SeenTensor> seen = see(subject, plan, request, settings, stop);
    if (seen) seen->record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return seen;
}

std::vector<std::byte> rowBytes(const SeenTensor& tensor, std::int64_t begin, std::int64_t end)
{
    const c10::InferenceMode inference;
    const at::Tensor rows = tableOf(tensor, begin, end).contiguous();
    std::vector<std::byte> bytes(rows.nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), rows.const_data_ptr(), bytes.size());
    return bytes;
}

base::Result<std::vector<schema::TensorRow>> shownRows(const Analysis& analysis, const SeenTensor& tensor,
                                                       std::int64_t begin, std::int64_t end, std::int64_t numbers,
                                                       executor::UnsplitValues& values)
{
    const c10::InferenceMode inference;
    const at::Tensor table = tableOf(tensor, begin, end);
    std::vector<schema::TensorRow> found;
    for (std::int64_t i = begin; i < std::min(end, tensor.record.count); ++i) {
        schema::TensorRow& row = found.emplace_back();
        row.row = tensor.numbers.empty() ? i : tensor.numbers[static_cast<std::size_t>(i)];
        if (tensor.table.valid()) {
            const auto input = values.inputRow(tensor.table, row.row);
            if (!input) return base::forward(input);
            row.table = analysis::tableLabel(analysis.tables, input->table);
            row.row = input->row;
            if (input->ends) row.ends = {input->ends->first, input->ends->second};
        }
        if (numbers == 0 || table.is_complex()) continue;
        const at::Tensor first = table[i - begin].reshape(-1).slice(0, 0, numbers).to(at::kDouble).contiguous();
        row.numbers.assign(first.const_data_ptr<double>(), first.const_data_ptr<double>() + first.numel());
    }
    return found;
}

base::Status saveTensor(const SeenTensor& tensor, const std::string& file)
{
    const c10::InferenceMode inference;
    const at::Tensor rows = loader::toTensor(tensor.rows);
    const int axis = tensor.record.axis.value_or(0);
    if (const base::Status done = write(file, axis == 0 ? rows : rows.movedim(0, axis)); !done) return done;
    if (tensor.numbers.empty()) return {};
    const std::string stem = file.ends_with(".npy") ? file.substr(0, file.size() - 4) : file;
    const base::Status numbered = write(stem + ".rows.npy", at::tensor(tensor.numbers, at::kLong));
    if (!numbered) std::remove(file.c_str());
    return numbered;
}

}  // namespace hopscope::debugger
