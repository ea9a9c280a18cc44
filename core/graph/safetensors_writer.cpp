#include <algorithm>
#include <cstring>
#include <tuple>

#include "graph/elements.h"
#include "graph/file.h"
#include "graph/safetensors.h"
#include "graph/safetensors_dtype.h"
#include "graph/strided.h"
#include "json/json.h"

namespace hopscope::graph {

namespace {

using base::ErrorCode;
using base::fail;

struct Placed {
    TensorSpec spec;
    std::int64_t begin = 0, end = 0;  // within the data section
};

using Layout = std::map<std::string, Placed>;

base::Status checkSpec(const TensorSpec& spec, const std::string& path)
{
    if (safetensorsCode(spec.dtype) == nullptr)
        return fail(ErrorCode::Usage,
                    path + ": .safetensors files cannot hold " + base::dtypeName(spec.dtype) + " (tensor '" +
                        spec.name + "')",
                    "write a .npy file");
    if (spec.name == "__metadata__") return fail(ErrorCode::Usage, path + ": the tensor name __metadata__ is reserved");
    return {};
}

std::vector<TensorSpec> fileOrder(std::vector<TensorSpec> tensors)
{
    std::sort(tensors.begin(), tensors.end(), [](const TensorSpec& a, const TensorSpec& b) {
        return std::make_tuple(base::itemSize(b.dtype), std::cref(a.name)) <
               std::make_tuple(base::itemSize(a.dtype), std::cref(b.name));
    });
    return tensors;
}

// Assigns offsets; the second member is the size of the data section.
base::Result<std::pair<Layout, std::int64_t>> placeTensors(const std::vector<TensorSpec>& tensors,
                                                           const std::string& path)
{
    Layout layout;
    std::int64_t at = 0;
    for (const TensorSpec& spec : fileOrder(tensors)) {
        if (auto checked = checkSpec(spec, path); !checked) return base::forward(checked);
        const auto bytes = checkedBytes(spec.dtype, spec.shape);
        std::int64_t end = 0;
        if (!bytes || __builtin_add_overflow(at, *bytes, &end))
            return fail(ErrorCode::Resources, path + ": tensor '" + spec.name + "' exceeds 64-bit sizes");
        if (!layout.emplace(spec.name, Placed{.spec = spec, .begin = at, .end = end}).second)
            return fail(ErrorCode::Usage, path + ": the tensor name '" + spec.name + "' is repeated");
        at = end;
    }
    return std::pair(std::move(layout), at);
}

// The length and the JSON header, padded so that the data starts at a multiple of 64 bytes.
std::string preamble(const Layout& layout)
{
    json::Value header = json::Value::object();
    for (const auto& [name, placed] : layout) {
        json::Value& record = header[name];
        record["dtype"] = safetensorsCode(placed.spec.dtype);
        record["shape"] = json::Value(placed.spec.shape);
        if (placed.spec.shape.empty()) record["shape"] = json::Value::array();
        record["data_offsets"] = json::Value(json::Array{placed.begin, placed.end});
    }
    std::string text = json::write(header);
    text.append((64 - (8 + text.size()) % 64) % 64, ' ');
    std::string result(8, '\0');
    const std::uint64_t size = text.size();
    std::memcpy(result.data(), &size, sizeof(size));
    return result + text;
}

}  // namespace

struct SafetensorsWriter::State {
    std::string path;
    Layout layout;
    std::int64_t dataStart = 0;
    NewFile file;
    std::shared_ptr<std::byte> mapping;

    [[nodiscard]] std::byte* at(const Placed& placed) const { return mapping.get() + dataStart + placed.begin; }
};

SafetensorsWriter::SafetensorsWriter(std::unique_ptr<State> state) : m_state(std::move(state)) {}
SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter& SafetensorsWriter::operator=(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter::~SafetensorsWriter() = default;

base::Result<SafetensorsWriter> SafetensorsWriter::create(const std::string& path,
                                                          const std::vector<TensorSpec>& tensors, Lasting lasting,
                                                          std::optional<NewFile> spare)
{
    auto placed = placeTensors(tensors, path);
    if (!placed) return base::forward(placed);
    const std::string head = preamble(placed->first);
    const auto start = static_cast<std::int64_t>(head.size());
    auto file = NewFile::reuse(std::move(spare), path, start + placed->second, lasting);
    if (!file) return base::forward(file);
    auto mapping = file->map();
    if (!mapping) return base::forward(mapping);
    if (auto written = file->write(0, head.data(), head.size()); !written) return base::forward(written);
    return SafetensorsWriter(std::make_unique<State>(State{.path = path,
                                                           .layout = std::move(placed->first),
                                                           .dataStart = start,
                                                           .file = std::move(*file),
                                                           .mapping = std::move(*mapping)}));
}

std::byte* SafetensorsWriter::data(const std::string& name) { return m_state->at(m_state->layout.at(name)); }

base::TensorView SafetensorsWriter::view(const std::string& name) const
{
    const Placed& placed = m_state->layout.at(name);
    const auto& shape = placed.spec.shape;
    return {.dtype = placed.spec.dtype,
            .shape = shape,
            .strides = base::contiguousStrides(shape),
            .data = m_state->at(placed),
            .owner = m_state->mapping,
            .origin = m_state->path + ":" + name};
}

base::Status SafetensorsWriter::put(const std::string& name, std::int64_t byteOffset, const void* bytes,
                                    std::size_t count) const
{
    return m_state->file.write(m_state->dataStart + m_state->layout.at(name).begin + byteOffset, bytes, count);
}

NewFile& SafetensorsWriter::file() { return m_state->file; }

base::Status SafetensorsWriter::publish(Flush flush) { return m_state->file.publish(flush); }

base::Status writeSafetensors(const std::string& path, const base::TensorMap& tensors, Flush flush)
{
    std::vector<TensorSpec> specs;
    for (const auto& [name, view] : tensors) specs.push_back({.name = name, .dtype = view.dtype, .shape = view.shape});
    auto writer = SafetensorsWriter::create(path, specs);
    if (!writer) return base::forward(writer);
    for (const auto& [name, view] : tensors) {
        std::int64_t offset = 0;
        base::Status written;
        forEachPiece(view,
                     [&, &key = name, size = base::itemSize(view.dtype)](const std::byte* bytes, std::int64_t count) {
                         if (written) written = writer->put(key, offset, bytes, static_cast<std::size_t>(count) * size);
                         offset += count * static_cast<std::int64_t>(size);
                     });
        if (!written) return written;
    }
    return writer->publish(flush);
}

}  // namespace hopscope::graph
