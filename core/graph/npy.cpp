#include "graph/npy.h"

#include <cstring>

#include "graph/elements.h"
#include "graph/npy_header.h"

namespace hopscope::graph {

namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kLargestHeader = 1 << 20;

tl::unexpected<base::Error> refuse(const std::string& path, std::int64_t offset, const std::string& why)
{
    const std::string at = std::to_string(offset);
    return fail(ErrorCode::Input, path + ": at byte " + at + ": " + why,
                "the file is damaged or cut short: write it again with numpy.save", path + ":" + at);
}

std::uint32_t littleEndian(const std::byte* bytes, int count)
{
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
    return value;
}

struct Extent {
    std::int64_t begin = 0, size = 0;
};

// Where the dictionary lies.
base::Result<Extent> headerExtent(const MappedFile& file, const std::string& path)
{
    if (file.size < 10) return refuse(path, file.size, "the file ends within the .npy preamble");
    if (std::memcmp(file.data, "\x93NUMPY", 6) != 0) return refuse(path, 0, "the file is not a .npy file");
    const int major = std::to_integer<int>(file.data[6]), minor = std::to_integer<int>(file.data[7]);
    if (major < 1 || major > 3 || minor != 0)
        return refuse(path, 6,
                      "format version " + std::to_string(major) + "." + std::to_string(minor) + " is not known");
    const int width = major == 1 ? 2 : 4;
    if (file.size < 8 + width) return refuse(path, file.size, "the file ends within the .npy preamble");
    const Extent header{8 + width, littleEndian(file.data + 8, width)};
    if (header.size > kLargestHeader)
        return refuse(path, 8,
                      "the header length is " + std::to_string(header.size) + ", more than the limit of " +
                          std::to_string(kLargestHeader));
    if (header.begin + header.size > file.size)
        return refuse(path, 8,
                      "the header length is " + std::to_string(header.size) + ", but the file ends at byte " +
                          std::to_string(file.size));
    return header;
}

base::Status checkSize(const NpyHeader& header, std::int64_t offset, std::int64_t size, const std::string& path)
{
    const auto bytes = checkedBytes(header.dtype, header.shape);
    if (!bytes) return refuse(path, offset, "field 'shape': the array exceeds 64-bit sizes");
    if (*bytes == size - offset) return {};
    return refuse(path, offset,
                  "field 'shape' needs this number of bytes: " + std::to_string(*bytes) + ", but " +
                      std::to_string(size - offset) + " follow the header");
}

}  // namespace

base::Result<base::TensorView> mapNpy(const std::string& path)
{
    const auto file = mapFile(path);
    if (!file) return base::forward(file);
    const auto extent = headerExtent(*file, path);
    if (!extent) return base::forward(extent);
    const std::string_view text(reinterpret_cast<const char*>(file->data) + extent->begin,
                                static_cast<std::size_t>(extent->size));
    const auto header = parseNpyHeader(text, extent->begin, path);
    if (!header) return base::forward(header);
    const std::int64_t offset = extent->begin + extent->size;
    if (auto sized = checkSize(*header, offset, file->size, path); !sized) return base::forward(sized);
    return viewElements(*file, offset,
                        {.dtype = header->dtype,
                         .shape = header->shape,
                         .fortran = header->fortranOrder,
                         .bigEndian = header->bigEndian},
                        path);
}

struct NpyWriter::State {
    NewFile file;
    std::int64_t start = 0;  // of the elements within the file
    std::byte* data = nullptr;
    base::TensorView view;
};

NpyWriter::NpyWriter(std::unique_ptr<State> state) : m_state(std::move(state)) {}
NpyWriter::NpyWriter(NpyWriter&&) noexcept = default;
NpyWriter& NpyWriter::operator=(NpyWriter&&) noexcept = default;
NpyWriter::~NpyWriter() = default;

base::Result<NpyWriter> NpyWriter::create(const std::string& path, base::DType dtype, std::vector<std::int64_t> shape,
                                          Lasting lasting, std::optional<NewFile> spare)
{
    const std::string preamble = npyPreamble(dtype, shape);
    if (preamble.empty())
        return fail(ErrorCode::Usage, path + ": .npy files cannot hold " + base::dtypeName(dtype),
                    "write a .safetensors file");
    const auto bytes = checkedBytes(dtype, shape);
    const auto start = static_cast<std::int64_t>(preamble.size());
    std::int64_t size = 0;
    if (!bytes || __builtin_add_overflow(*bytes, start, &size))
        return fail(ErrorCode::Resources, path + ": the array exceeds 64-bit sizes");
    auto file = NewFile::reuse(std::move(spare), path, size, lasting);
    if (!file) return base::forward(file);
    auto mapped = file->map();
    if (!mapped) return base::forward(mapped);
    // Not through the mapping: its first fault would make a large page of the file, and clear it.
    if (const base::Status put = file->write(0, preamble.data(), preamble.size()); !put) return base::forward(put);
    std::byte* const data = mapped->get() + start;
    auto strides = base::contiguousStrides(shape);
    base::TensorView view{.dtype = dtype,
                          .shape = std::move(shape),
                          .strides = std::move(strides),
                          .data = data,
                          .owner = *mapped,
                          .origin = path};
    return NpyWriter(std::make_unique<State>(
        State{.file = std::move(*file), .start = start, .data = data, .view = std::move(view)}));
}

std::byte* NpyWriter::data() { return m_state->data; }
const base::TensorView& NpyWriter::view() const { return m_state->view; }

base::Status NpyWriter::put(std::int64_t byteOffset, const void* bytes, std::size_t count) const
{
    return m_state->file.write(m_state->start + byteOffset, bytes, count);
}

NewFile& NpyWriter::file() { return m_state->file; }

base::Status NpyWriter::publish() { return m_state->file.publish(); }

}  // namespace hopscope::graph
