#pragma once

// A strided vector of integers of any width, or of booleans, read as int64. Keeps its tensor alive. Header-only, so that loops over
// edges inline it.

#include <cstdint>
#include <cstring>
#include <memory>

#include "base/tensor.h"

namespace hopscope::analysis {

class IntColumn {
public:
    IntColumn() = default;
    // Reads a vector.
    explicit IntColumn(const base::TensorView& vector) : IntColumn(vector, 0, vector.shape[0], vector.strides[0]) {}
    // Reads slice `at` of a matrix along dimension `dim`: a row for 0, a column for 1.
    IntColumn(const base::TensorView& matrix, std::int64_t at, std::size_t dim)
        : IntColumn(matrix, at * matrix.strides[dim], matrix.shape[1 - dim], matrix.strides[1 - dim])
    {}

    [[nodiscard]] std::int64_t size() const { return m_size; }

    // uint64 numbers beyond the range of int64 become negative, and are treated like other negative numbers.
    [[nodiscard]] std::int64_t operator[](std::int64_t i) const
    {
        const std::byte* at = m_data + i * m_step;
        switch (m_dtype) {
        case base::DType::UInt8:
        case base::DType::Bool: return load<std::uint8_t>(at);
        case base::DType::Int8: return load<std::int8_t>(at);
        case base::DType::Int16: return load<std::int16_t>(at);
        case base::DType::UInt16: return load<std::uint16_t>(at);
        case base::DType::Int32: return load<std::int32_t>(at);
        case base::DType::UInt32: return load<std::uint32_t>(at);
        default: return load<std::int64_t>(at);
        }
    }

    [[nodiscard]] base::DType dtype() const { return m_dtype; }
    [[nodiscard]] const std::byte* data() const { return m_data; }
    // True if the numbers, which are of type T, are contiguous. Number i is then at<T>(data(), i).
    template <class T>
    [[nodiscard]] bool follows() const
    {
        return m_step == static_cast<std::int64_t>(sizeof(T));
    }
    template <class T>
    static std::int64_t at(const std::byte* first, std::int64_t i)
    {
        return load<T>(first + i * static_cast<std::int64_t>(sizeof(T)));
    }
    // Returns number `i` of a column of type T.
    template <class T>
    [[nodiscard]] std::int64_t of(std::int64_t i) const
    {
        return load<T>(m_data + i * m_step);
    }

    template <class T>
    static T loaded(const std::byte* at)
    {
        T value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }

private:
    IntColumn(const base::TensorView& tensor, std::int64_t start, std::int64_t size, std::int64_t stride)
        : m_dtype(tensor.dtype),
          m_size(size),
          m_step(stride * static_cast<std::int64_t>(base::itemSize(tensor.dtype))),
          m_owner(tensor.owner)
    {
        m_data = tensor.data + start * static_cast<std::int64_t>(base::itemSize(tensor.dtype));
    }

    template <class T>
    static std::int64_t load(const std::byte* at)
    {
        return static_cast<std::int64_t>(loaded<T>(at));
    }

    base::DType m_dtype = base::DType::Int64;
    const std::byte* m_data = nullptr;
    std::int64_t m_size = 0;
    std::int64_t m_step = 0;
    std::shared_ptr<const void> m_owner;
};

// Calls work(number), where number(i) is column[i]. For int64 and int32, type and layout are resolved once.
template <class Work>
void withNumbers(const IntColumn& column, Work&& work)
{
    const auto of = [&]<class T>(T) {
        if (column.follows<T>()) work([first = column.data()](std::int64_t i) { return IntColumn::at<T>(first, i); });
        else work([&](std::int64_t i) { return column.of<T>(i); });
    };
    if (column.dtype() == base::DType::Int64) of(std::int64_t{});
    else if (column.dtype() == base::DType::Int32) of(std::int32_t{});
    else work([&](std::int64_t i) { return column[i]; });
}

}  // namespace hopscope::analysis
