#pragma once

// Private to roles: columns of numbers that may be counts, by table.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/roles/row_set.h"
#include "base/tensor.h"

namespace hopscope::analysis {

class NumberColumns {
public:
    // Adds an input that holds integers of any shape, or floats with one number for each row. Skips other inputs.
    void add(const std::string& table, const base::TensorView& view);

    // Returns, for each column, the table and the first row that holds the largest number. Linear.
    [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> largest() const;
    // Marks the table's rows that hold the largest number of a column as left out. Skips columns that would leave no
    // row. Linear.
    void leaveOut(const std::string& table, std::int64_t rows);
    [[nodiscard]] bool leftOut(const std::string& table, std::int64_t row) const
    {
        const auto out = m_leftOut.find(table);
        return out != m_leftOut.end() && out->second.has(row);
    }
    // Returns `rows` without those that are left out, or all of them if none would remain.
    [[nodiscard]] std::vector<std::int64_t> others(const std::string& table, std::vector<std::int64_t> rows) const;

private:
    std::map<std::string, std::vector<base::TensorView>> m_columns;
    std::map<std::string, RowSet> m_leftOut;
};

}  // namespace hopscope::analysis
