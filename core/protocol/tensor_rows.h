#pragma once

// Rows of a tensor that the engine sends to a client: their bytes in base64, and the name of each row.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "base/tensor.h"
#include "json/json.h"

namespace hopscope::protocol {

std::string toBase64(const std::vector<std::byte>& bytes);
// Returns nullopt if the text has a character that is not base64. Padding may be missing.
std::optional<std::vector<std::byte>> fromBase64(std::string_view text);

// Reads a number of some dtype as double.
using ReadNumber = double (*)(const std::byte*);
// Returns null for complex dtypes.
ReadNumber numberReader(base::DType dtype);

// The readable name of a row: its table, its number and, for an edge, its two ends.
struct RowName {
    std::string table;
    std::int64_t row = 0;
    std::vector<std::int64_t> ends{};  // from, to
    bool operator==(const RowName&) const = default;
};
template <std::same_as<RowName> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("table", &T::table, ""), field("row", &T::row, ""), field("ends", &T::ends, ""));
}

struct TensorRows {
    base::DType dtype = base::DType::Float32;
    std::int64_t begin = 0, end = 0;  // positions within the tensor, not row numbers
    std::vector<std::byte> bytes{};   // C order
    std::vector<RowName> names{};     // one for each row
};
template <std::same_as<TensorRows> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "", field("dtype", &T::dtype, ""), field("begin", &T::begin, "of the rows that exist"),
        field("end", &T::end, "of the rows that exist"),
        field("rows", &T::bytes, "base64 of little-endian bytes in C order; at most 4,096 rows and 4 MiB"),
        field("names", &T::names,
              "`{table, row, ends}` of each row: the number of a row of the input and, for an edge, its two ends"));
}

json::Value writeTensorRows(const TensorRows& rows);

// The same rows as numbers, each row flattened. `numbers` is empty if the elements are complex.
struct NumberRows {
    std::int64_t begin = 0, end = 0;
    std::size_t width = 0;
    std::vector<double> numbers{};
    std::vector<RowName> names{};
};

// Fails with Input if a member is missing or malformed, or if the bytes of real numbers are not a whole number of rows.
base::Result<NumberRows> readTensorRows(const json::Value& answer);

}  // namespace hopscope::protocol
