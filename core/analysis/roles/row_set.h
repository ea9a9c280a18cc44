#pragma once

#include <cstdint>
#include <vector>

namespace hopscope::analysis {

// A set of rows of a table, with one bit per row.
class RowSet {
public:
    explicit RowSet(std::int64_t rows = 0) : m_rows(rows), m_words(static_cast<std::size_t>((rows + 63) / 64)) {}

    [[nodiscard]] std::int64_t rows() const { return m_rows; }
    [[nodiscard]] std::int64_t count() const { return m_count; }
    [[nodiscard]] bool has(std::int64_t row) const { return (m_words[at(row)] >> (row & 63) & 1) != 0; }

    bool add(std::int64_t row)
    {
        if (has(row)) return false;
        m_words[at(row)] |= std::uint64_t{1} << (row & 63);
        ++m_count;
        return true;
    }
    // Adds a row without counting it, for sets on which only firstAbsent() and has() are called.
    void mark(std::int64_t row) { m_words[at(row)] |= std::uint64_t{1} << (row & 63); }
    void markAll(const RowSet& other)
    {
        for (std::size_t w = 0; w < m_words.size(); ++w) m_words[w] |= other.m_words[w];
    }
    void remove(std::int64_t row)
    {
        if (!has(row)) return;
        m_words[at(row)] &= ~(std::uint64_t{1} << (row & 63));
        --m_count;
    }

    // Returns the members in ascending order.
    [[nodiscard]] std::vector<std::int64_t> members() const
    {
        std::vector<std::int64_t> list;
        list.reserve(static_cast<std::size_t>(m_count));
        for (std::size_t w = 0; w < m_words.size(); ++w)
            for (std::uint64_t bits = m_words[w]; bits != 0; bits &= bits - 1)
                list.push_back(static_cast<std::int64_t>(w * 64) + __builtin_ctzll(bits));
        return list;
    }

    // Returns the first row that is not in the set; -1 if there is none.
    [[nodiscard]] std::int64_t firstAbsent() const
    {
        for (std::size_t w = 0; w < m_words.size(); ++w) {
            if (~m_words[w] == 0) continue;
            const std::int64_t row = static_cast<std::int64_t>(w * 64) + __builtin_ctzll(~m_words[w]);
            return row < m_rows ? row : -1;
        }
        return -1;
    }

private:
    static std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row >> 6); }

    std::int64_t m_rows = 0, m_count = 0;
    std::vector<std::uint64_t> m_words;
};

}  // namespace hopscope::analysis
