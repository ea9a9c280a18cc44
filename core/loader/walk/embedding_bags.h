#pragma once

// Records nn.EmbeddingBag. A matrix with a bag in each row, which PyTorch flattens with an offset per row, is recorded
// as a lookup by the matrix and a reduction of each row. Bags of any length, given by their starts, are recorded as a
// lookup and a reduction by segments.

#include <optional>
#include <vector>

#include "loader/walk/numbers.h"

namespace hopscope::loader {

class EmbeddingBags {
public:
    EmbeddingBags(Recorder& recorder, OperatorCalls& calls, Numbers& numbers)
        : m_recorder(recorder),
          m_calls(calls),
          m_numbers(numbers)
    {}

    // Returns the result of aten::embedding_bag with these arguments: the reduced rows, and nothing for its other
    // results.
    std::vector<Item> evaluate(const c10::FunctionSchema& schema, const std::vector<Item>& args);

private:
    [[nodiscard]] const ir::Op* producer(const Item& item) const;
    [[nodiscard]] std::optional<Item> matrixOf(const Item& flat) const;
    [[nodiscard]] bool beginsEachRow(const Item& offsets, const Item& flat, const Item& matrix) const;
    [[nodiscard]] bool isSize(const ir::Arg& arg, const Item& tensor, std::int64_t dim) const;
    struct Bags {
        Item places, weights;  // positions of rows in the table, and a factor for each of them or none
        std::int64_t mode = 0, padding = -1;
    };
    Item rowsOf(const Item& table, const Bags& bags);
    Item reduced(Item rows, const Item& places, std::int64_t mode, std::int64_t padding);
    Item segments(Item rows, const Bags& bags, const Item& offsets);
    Item segment(const Item& rows, const char* how, const Item& offsets, const Item& initial);
    Item wholeOffsets(const Item& offsets, const Item& places);

    Recorder& m_recorder;
    OperatorCalls& m_calls;
    Numbers& m_numbers;
};

}  // namespace hopscope::loader
