#include "loader/exported/weights.h"

#include <cstring>
#include <utility>

namespace hopscope::loader::exported {

namespace {

using base::ErrorCode;

constexpr std::size_t mostJson = std::size_t{512} << 20;
constexpr std::int64_t mostElements = std::int64_t{1} << 48;

constexpr std::pair<std::int64_t, at::ScalarType> scalarTypes[] = {{1, at::kByte},
                                                                   {2, at::kChar},
                                                                   {3, at::kShort},
                                                                   {4, at::kInt},
                                                                   {5, at::kLong},
                                                                   {6, at::kHalf},
                                                                   {7, at::kFloat},
                                                                   {8, at::kDouble},
                                                                   {9, at::kComplexHalf},
                                                                   {10, at::kComplexFloat},
                                                                   {11, at::kComplexDouble},
                                                                   {12, at::kBool},
                                                                   {13, at::kBFloat16},
                                                                   {28, at::kUInt16},
                                                                   {29, at::kFloat8_e4m3fn},
                                                                   {30, at::kFloat8_e5m2},
                                                                   {31, at::kFloat8_e4m3fnuz},
                                                                   {32, at::kFloat8_e5m2fnuz},
                                                                   {34, at::kUInt32},
                                                                   {35, at::kUInt64}};
constexpr std::pair<std::int64_t, at::Layout> layouts[] = {
    {1, at::kSparse},    {2, at::kSparseCsr}, {3, at::kSparseCsc}, {4, at::kSparseBsr},
    {5, at::kSparseBsc}, {6, at::kMkldnn},    {7, at::kStrided}};
constexpr std::pair<std::int64_t, at::MemoryFormat> memoryFormats[] = {{1, at::MemoryFormat::Contiguous},
                                                                       {2, at::MemoryFormat::ChannelsLast},
                                                                       {3, at::MemoryFormat::ChannelsLast3d},
                                                                       {4, at::MemoryFormat::Preserve}};

template <class T, std::size_t N>
T named(const std::pair<std::int64_t, T> (&table)[N], const json::Reader& number, const char* what)
{
    const auto value = number.as<std::int64_t>();
    check(number);
    for (const auto& [code, result] : table)
        if (code == value) return result;
    number.refuse("is " + std::to_string(value) + ", which is no " + what);
    check(number);
    return T{};
}

std::int64_t sizeOf(const json::Reader& size)
{
    const Union value = unionOf(size);
    const auto number = value.kind == "as_int" ? value.value.as<std::int64_t>() : -1;
    check(value.value);
    if (number < 0 || number > mostElements) size.refuse("is not a size, stride or offset of a stored tensor");
    check(size);
    return number;
}

std::vector<std::int64_t> sizesOf(const json::Reader& meta, const char* key)
{
    std::vector<std::int64_t> sizes;
    for (const json::Reader& size : items(meta, key)) sizes.push_back(sizeOf(size));
    return sizes;
}

// The number of elements from the start of the storage to the end of the tensor; -1 if there is no such tensor.
std::int64_t extentOf(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                      std::int64_t offset)
{
    std::int64_t last = offset;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 0) return 0;
        std::int64_t step = 0;
        if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last))
            return -1;
    }
    return last < mostElements ? last + 1 : -1;
}

}  // namespace

at::ScalarType scalarTypeOf(const json::Reader& number) { return named(scalarTypes, number, "type of numbers"); }
at::Layout layoutOf(const json::Reader& number) { return named(layouts, number, "layout of a tensor"); }
at::MemoryFormat memoryFormatOf(const json::Reader& number) { return named(memoryFormats, number, "memory format"); }

json::Value readJson(const Archived& file, const std::string& member)
{
    const Record* const record = file.archive.find(member);
    if (record == nullptr) refuse(ErrorCode::Input, file.path + " has no member " + member, damagedHint, file.path);
    const base::Result<std::string> bytes = readRecord(file.bytes, *record);
    if (!bytes) throw Refusal{bytes.error()};
    base::Result<json::Value> value = json::parse(*bytes, file.path + ": " + member, {.bytes = mostJson});
    if (!value) throw Refusal{value.error()};
    return std::move(*value);
}

void Weights::add(const std::string& table, const std::string& folder)
{
    const json::Value root = readJson(m_file, table);
    for (const auto& [name, entry] : members(child(json::Reader(root, m_file.path + ": " + table), "config"))) {
        const bool pickled = entry.get<bool>("use_pickle");
        check(entry);
        if (pickled) m_pickled.insert(name);
        else m_tensors[name] = viewOf(child(entry, "tensor_meta"), folder + text(entry, "path_name"), name);
    }
}

const at::Tensor& Weights::named(const std::string& name) const
{
    const auto it = m_tensors.find(name);
    if (it != m_tensors.end()) return it->second;
    if (m_pickled.contains(name))
        refuse(ErrorCode::Unsupported, m_file.path + ": '" + name + "' is stored as a pickle, which is a program",
               "save the program with plain tensors, without tensor subclasses and custom objects", name);
    refuse(ErrorCode::Input, m_file.path + " has no tensor '" + name + "'", damagedHint, name);
}

at::Tensor Weights::viewOf(const json::Reader& meta, const std::string& record, const std::string& name)
{
    const at::ScalarType type = scalarTypeOf(child(meta, "dtype"));
    const std::vector<std::int64_t> sizes = sizesOf(meta, "sizes"), strides = sizesOf(meta, "strides");
    const std::int64_t offset = sizeOf(child(meta, "storage_offset"));
    if (layoutOf(child(meta, "layout")) != at::kStrided || strides.size() != sizes.size())
        refuse(ErrorCode::Unsupported, m_file.path + ": '" + name + "' is not a strided tensor",
               "give sparse matrices to forward as arguments, or store their parts", name);
    const at::Tensor& bytes = bytesOf(record, name);
    const auto itemSize = static_cast<std::int64_t>(c10::elementSize(type));
    const std::int64_t extent = extentOf(sizes, strides, offset);
    if (extent < 0 || extent > bytes.numel() / itemSize)
        refuse(ErrorCode::Input, m_file.path + ": '" + name + "' does not fit into " + record, damagedHint, name);
    const std::string place = c10::str(record, " ", type, " ", sizes, " ", strides, " ", offset);
    at::Tensor& view = m_views[place];
    if (!view.defined()) {
        view = at::empty({0}, at::TensorOptions(type));
        view.set_(bytes.storage(), extent > 0 ? offset : 0, sizes, strides);
    }
    return view;
}

const at::Tensor& Weights::bytesOf(const std::string& record, const std::string& name)
{
    at::Tensor& bytes = m_records[record];
    if (bytes.defined()) return bytes;
    const Record* const stored = m_file.archive.find(record);
    if (stored == nullptr)
        refuse(ErrorCode::Input, m_file.path + " has no member " + record + " for '" + name + "'", damagedHint, name);
    bytes = at::empty({static_cast<std::int64_t>(stored->size)}, at::TensorOptions(at::kByte));
    if (!stored->deflated) {  // its checksum has been compared
        std::memcpy(bytes.mutable_data_ptr(), m_file.bytes.data() + stored->data, stored->size);
        return bytes;
    }
    const base::Result<std::string> content = readRecord(m_file.bytes, *stored);
    if (!content) throw Refusal{content.error()};
    std::memcpy(bytes.mutable_data_ptr(), content->data(), content->size());
    return bytes;
}

}  // namespace hopscope::loader::exported
