#pragma once

// Private to roles: inputs whose numbers may be counts, by the table whose rows they have.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/roles/row_set.h"
#include "base/tensor.h"

namespace hopscope::analysis {

class NumberColumns {
public:
    // Takes integers of any shape, and floats with one number for each row; skips other inputs.
    void add(const std::string& table, const base::TensorView& view);

    // For each column, the table and the first row that holds its largest number. Linear.
    [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> largest() const;
    // From now on leftOut() contains the table's rows that hold the largest number of a column; a column that would
    // leave no row is skipped. Linear.
    void leaveOut(const std::string& table, std::int64_t rows);
    [[nodiscard]] bool leftOut(const std::string& table, std::int64_t row) const
    {
        const auto out = m_leftOut.find(table);
        return out != m_leftOut.end() && out->second.has(row);
    }
    // The rows without those left out; all rows if none would remain.
    [[nodiscard]] std::vector<std::int64_t> others(const std::string& table, std::vector<std::int64_t> rows) const;

private:
    std::map<std::string, std::vector<base::TensorView>> m_columns;
    std::map<std::string, RowSet> m_leftOut;
};

}  // namespace hopscope::analysis
