#pragma once

// In which type the values that stages store for each other lie.

#include "analysis/analysis.h"
#include "base/store_type.h"

namespace hopscope::analysis {

// The type of the value's table: as `store` has it for what stages store for each other, its own for inputs, values of
// the prologue and outputs.
base::DType storedType(const Analysis& analysis, ValueId value, base::StoreType store);
// Whether that is another type than its own.
bool isNarrowed(const Analysis& analysis, ValueId value, base::StoreType store);
// What is left of so many bytes of the value.
std::int64_t storedBytes(const Analysis& analysis, ValueId value, base::StoreType store, std::int64_t bytes);

}  // namespace hopscope::analysis
