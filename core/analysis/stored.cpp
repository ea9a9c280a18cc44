#include "analysis/stored.h"

#include <algorithm>

namespace hopscope::analysis {

base::DType storedType(const Analysis& analysis, ValueId id, base::StoreType store)
{
    const ir::Value& value = analysis.program.value(id);
    const bool output = std::ranges::any_of(analysis.program.outputs, [id](const auto& o) { return o.value == id; });
    if (output || value.origin != ir::Origin::Op || analysis.available(id)) return value.dtype;
    return base::storedAs(value.dtype, store);
}

bool isNarrowed(const Analysis& analysis, ValueId id, base::StoreType store)
{
    return storedType(analysis, id, store) != analysis.program.value(id).dtype;
}

std::int64_t storedBytes(const Analysis& analysis, ValueId id, base::StoreType store, std::int64_t bytes)
{
    const auto from = static_cast<std::int64_t>(base::itemSize(analysis.program.value(id).dtype));
    return bytes / from * static_cast<std::int64_t>(base::itemSize(storedType(analysis, id, store)));
}

}  // namespace hopscope::analysis
