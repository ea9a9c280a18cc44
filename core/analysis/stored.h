#pragma once

// Determines the types and the sizes of stored values.

#include "analysis/analysis.h"
#include "base/store_type.h"

namespace hopscope::analysis {

// Returns the type in which a value is stored. `store` narrows floating-point values that stages store for each other;
// all others, among them outputs and values of the prologue, keep their own type.
base::DType storedType(const Analysis& analysis, ValueId value, base::StoreType store);
// True if the value is stored in a type other than its own.
bool isNarrowed(const Analysis& analysis, ValueId value, base::StoreType store);
// Returns the size of the stored value in bytes, given its size in its own type.
std::int64_t storedBytes(const Analysis& analysis, ValueId value, base::StoreType store, std::int64_t bytes);

}  // namespace hopscope::analysis
