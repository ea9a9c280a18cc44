#pragma once

// A set of rows of a table, numbered in ascending order.

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

namespace hopscope::graph {

// A set of rows that takes a quarter of a byte for each row of the table.
class RowSet {
public:
    explicit RowSet(std::int64_t rows) : m_rows(rows), m_words(static_cast<std::size_t>((rows + 63) / 64)) {}
    // Returns the set of the rows [first, end), numbered.
    static RowSet range(std::int64_t rows, std::int64_t first, std::int64_t end);

    // Adds a row. Thread-safe.
    void add(std::int64_t row)
    {
        const std::atomic_ref bits(m_words[static_cast<std::size_t>(row >> 6)].bits);
        const std::uint64_t bit = std::uint64_t{1} << (row & 63);
        if ((bits.load(std::memory_order_relaxed) & bit) == 0) bits.fetch_or(bit, std::memory_order_relaxed);
    }
    // Numbers the rows that have been added, and returns their count. Call it before count(), place(), places() and
    // countIn().
    std::int64_t number()
    {
        m_count = 0;
        for (Word& word : m_words) {
            word.before = m_count;
            m_count += std::popcount(word.bits);
        }
        return m_count;
    }

    [[nodiscard]] std::int64_t rows() const { return m_rows; }
    [[nodiscard]] std::int64_t count() const { return m_count; }
    [[nodiscard]] bool has(std::int64_t row) const
    {
        return (m_words[static_cast<std::size_t>(row >> 6)].bits >> (row & 63) & 1) != 0;
    }
    // Returns how many rows of the set precede this row, which is its number if the set contains it.
    [[nodiscard]] std::int64_t place(std::int64_t row) const
    {
        const Word& word = m_words[static_cast<std::size_t>(row >> 6)];
        return word.before + std::popcount(word.bits & ((std::uint64_t{1} << (row & 63)) - 1));
    }
    // Returns the number of rows of [first, end) that belong to the set.
    [[nodiscard]] std::int64_t countIn(std::int64_t first, std::int64_t end) const
    {
        const auto before = [this](std::int64_t row) { return row < m_rows ? place(row) : m_count; };
        return before(end) - before(first);
    }
    // Writes place() of `count` rows to `to`.
    void places(const std::int32_t* rows, std::int64_t count, std::int32_t* to) const;
    void places(const std::int64_t* rows, std::int64_t count, std::int64_t* to) const;
    // Returns the first row of the set that is not before `row`; rows() if there is none.
    [[nodiscard]] std::int64_t next(std::int64_t row) const
    {
        for (std::int64_t word = row >> 6; word < static_cast<std::int64_t>(m_words.size()); ++word) {
            std::uint64_t bits = m_words[static_cast<std::size_t>(word)].bits;
            if (word == row >> 6) bits &= ~std::uint64_t{0} << (row & 63);
            if (bits != 0) return (word << 6) + std::countr_zero(bits);
        }
        return m_rows;
    }

    // Returns the last row of the set before `before`; -1 if there is none.
    [[nodiscard]] std::int64_t last(std::int64_t before) const
    {
        for (std::int64_t word = before >> 6; word >= 0; --word) {
            if (word == static_cast<std::int64_t>(m_words.size())) continue;
            std::uint64_t bits = m_words[static_cast<std::size_t>(word)].bits;
            if (word == before >> 6) bits &= (std::uint64_t{1} << (before & 63)) - 1;
            if (bits != 0) return (word << 6) + 63 - std::countl_zero(bits);
        }
        return -1;
    }

    // Combine two sets of rows of the same table; the result is numbered.
    [[nodiscard]] RowSet both(const RowSet& other) const
    {
        return combined(other, [](std::uint64_t a, std::uint64_t b) { return a & b; });
    }
    [[nodiscard]] bool operator==(const RowSet& other) const = default;
    [[nodiscard]] RowSet either(const RowSet& other) const
    {
        return combined(other, [](std::uint64_t a, std::uint64_t b) { return a | b; });
    }
    [[nodiscard]] RowSet without(const RowSet& other) const
    {
        return combined(other, [](std::uint64_t a, std::uint64_t b) { return a & ~b; });
    }

private:
    template <class Combine>
    [[nodiscard]] RowSet combined(const RowSet& other, Combine&& combine) const
    {
        RowSet made(m_rows);
        for (std::size_t w = 0; w < m_words.size(); ++w)
            made.m_words[w].bits = combine(m_words[w].bits, other.m_words[w].bits);
        made.number();
        return made;
    }

    struct Word {
        std::uint64_t bits = 0;
        std::int64_t before = 0;
        bool operator==(const Word&) const = default;
    };
    std::int64_t m_rows, m_count = 0;
    std::vector<Word> m_words;
};

}  // namespace hopscope::graph
