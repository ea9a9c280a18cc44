#pragma once

// Rows of a tensor on their way from the engine to a client: bytes as base64, and the name of each row.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "json/json.h"

namespace hopscope::protocol {

std::string toBase64(const std::vector<std::byte>& bytes);

// Reads a number as double; null for complex numbers.
using ReadNumber = double (*)(const std::byte*);
ReadNumber numberReader(base::DType dtype);

// A row named for people: its table and, for an edge, its two ends.
struct RowName {
    std::string table;
    std::int64_t row = 0;
    std::vector<std::int64_t> ends{};  // from, to
    bool operator==(const RowName&) const = default;
};

struct TensorRows {
    base::DType dtype = base::DType::Float32;
    std::int64_t begin = 0, end = 0;  // positions within the tensor, not row numbers
    std::vector<std::byte> bytes{};   // C order
    std::vector<RowName> names{};     // one for each row
};

json::Value writeTensorRows(const TensorRows& rows);

// The same as numbers, each row laid out flat. Complex numbers have none.
struct NumberRows {
    std::int64_t begin = 0, end = 0;
    std::size_t width = 0;
    std::vector<double> numbers{};
    std::vector<RowName> names{};
};

// Fails with Input on dtypes that are not known, and on bytes that do not make whole rows.
base::Result<NumberRows> readTensorRows(const json::Value& answer);

}  // namespace hopscope::protocol
