#pragma once

// Private to debugger: converts differences and rows to those of documents.

#include "debugger/difference.h"
#include "executor/unsplit.h"
#include "schema/findings.h"

namespace hopscope::debugger {

bool isNodeTable(const analysis::Analysis& analysis, ir::SpaceId table);

// Returns a number in short form: "0.5", "1.2e-07".
std::string shortNumber(double number);

// Converts rows of `table` to rows of the inputs, by the tables in `values`. Returns no rows for a table of unknown
// origin.
base::Result<std::vector<schema::RowRecord>> rowRecords(const analysis::Analysis& analysis, ir::SpaceId table,
                                                        const std::vector<DifferentRow>& rows,
                                                        executor::UnsplitValues& values);

base::Result<schema::DifferenceRecord> differenceRecord(const analysis::Analysis& analysis, const ir::Op& op,
                                                        ir::ValueId value, const Difference& difference,
                                                        executor::UnsplitValues& values);

}  // namespace hopscope::debugger
