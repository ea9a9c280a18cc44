#pragma once

// Private to executor: numbers the rows of one table that a batch reads, on all cores.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace hopscope::executor {

// Assigns a local number to each requested row: first to the batch's own rows, in their order, then to the others, in
// ascending order. The result depends neither on the number of threads nor on the order of the requests. Linear in the
// requested rows, and in a 256th of the table's rows.
class FrontierNumbers {
public:
    // `entries` contains the local number + 1 of each row of the table, and is all 0 at first. It must outlive this
    // object; its owner resets the entries of the rows that rows() returns.
    FrontierNumbers(std::int32_t* entries, std::int64_t size);

    // Adds the batch's own rows. Raises Resources if there are too many to be numbered, as does rows().
    void own(const at::Tensor& rows);
    // Requests rows by their global numbers, which have 64 bits and may repeat.
    void ask(const at::Tensor& rows);
    // Numbers all requested rows and returns their global numbers, in local order. Call it once, after the last ask().
    at::Tensor rows();
    // Returns the local number of each of these rows, which must have been requested.
    [[nodiscard]] at::Tensor positions(const at::Tensor& rows) const;
    // Resets the entries of all requested rows if there is no memory to number them.
    void forget();

private:
    template <class Each>
    void eachAsked(std::int64_t part, Each&& each) const;
    std::vector<std::int64_t> firstOfParts() const;
    [[nodiscard]] std::int64_t partsAtOnce(std::int64_t count) const;

    std::int32_t* m_entries;
    std::int64_t m_size;
    std::int64_t m_questions = 0;
    std::vector<std::uint8_t> m_asked;  // for each group of rows: whether one of them was requested
    at::Tensor m_own;
};

}  // namespace hopscope::executor
