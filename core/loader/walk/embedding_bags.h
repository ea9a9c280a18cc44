#pragma once

// nn.EmbeddingBag over a matrix with a bag in each row: PyTorch flattens it, and counts where rows begin. Recorded as a lookup in
// the matrix, whose rows are reduced.

#include <optional>
#include <vector>

#include "loader/walk/numbers.h"

namespace hopscope::loader {

class EmbeddingBags {
public:
    EmbeddingBags(Recorder& recorder, const Location& location, OperatorCalls& calls)
        : m_recorder(recorder),
          m_location(location),
          m_calls(calls)
    {}

    // Of aten::embedding_bag with these arguments: the reduced rows, and nothing for its other results. Throws Refused where
    // the bags are no rows of a matrix.
    std::vector<Item> evaluate(const c10::FunctionSchema& schema, const std::vector<Item>& args);

private:
    [[nodiscard]] const ir::Op* producer(const Item& item) const;
    [[nodiscard]] std::optional<Item> matrixOf(const Item& flat) const;
    [[nodiscard]] bool beginsEachRow(const Item& offsets, const Item& flat, const Item& matrix) const;
    [[nodiscard]] bool isSize(const ir::Arg& arg, const Item& tensor, std::int64_t dim) const;
    Item reduced(Item rows, const Item& places, std::int64_t mode, std::int64_t padding);

    Recorder& m_recorder;
    const Location& m_location;
    OperatorCalls& m_calls;
};

}  // namespace hopscope::loader
