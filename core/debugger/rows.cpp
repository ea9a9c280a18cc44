#include "debugger/rows.h"

#include <sstream>

#include "analysis/naming/table_labels.h"
#include "debugger/match.h"

namespace hopscope::debugger {

using analysis::SpaceKind;

bool isNodeTable(const analysis::Analysis& analysis, ir::SpaceId table)
{
    return table.valid() && analysis.tables.space(table).kind == SpaceKind::Node;
}

std::string shortNumber(double number)
{
    std::ostringstream text;
    text.precision(3);
    text << number;
    return text.str();
}

base::Result<std::vector<schema::RowRecord>> rowRecords(const analysis::Analysis& analysis, ir::SpaceId table,
                                                        const std::vector<DifferentRow>& rows,
                                                        executor::UnsplitValues& values)
{
    std::vector<schema::RowRecord> records;
    if (!table.valid()) return records;
    for (const DifferentRow& row : rows) {
        const base::Result<executor::InputRow> input = values.inputRow(table, row.row);
        if (!input) return base::forward(input);
        schema::RowRecord& record = records.emplace_back();
        record.table = analysis::tableLabel(analysis.tables, input->table);
        record.row = input->row;
        if (input->ends) record.ends = {input->ends->first, input->ends->second};
        record.element = row.element;
        record.first = row.first;
        record.second = row.second;
    }
    return records;
}

base::Result<schema::DifferenceRecord> differenceRecord(const analysis::Analysis& analysis, const ir::Op& op,
                                                        ir::ValueId value, const Difference& difference,
                                                        executor::UnsplitValues& values)
{
    schema::DifferenceRecord record;
    record.place = recordOf(analysis, op, value);
    record.what = difference.mismatch.empty() ? "values" : difference.mismatch;
    record.rows = difference.rows;
    record.of = difference.of;
    record.maxAbsolute = difference.maxAbsolute;
    record.maxRelative = difference.maxRelative;
    auto shown = rowRecords(analysis, analysis.rowSpace(value), difference.shown, values);
    if (!shown) return base::forward(shown);
    record.shown = std::move(*shown);
    return record;
}

}  // namespace hopscope::debugger
