#include "graph/row_set.h"

namespace hopscope::graph {

namespace {

// With the processor's own instruction for counting bits, where it has it.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HOPSCOPE_WITH_POPCNT __attribute__((target_clones("popcnt", "default")))
#else
#define HOPSCOPE_WITH_POPCNT
#endif

HOPSCOPE_WITH_POPCNT void places32(const RowSet& set, const std::int32_t* rows, std::int64_t count, std::int32_t* to)
{
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(set.place(rows[i]));
}

HOPSCOPE_WITH_POPCNT void places64(const RowSet& set, const std::int64_t* rows, std::int64_t count, std::int64_t* to)
{
    for (std::int64_t i = 0; i < count; ++i) to[i] = set.place(rows[i]);
}

}  // namespace

void RowSet::places(const std::int32_t* rows, std::int64_t count, std::int32_t* to) const
{
    places32(*this, rows, count, to);
}

void RowSet::places(const std::int64_t* rows, std::int64_t count, std::int64_t* to) const
{
    places64(*this, rows, count, to);
}

}  // namespace hopscope::graph
