#pragma once

// The types of the values that stages store for each other.

#include "analysis/analysis.h"
#include "base/store_type.h"

namespace hopscope::analysis {

// The type of the value's table: `store` determines it for values that stages store for each other; inputs, values of
// the prologue and outputs keep their own.
base::DType storedType(const Analysis& analysis, ValueId value, base::StoreType store);
// True if that is a type other than its own.
bool isNarrowed(const Analysis& analysis, ValueId value, base::StoreType store);
// The size of the value once stored, given its size in bytes before.
std::int64_t storedBytes(const Analysis& analysis, ValueId value, base::StoreType store, std::int64_t bytes);

}  // namespace hopscope::analysis
