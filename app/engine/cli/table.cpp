#include "cli/table.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"

namespace hopscope::engine {

std::string count(std::int64_t number) { return base::formatCount(static_cast<double>(number)); }

void Table::add(std::vector<std::string> cells)
{
    cells.resize(m_columns.size());
    m_rows.push_back(std::move(cells));
}

std::string Table::render(int indent) const
{
    std::vector<std::size_t> widths(m_columns.size(), 0);
    for (const auto& row : m_rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], base::shownWidth(row[i]));
    std::string text;
    for (const auto& row : m_rows) {
        std::string line(static_cast<std::size_t>(indent), ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (widths[i] == 0) continue;
            const std::string gap(widths[i] - base::shownWidth(row[i]), ' ');
            line += m_columns[i] == Align::Left ? row[i] + gap : gap + row[i];
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace hopscope::engine
