#include "server/exchange.h"

#include <algorithm>

#include "pipeline/chunk_lines.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using json::Value;

constexpr int mostOwners = 4096;

Value parcelsValue(const std::vector<executor::WantedRows>& parcels)
{
    Value items = Value::array();
    for (const executor::WantedRows& rows : parcels) {
        Value item;
        item["value"] = rows.value.index;
        item["stage"] = rows.stage.number;
        item["from"] = rows.from;
        item["rows"] = rows.rows;
        item["bytes"] = rows.bytes;
        item["list"] = rows.list;
        items.push(item);
    }
    return items;
}

}  // namespace

std::optional<executor::Ownership> ownerOf(const Reader& params)
{
    if (!params.has("owner")) return std::nullopt;
    const Reader item = params.child("owner");
    const executor::Ownership owner{item.get<int>("index"), item.get<int>("count")};
    if (params.ok() && (owner.count < 1 || owner.count > mostOwners || owner.index < 0 || owner.index > owner.count))
        item.refuse("must be 0 to `count`, of at most 4096");
    return owner;
}

std::map<std::string, std::string> begunOf(const Reader& params)
{
    if (!params.has("begun")) return {};
    const Reader item = params.child("begun");
    return {{"plan.json", item.get<std::string>("plan")}, {"run.json", item.get<std::string>("run")}};
}

executor::RowParcel parcelOf(const Reader& params, bool digest)
{
    executor::RowParcel parcel;
    parcel.value = ir::ValueId(params.get<int>("value"));
    parcel.list = params.get<std::string>("list");
    parcel.file = params.get<std::string>("file");
    if (digest && !params.maybe<bool>("own").value_or(false)) parcel.digest = params.get<std::string>("digest");
    return parcel;
}

std::vector<executor::Chunk> recordsOf(const Reader& params)
{
    const std::string text = params.get<std::string>("records");
    pipeline::ChunkLines lines = pipeline::readChunkLines(text);
    const auto expected = std::ranges::count(text, '\n');
    if (params.ok() && static_cast<std::ptrdiff_t>(lines.chunks.size()) != expected)
        params.child("records").refuse("has lines that are damaged");
    return std::move(lines.chunks);
}

Value wantedValue(const executor::Exchanged& result)
{
    Value answer;
    answer["parcels"] = parcelsValue(result.wanted);
    answer["own"] = parcelsValue(result.own);
    answer["hears"] = Value::array();
    for (const plan::StageId stage : result.hears) answer["hears"].push(stage.number);
    return answer;
}

Value parcelValue(const executor::Exchanged& result)
{
    Value answer;
    answer["rows"] = result.parcel.rows;
    answer["bytes"] = result.parcel.bytes;
    answer["digest"] = result.parcel.digest;
    return answer;
}

Value recordsValue(const executor::Exchanged& result)
{
    Value answer;
    std::string text;
    answer["files"] = Value::array();
    for (const executor::Chunk& chunk : result.chunks) {
        text += pipeline::chunkLine(chunk);
        if (!chunk.parts.empty()) answer["files"].push(chunk.parts);
    }
    answer["records"] = text;
    return answer;
}

}  // namespace hopscope::engine
