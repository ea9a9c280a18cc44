#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "protocol/tensor_rows.h"

using namespace hopscope;

namespace {

template <class T>
std::vector<std::byte> bytesOf(const std::vector<T>& numbers)
{
    std::vector<std::byte> bytes(numbers.size() * sizeof(T));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

protocol::TensorRows rows(base::DType dtype, std::vector<std::byte> bytes)
{
    return {.dtype = dtype,
            .begin = 4,
            .end = 6,
            .bytes = std::move(bytes),
            .names = {{"node", 4, {}}, {"edge_index", 9, {1, 2}}}};
}

}  // namespace

TEST_CASE("rows of every width of numbers come back as they were")
{
    const auto back = [](base::DType dtype, std::vector<std::byte> bytes) {
        return protocol::readTensorRows(protocol::writeTensorRows(rows(dtype, std::move(bytes)))).value();
    };
    const std::vector<double> wanted{1, -2, 3.5, 0};
    const auto floats = back(base::DType::Float32, bytesOf<float>({1, -2, 3.5F, 0}));
    CHECK(floats.numbers == wanted);
    CHECK((floats.begin == 4 && floats.end == 6 && floats.width == 2));
    CHECK(floats.names == rows(base::DType::Float32, {}).names);
    CHECK(back(base::DType::Float64, bytesOf<double>(wanted)).numbers == wanted);
    CHECK(back(base::DType::Float16, bytesOf<std::uint16_t>({0x3c00, 0xc000, 0x4300, 0})).numbers == wanted);
    CHECK(back(base::DType::BFloat16, bytesOf<std::uint16_t>({0x3f80, 0xc000, 0x4060, 0})).numbers == wanted);
    CHECK(back(base::DType::Int64, bytesOf<std::int64_t>({1, -2})).numbers == std::vector<double>{1, -2});
    CHECK(back(base::DType::Bool, bytesOf<std::uint8_t>({1, 0})).numbers == std::vector<double>{1, 0});
    CHECK(std::isinf(back(base::DType::Float16, bytesOf<std::uint16_t>({0x7c00, 0x7e00})).numbers[0]));
    CHECK(std::isnan(back(base::DType::Float16, bytesOf<std::uint16_t>({0x7c00, 0x7e00})).numbers[1]));
    CHECK(back(base::DType::Complex64, bytesOf<double>(wanted)).numbers.empty());
}

TEST_CASE("base64 is that of RFC 4648")
{
    const auto text = [](const std::string& plain) {
        return protocol::toBase64(bytesOf(std::vector<char>(plain.begin(), plain.end())));
    };
    CHECK(text("").empty());
    CHECK(text("f") == "Zg==");
    CHECK(text("fo") == "Zm8=");
    CHECK(text("foobar") == "Zm9vYmFy");
}

TEST_CASE("rows that cannot be are refused")
{
    const json::Value fine = protocol::writeTensorRows(rows(base::DType::Float32, bytesOf<float>({1, 2, 3, 4})));
    const auto refused = [&](const char* key, json::Value value) {
        json::Value changed = fine;
        changed[key] = std::move(value);
        return !protocol::readTensorRows(changed).has_value();
    };
    CHECK(protocol::readTensorRows(fine).has_value());
    CHECK(refused("dtype", "float33"));
    CHECK(refused("rows", "AAA"));
    CHECK(refused("rows", "!!!!"));
    CHECK(refused("end", 7));
    CHECK(refused("names", json::Value()));
}
