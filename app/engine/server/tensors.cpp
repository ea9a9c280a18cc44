// debug/tensor, debug/rows and debug/save.

#include "protocol/tensor_rows.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostKept = 4;
constexpr std::int64_t mostRows = 4096, mostBytes = 4 << 20;  // per answer

debugger::TensorRequest requestOf(const protocol::SeeTensor& query)
{
    debugger::TensorRequest request;
    request.place = query.value;
    request.nodes = query.nodes.value_or(request.nodes);
    request.batchOf = query.batchOf;
    if (query.rows) request.rows = {query.rows->front(), query.rows->back()};
    return request;
}

// Null, with the reader refused, if none of this number is kept.
std::shared_ptr<const debugger::SeenTensor> find(const protocol::OfTensor& query, const Work& work)
{
    const SeenTensors& all = work.document.seen;
    const auto found = all.byNumber.find(query.tensor);
    if (found != all.byNumber.end()) return found->second;
    work.params.child("tensor").refuse("is not one of the last tensors of this model");
    return nullptr;
}

base::Result<executor::UnsplitValues*> tablesOf(Document& document, const std::string& folder)
{
    SeenTensors& all = document.seen;
    if (all.tables) return all.tables.get();
    base::Result<executor::UnsplitValues> made = pipeline::tablesOf(document.prepared, folder);
    if (!made) return base::forward(made);
    all.tables = std::make_unique<executor::UnsplitValues>(std::move(*made));
    return all.tables.get();
}

struct Range {
    std::int64_t begin = 0, end = 0;
};

Range rangeOf(const protocol::ReadRows& query, const debugger::SeenTensor& tensor, const json::Reader& params)
{
    const std::int64_t count = tensor.record.count;
    const Range range{std::min(query.begin, count), std::min(query.end, count)};
    const std::int64_t row = count > 0 ? tensor.rows.bytes() / count : 0;
    if (range.end - range.begin > mostRows || (range.end - range.begin) * row > mostBytes)
        params.child("end").refuse("asks for more than 4,096 rows or 4 MiB at a time");
    return range;
}

}  // namespace

json::Value keepTensor(Document& document, debugger::SeenTensor seen)
{
    SeenTensors& all = document.seen;
    const std::int64_t number = all.next++;
    seen.record.tensor = number;
    json::Value answer = schema::tensorValue(seen.record);
    all.byNumber[number] = std::make_shared<const debugger::SeenTensor>(std::move(seen));
    while (all.byNumber.size() > mostKept) all.byNumber.erase(all.byNumber.begin());
    return answer;
}

Outcome answer(const protocol::SeeTensor& query, const Work& work)
{
    const base::Result<plan::Plan> plan = planOf(work.document, query.plan);
    if (!plan) return failed(plan.error());
    pipeline::DebugOptions options;
    options.batch = query.batch;
    RequestReporter reporter(work.call.progress);
    base::Result<debugger::SeenTensor> seen = pipeline::seeTensor(work.document.prepared, *plan, requestOf(query),
                                                                  options, work.folder, reporter, work.call.stop);
    if (!seen) return failed(seen.error());
    return keepTensor(work.document, std::move(*seen));
}

Outcome answer(const protocol::ReadRows& query, const Work& work)
{
    const auto tensor = find(query, work);
    if (!tensor) return invalid(work.params);
    const Range range = rangeOf(query, *tensor, work.params);
    if (!work.params.ok()) return invalid(work.params);
    const base::Result<executor::UnsplitValues*> tables = tablesOf(work.document, work.folder);
    if (!tables) return failed(tables.error());
    const analysis::Analysis& analysis = work.document.prepared.analysis;
    const auto names = debugger::shownRows(analysis, *tensor, range.begin, range.end, 0, **tables);
    if (!names) return failed(names.error());
    protocol::TensorRows rows{.dtype = tensor->rows.dtype, .begin = range.begin, .end = range.end};
    rows.bytes = debugger::rowBytes(*tensor, range.begin, range.end);
    for (const schema::TensorRow& name : *names) rows.names.push_back({name.table, name.row, name.ends});
    return protocol::writeTensorRows(rows);
}

Outcome answer(const protocol::SaveTensor& query, const Work& work)
{
    const auto tensor = find(query, work);
    if (!tensor) return invalid(work.params);
    if (const base::Status saved = debugger::saveTensor(*tensor, query.file); !saved) return failed(saved.error());
    return protocol::answerValue(protocol::SavedTensor{.file = query.file});
}

}  // namespace hopscope::engine
