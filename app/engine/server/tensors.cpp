// debug/tensor, debug/rows and debug/save.

#include "protocol/tensor_rows.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostKept = 4;
constexpr std::int64_t mostRows = 4096, mostBytes = 4 << 20;  // per answer

debugger::TensorRequest requestFrom(const json::Reader& params)
{
    debugger::TensorRequest request;
    request.place = params.get<std::string>("value");
    request.nodes = params.maybe<std::vector<std::int64_t>>("nodes").value_or(request.nodes);
    request.batchOf = params.maybe<std::int64_t>("batch_of");
    if (!params.has("rows")) return request;
    const auto rows = params.get<std::vector<std::int64_t>>("rows");
    if (rows.size() == 2 && rows[0] >= 0 && rows[0] < rows[1]) request.rows = {rows[0], rows[1]};
    else params.child("rows").refuse("must be two numbers, the first and the one behind the last");
    return request;
}

// Null, with the reader refused, if "tensor" names none that is kept.
std::shared_ptr<const debugger::SeenTensor> find(const Document& document, const json::Reader& params)
{
    const auto found = document.seen.byNumber.find(params.get<std::int64_t>("tensor"));
    if (found != document.seen.byNumber.end()) return found->second;
    params.child("tensor").refuse("is not one of the last tensors of this model");
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

Range rangeOf(const json::Reader& params, const debugger::SeenTensor& tensor)
{
    Range range{params.get<std::int64_t>("begin"), params.get<std::int64_t>("end")};
    if (params.ok() && range.begin < 0) params.child("begin").refuse("must not be negative");
    if (params.ok() && range.end < range.begin) params.child("end").refuse("must not be before begin");
    const std::int64_t count = tensor.record.count;
    range = {std::min(range.begin, count), std::min(range.end, count)};
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

Outcome lookAtTensor(Document& document, const json::Reader& params, const std::string& folder, const Call& call)
{
    const debugger::TensorRequest request = requestFrom(params);
    const pipeline::DebugOptions options = debugOptionsOf(params);
    const base::Result<plan::Plan> plan = debugPlanOf(document, params);
    if (!params.ok()) return invalid(params);
    if (!plan) return failed(plan.error());
    RequestReporter reporter(call.progress);
    base::Result<debugger::SeenTensor> seen =
        pipeline::seeTensor(document.prepared, *plan, request, options, folder, reporter, call.stop);
    if (!seen) return failed(seen.error());
    return keepTensor(document, std::move(*seen));
}

Outcome tensorRows(Document& document, const json::Reader& params, const std::string& folder, const Call&)
{
    const auto tensor = find(document, params);
    if (!tensor) return invalid(params);
    const Range range = rangeOf(params, *tensor);
    if (!params.ok()) return invalid(params);
    const base::Result<executor::UnsplitValues*> tables = tablesOf(document, folder);
    if (!tables) return failed(tables.error());
    const auto names = debugger::shownRows(document.prepared.analysis, *tensor, range.begin, range.end, 0, **tables);
    if (!names) return failed(names.error());
    protocol::TensorRows rows{.dtype = tensor->rows.dtype, .begin = range.begin, .end = range.end};
    rows.bytes = debugger::rowBytes(*tensor, range.begin, range.end);
    for (const schema::TensorRow& name : *names) rows.names.push_back({name.table, name.row, name.ends});
    return protocol::writeTensorRows(rows);
}

Outcome saveTensor(Document& document, const json::Reader& params, const std::string&, const Call&)
{
    const auto tensor = find(document, params);
    const auto file = params.get<std::string>("file");
    if (params.ok() && !file.ends_with(".npy")) params.child("file").refuse("must end with .npy");
    if (!params.ok()) return invalid(params);
    if (const base::Status saved = debugger::saveTensor(*tensor, file); !saved) return failed(saved.error());
    json::Value answer;
    answer["file"] = file;
    return answer;
}

}  // namespace hopscope::engine
