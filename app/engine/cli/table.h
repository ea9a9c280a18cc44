#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hopscope::engine {

std::string count(std::int64_t number);  // "2,708"

enum class Align : unsigned char { Left, Right };

// Aligns columns by displayed width, which counts characters but neither bytes nor colour codes.
class Table {
public:
    explicit Table(std::vector<Align> columns) : m_columns(std::move(columns)) {}
    void add(std::vector<std::string> cells);  // missing cells are empty
    [[nodiscard]] bool empty() const { return m_rows.empty(); }
    // Returns the text of the table, with two spaces between columns and no trailing blanks. Omits columns that are
    // empty in every row.
    [[nodiscard]] std::string render(int indent = 2) const;

private:
    std::vector<Align> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

}  // namespace hopscope::engine
