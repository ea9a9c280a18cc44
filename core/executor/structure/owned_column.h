#pragma once

// Private to executor: provides columns of row numbers in the order of an adjacency.

#include <cstdint>
#include <memory>
#include <optional>

#include "executor/structure/key_columns.h"
#include "graph/adjacency.h"
#include "graph/node_order.h"

namespace hopscope::executor {

// The way in which the rows of a table are numbered: as in the input, or by their positions in the order in which a run
// computes the nodes of a type (Structure::arrangeNodes). Both agree if that is the order of the input.
enum class Numbers : std::uint8_t { Input, Places };

// A key column in the order of an adjacency: element p is the key of the row at position p (Adjacency::eachRow), in 32
// or 64 bits (wide).
struct OwnedColumn {
    std::shared_ptr<std::byte> bytes;
    bool wide = false;

    // Returns a column of undefined numbers. Raises Resources.
    static OwnedColumn ofSize(std::int64_t rows, bool wide, const graph::Scratch& scratch);
    // Returns the column of an input in place, read-only; nullopt if its numbers are not in the order of the adjacency,
    // are not contiguous, have 32 bits, or do not belong to an input.
    static std::optional<OwnedColumn> inPlace(const Column& column, const graph::Adjacency& order);

    [[nodiscard]] std::int64_t operator[](std::int64_t position) const
    {
        return wide ? reinterpret_cast<const std::int64_t*>(bytes.get())[position]
                    : reinterpret_cast<const std::int32_t*>(bytes.get())[position];
    }
    // Calls work(first), where `first` points to the first number.
    template <class Work>
    void with(Work&& work) const
    {
        if (wide) work(reinterpret_cast<std::int64_t*>(bytes.get()));
        else work(reinterpret_cast<std::int32_t*>(bytes.get()));
    }
};

// Returns a column that is in the order of `from` in the order of `to`, which is from.arranged(order); in 64 bits if
// `wide`.
OwnedColumn arranged(const OwnedColumn& column, const graph::Adjacency& from, const graph::Adjacency& to,
                     const std::int64_t* order, bool wide, const graph::Scratch& scratch, int threads);

// Returns the positions of the first `rows` numbers, in 64 bits if `wide`.
OwnedColumn inPlaces(const OwnedColumn& column, std::int64_t rows, const std::int64_t* places, bool wide,
                     const graph::Scratch& scratch, int threads);

}  // namespace hopscope::executor
