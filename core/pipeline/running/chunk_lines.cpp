#include "pipeline/running/chunk_lines.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/describe.h"
#include "pipeline/files/output_folder.h"
#include "schema/forms.h"

// Tables of structs of the executor, which reads and writes no JSON.
namespace hopscope::executor {

template <std::same_as<Rounding> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("max_abs", &T::maxAbsolute, ""), field("largest", &T::largest, ""),
                           field("infinite", &T::infinite, ""));
}

template <std::same_as<ChunkRows> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("value", &T::value, ""), field("digest", &T::digest, ""),
                           field("lost", &T::lost, "", base::Presence::WhenSet));
}

template <std::same_as<Chunk> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Within;
    const auto file = [](const char* name, std::string T::*member) {
        return field(name, member, "", base::Presence::WhenSet, base::Null::IsDefault);
    };
    return base::described(
        "", field("stage", &T::stage, ""), field("loop", &T::loop, ""), field("first", &T::first, "", Within{0}),
        field("count", &T::count, "", Within{1}), field("tile", &T::tile, "", Within{1}), field("rows", &T::rows, ""),
        file("totals", &T::totals), file("parts", &T::parts), field("batches", &T::batches, ""),
        field("smallest_batch", &T::smallest, ""), field("largest_batch", &T::largest, ""),
        field("edges", &T::edges, ""), field("frontier_rows", &T::frontier, ""), field("bytes", &T::bytes, ""));
}

}  // namespace hopscope::executor

namespace hopscope::pipeline {

namespace {

using executor::Chunk;

constexpr std::size_t digestLength = 32;

std::string digestOf(std::string_view text) { return graph::digestOf(text.data(), text.size()).hex(); }

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
    Chunk chunk = json::readAs<Chunk>(reader);
    if (!reader.ok()) return std::nullopt;
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

std::string chunkLine(const Chunk& chunk) { return lineOf(json::written(chunk)); }

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
