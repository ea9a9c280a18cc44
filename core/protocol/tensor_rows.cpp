#include "protocol/tensor_rows.h"

#include <array>
#include <cstring>

#include "base/half.h"
#include "protocol/forms.h"
#include "schema/described_document.h"

namespace hopscope::protocol {

namespace {

constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

template <class T>
double numberAt(const std::byte* bytes)
{
    T value;
    std::memcpy(&value, bytes, sizeof(value));
    return static_cast<double>(value);
}

template <class Half>
double halfAt(const std::byte* bytes)
{
    Half value;
    std::memcpy(&value, bytes, sizeof(value));
    return base::widen(value);
}

// By letter; 64: none.
std::array<std::uint8_t, 256> letterValues()
{
    std::array<std::uint8_t, 256> values{};
    values.fill(64);
    for (std::uint8_t i = 0; i < 64; ++i) values.at(static_cast<unsigned char>(letters[i])) = i;
    return values;
}

}  // namespace

std::string toBase64(const std::vector<std::byte>& bytes)
{
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < count; ++k) group |= std::to_integer<std::uint32_t>(bytes[i + k]) << (16 - 8 * k);
        for (std::size_t k = 0; k < 4; ++k) text += k <= count ? letters[group >> (18 - 6 * k) & 63U] : '=';
    }
    return text;
}

std::optional<std::vector<std::byte>> fromBase64(std::string_view text)
{
    static const std::array<std::uint8_t, 256> values = letterValues();
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    int filled = 0;
    for (const char letter : text) {
        const std::uint8_t value = values.at(static_cast<unsigned char>(letter));
        if (value == 64) return std::nullopt;
        bits = bits << 6 | value;
        filled += 6;
        if (filled < 8) continue;
        filled -= 8;
        bytes.push_back(static_cast<std::byte>(bits >> filled & 255U));
    }
    return bytes;
}

ReadNumber numberReader(base::DType dtype)
{
    switch (dtype) {
    case base::DType::Bool:
    case base::DType::UInt8: return numberAt<std::uint8_t>;
    case base::DType::Int8: return numberAt<std::int8_t>;
    case base::DType::Int16: return numberAt<std::int16_t>;
    case base::DType::UInt16: return numberAt<std::uint16_t>;
    case base::DType::Int32: return numberAt<std::int32_t>;
    case base::DType::UInt32: return numberAt<std::uint32_t>;
    case base::DType::Int64: return numberAt<std::int64_t>;
    case base::DType::UInt64: return numberAt<std::uint64_t>;
    case base::DType::Float16: return halfAt<base::Float16>;
    case base::DType::BFloat16: return halfAt<base::BFloat16>;
    case base::DType::Float32: return numberAt<float>;
    case base::DType::Float64: return numberAt<double>;
    default: return nullptr;
    }
}

json::Value writeTensorRows(const TensorRows& rows) { return json::written(rows); }

static void checkRead(const TensorRows& rows, const json::Reader& root)
{
    if (rows.end - rows.begin != std::ssize(rows.names)) root.child("names").refuse("must name each row");
}

base::Result<NumberRows> readTensorRows(const json::Value& answer)
{
    base::Result<TensorRows> rows = schema::readMessage<TensorRows>(answer, "debug/rows");
    if (!rows) return base::forward(rows);
    NumberRows found{.begin = rows->begin, .end = rows->end, .names = std::move(rows->names)};
    const ReadNumber read = numberReader(rows->dtype);
    const std::size_t size = base::itemSize(rows->dtype), count = found.names.size(), bytes = rows->bytes.size();
    if (count == 0 || read == nullptr) return found;
    found.width = bytes / size / count;
    if (found.width * size * count != bytes)
        return base::fail(base::ErrorCode::Input, "the bytes of the tensor are not a whole number of rows");
    found.numbers.resize(found.width * count);
    for (std::size_t i = 0; i < found.numbers.size(); ++i) found.numbers[i] = read(rows->bytes.data() + i * size);
    return found;
}

}  // namespace hopscope::protocol
