#include "pipeline/running/chunk_lines.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "pipeline/files/output_folder.h"
#include "schema/names.h"
#include "schema/report.h"
#include "schema/stages.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::pipeline {

namespace {

using executor::Chunk;
using executor::ChunkRows;

constexpr std::size_t digestLength = 32;

std::string digestOf(std::string_view text) { return graph::digestOf(text.data(), text.size()).hex(); }

json::Value rowsValue(const ChunkRows& rows)
{
    json::Value item;
    item["value"] = ir::valueName(rows.value);
    item["digest"] = rows.digest;
    if (!rows.lost) return item;
    item["lost"]["max_abs"] = rows.lost->maxAbsolute;
    item["lost"]["largest"] = rows.lost->largest;
    item["lost"]["infinite"] = rows.lost->infinite;
    return item;
}

ChunkRows rowsFrom(const json::Reader& item)
{
    ChunkRows rows{
        .value = schema::readValue(item.child("value")), .digest = item.get<std::string>("digest"), .lost = {}};
    if (!item.has("lost")) return rows;
    const json::Reader lost = item.child("lost");
    rows.lost = {.maxAbsolute = lost.get<double>("max_abs"),
                 .largest = lost.get<double>("largest"),
                 .infinite = lost.get<std::int64_t>("infinite")};
    return rows;
}

json::Value chunkValue(const Chunk& chunk)
{
    json::Value item;
    item["stage"] = chunk.stage.number;
    item["loop"] = chunk.loop;
    item["first"] = chunk.first;
    item["count"] = chunk.count;
    item["tile"] = chunk.tile;
    item["rows"] = json::Value::array();
    for (const ChunkRows& rows : chunk.rows) item["rows"].push(rowsValue(rows));
    if (!chunk.totals.empty()) item["totals"] = chunk.totals;
    if (!chunk.parts.empty()) item["parts"] = chunk.parts;
    item["batches"] = chunk.batches;
    item["smallest_batch"] = chunk.smallest;
    item["largest_batch"] = chunk.largest;
    item["edges"] = chunk.edges;
    item["frontier_rows"] = chunk.frontier;
    item["bytes"] = schema::bytesValue(chunk.bytes);
    return item;
}

Chunk chunkFrom(const json::Reader& item)
{
    Chunk chunk;
    chunk.stage = schema::readStage(item.child("stage"));
    chunk.loop = item.get<int>("loop");
    chunk.first = item.get<std::int64_t>("first");
    chunk.count = item.get<std::int64_t>("count");
    chunk.tile = item.get<std::int64_t>("tile");
    for (const json::Reader& rows : item.items("rows")) chunk.rows.push_back(rowsFrom(rows));
    chunk.totals = item.maybe<std::string>("totals").value_or("");
    chunk.parts = item.maybe<std::string>("parts").value_or("");
    chunk.batches = item.get<std::int64_t>("batches");
    chunk.smallest = item.get<std::int64_t>("smallest_batch");
    chunk.largest = item.get<std::int64_t>("largest_batch");
    chunk.edges = item.get<std::int64_t>("edges");
    chunk.frontier = item.get<std::int64_t>("frontier_rows");
    chunk.bytes = schema::readBytes(item.child("bytes"));
    return chunk;
}

// The value in a line, unless the line is damaged.
std::optional<json::Value> valueOf(std::string_view line)
{
    if (line.size() < digestLength + 1 || line[digestLength] != ' ') return std::nullopt;
    const std::string_view text = line.substr(digestLength + 1);
    if (line.substr(0, digestLength) != digestOf(text)) return std::nullopt;
    base::Result<json::Value> value = json::parse(text, chunksName);
    return value ? std::optional(std::move(*value)) : std::nullopt;
}

std::optional<Chunk> chunkOf(const json::Reader& reader)
{
    Chunk chunk = chunkFrom(reader);
    if (!reader.ok() || chunk.count < 1 || chunk.tile < 1 || chunk.first < 0) return std::nullopt;
    if (chunk.first > std::numeric_limits<std::int64_t>::max() - chunk.count) return std::nullopt;
    return chunk;
}

void read(ChunkLines& lines, std::string_view line, std::size_t end)
{
    const std::optional<json::Value> value = valueOf(line);
    if (!value) return;
    const json::Reader reader(*value, chunksName);
    if (reader.has("settled")) {
        lines.settled = std::max(lines.settled, reader.maybe<std::int64_t>("settled").value_or(0));
        return;
    }
    std::optional<Chunk> chunk = chunkOf(reader);
    if (!chunk) return;
    lines.chunks.push_back(std::move(*chunk));
    lines.ends.push_back(end);
}

std::string lineOf(const json::Value& value)
{
    const std::string text = json::write(value);
    return digestOf(text) + " " + text + "\n";
}

}  // namespace

std::string chunkLine(const Chunk& chunk) { return lineOf(chunkValue(chunk)); }

std::string settledLine(std::int64_t end)
{
    json::Value item;
    item["settled"] = end;
    return lineOf(item);
}

ChunkLines readChunkLines(std::string_view text)
{
    ChunkLines lines;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', lines.end)) {
        read(lines, text.substr(lines.end, end - lines.end), end + 1);
        lines.end = end + 1;
    }
    return lines;
}

}  // namespace hopscope::pipeline
