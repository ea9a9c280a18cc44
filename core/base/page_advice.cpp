#include "base/page_advice.h"

#include <sys/mman.h>

namespace hopscope::base {

namespace {

constexpr std::int64_t leastBytes = 64 << 20;  // less is read at once
constexpr std::uintptr_t page = 4096;

}  // namespace

ScatteredReads::ScatteredReads(const TensorView& view)
{
    if (!view.contiguous() || view.bytes() < leastBytes) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(view.data);
    m_first = (begin + page - 1) / page * page;
    m_end = (begin + static_cast<std::uintptr_t>(view.bytes())) / page * page;
    advise(MADV_RANDOM);
}

ScatteredReads::~ScatteredReads() { advise(MADV_NORMAL); }

void ScatteredReads::advise(int advice) const
{
    if (m_first < m_end) ::madvise(reinterpret_cast<void*>(m_first), m_end - m_first, advice);
}

}  // namespace hopscope::base
