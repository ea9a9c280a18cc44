#pragma once

// Private to debugger: differences and rows as documents show them.

#include "debugger/difference.h"
#include "executor/unsplit.h"
#include "schema/findings.h"

namespace hopscope::debugger {

bool isNodeTable(const analysis::Analysis& analysis, ir::SpaceId table);

// "0.5", "1.2e-07".
std::string shortNumber(double number);

// Rows of `table` as rows of the inputs. `values` knows the tables. A table of unknown origin has no rows to show.
base::Result<std::vector<schema::RowRecord>> rowRecords(const analysis::Analysis& analysis, ir::SpaceId table,
                                                        const std::vector<DifferentRow>& rows,
                                                        executor::UnsplitValues& values);

base::Result<schema::DifferenceRecord> differenceRecord(const analysis::Analysis& analysis, const ir::Op& op,
                                                        ir::ValueId value, const Difference& difference,
                                                        executor::UnsplitValues& values);

}  // namespace hopscope::debugger
