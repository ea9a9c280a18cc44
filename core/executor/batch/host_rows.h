#pragma once

// Private to executor: describes data of a batch that are copied to a GPU. They are written to pinned memory all at once,
// or in pieces if they exceed it.

#include <functional>
#include <vector>

#include <ATen/ATen.h>

namespace hopscope::executor {

struct HostRows {
    std::vector<std::int64_t> shape;
    at::ScalarType dtype;
    std::int64_t count;  // of rows or other parts of equal size that can be written separately
    // Writes the parts [first, end) to `to`, one after the other. Runs on all cores.
    std::function<void(std::int64_t first, std::int64_t end, std::byte* to)> write;

    [[nodiscard]] std::int64_t bytes() const
    {
        return c10::multiply_integers(shape) * static_cast<std::int64_t>(c10::elementSize(dtype));
    }
    [[nodiscard]] std::int64_t partBytes() const { return count > 0 ? bytes() / count : 0; }
};

// Returns the tensor that has or will have these rows.
using RowSink = std::function<at::Tensor(HostRows rows)>;

}  // namespace hopscope::executor
