#include "graph/safetensors.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "graph/elements.h"
#include "graph/file.h"
#include "graph/safetensors_dtype.h"
#include "json/reader.h"

namespace hopscope::graph {

namespace {

constexpr std::int64_t kLargestHeader = 100'000'000;
constexpr std::int64_t kPrefix = 8;

tl::unexpected<base::Error> refuse(const std::string& path, std::int64_t offset, const std::string& why)
{
    const std::string at = std::to_string(offset);
    return base::fail(base::ErrorCode::Input, path + ": at byte " + at + ": " + why,
                      "the file is damaged or cut short: write it again", path + ":" + at);
}

struct Entry {
    std::string name;
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0, end = 0;  // within the data section
};

// Bytes of the JSON header.
base::Result<std::int64_t> headerSize(const MappedFile& file, const std::string& path)
{
    if (file.size < kPrefix) return refuse(path, file.size, "the file ends within the .safetensors header length");
    std::uint64_t size = 0;
    std::memcpy(&size, file.data, sizeof(size));
    if (size > static_cast<std::uint64_t>(kLargestHeader))
        return refuse(path, 0,
                      "the header length is " + std::to_string(size) + ", more than the limit of " +
                          std::to_string(kLargestHeader));
    if (static_cast<std::int64_t>(size) > file.size - kPrefix)
        return refuse(path, 0,
                      "the header length is " + std::to_string(size) + ", but the file ends at byte " +
                          std::to_string(file.size));
    return static_cast<std::int64_t>(size);
}

// Reads one tensor's record; problems go to the reader.
Entry readEntry(const std::string& name, const json::Reader& record)
{
    Entry entry{
        .name = name, .dtype = {}, .shape = record.get<std::vector<std::int64_t>>("shape"), .begin = 0, .end = 0};
    const auto code = record.get<std::string>("dtype");
    const auto offsets = record.get<std::vector<std::int64_t>>("data_offsets");
    if (!record.ok()) return entry;
    const auto dtype = safetensorsDType(code);
    if (!dtype) record.child("dtype").refuse("is '" + code + "', which is not supported");
    entry.dtype = dtype.value_or(base::DType::UInt8);
    if (offsets.size() != 2) record.child("data_offsets").refuse("must have two numbers");
    if (entry.shape.size() > 64) record.child("shape").refuse("has more than 64 dimensions");
    const bool negative = std::any_of(entry.shape.begin(), entry.shape.end(), [](std::int64_t n) { return n < 0; });
    if (negative) record.child("shape").refuse("has a negative extent");
    if (!record.ok()) return entry;
    entry.begin = offsets[0];
    entry.end = offsets[1];
    const auto bytes = checkedBytes(entry.dtype, entry.shape);
    if (!bytes) record.child("shape").refuse("exceeds 64-bit sizes");
    else if (entry.begin < 0 || entry.end < entry.begin || entry.end - entry.begin != *bytes)
        record.child("data_offsets")
            .refuse("spans [" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) +
                    "), but dtype and shape need this number of bytes: " + std::to_string(*bytes));
    return entry;
}

void checkMetadata(const json::Reader& record)
{
    for (const auto& [key, value] : record.members()) static_cast<void>(value.as<std::string>());
}

base::Result<std::vector<Entry>> readHeader(std::string_view text, const std::string& path)
{
    const auto parsed = json::parse(text, path, {static_cast<std::size_t>(kLargestHeader), 8});
    if (!parsed) {
        base::Error error = parsed.error();
        error.hint = "byte offsets count from the header, which starts at byte 8";
        return tl::unexpected<base::Error>(std::move(error));
    }
    const json::Reader root(*parsed, path);
    std::vector<Entry> entries;
    for (const auto& [name, record] : root.members()) {
        if (name == "__metadata__") checkMetadata(record);
        else entries.push_back(readEntry(name, record));
    }
    if (!root.ok()) return tl::unexpected<base::Error>(root.status().error());
    return entries;
}

// In file order, each tensor must begin where the one before it ends, and the last must end the file.
base::Status checkCoverage(const std::vector<Entry>& entries, std::int64_t dataStart, std::int64_t dataSize,
                           const std::string& path)
{
    std::int64_t expected = 0;
    for (const Entry& entry : entries) {
        if (entry.begin != expected)
            return refuse(path, dataStart + std::min(entry.begin, expected),
                          "tensor '" + entry.name + "', field data_offsets: begins at " + std::to_string(entry.begin) +
                              (entry.begin < expected ? ", overlapping" : ", leaving a gap after") +
                              " the data before it, which end at " + std::to_string(expected));
        expected = entry.end;
        if (entry.end > dataSize)
            return refuse(path, dataStart + dataSize,
                          "tensor '" + entry.name + "', field data_offsets: ends at " + std::to_string(entry.end) +
                              ", but the data of the file end at " + std::to_string(dataSize));
    }
    if (expected == dataSize) return {};
    return refuse(path, dataStart + expected, "bytes that belong to no tensor: " + std::to_string(dataSize - expected));
}

}  // namespace

base::Result<base::TensorMap> mapSafetensors(const std::string& path)
{
    const auto file = mapFile(path);
    if (!file) return base::forward(file);
    const auto size = headerSize(*file, path);
    if (!size) return base::forward(size);
    const char* const text = reinterpret_cast<const char*>(file->data) + kPrefix;
    auto entries = readHeader({text, static_cast<std::size_t>(*size)}, path);
    if (!entries) return base::forward(entries);
    std::sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    const std::int64_t start = kPrefix + *size;
    if (auto covered = checkCoverage(*entries, start, file->size - start, path); !covered)
        return base::forward(covered);
    base::TensorMap tensors;
    for (const Entry& entry : *entries) {
        auto view = viewElements(*file, start + entry.begin, {entry.dtype, entry.shape}, path + ":" + entry.name);
        if (!view) return base::forward(view);
        tensors.emplace(entry.name, std::move(*view));
    }
    return tensors;
}

}  // namespace hopscope::graph
