#include "base/page_advice.h"

#include <sys/mman.h>

#include <cstdint>

namespace hopscope::base {

namespace {

constexpr std::int64_t leastBytes = 64 << 20;  // less is read at once
constexpr std::uintptr_t page = 4096;

}  // namespace

ScatteredReads::ScatteredReads(const TensorView& view)
{
    if (!view.contiguous() || view.bytes() < leastBytes) return;
    const std::uintptr_t behind = reinterpret_cast<std::uintptr_t>(view.data) % page, before = (page - behind) % page;
    m_first = const_cast<std::byte*>(view.data) + before;
    m_bytes = (static_cast<std::uintptr_t>(view.bytes()) - before) / page * page;
    advise(MADV_RANDOM);
}

ScatteredReads::~ScatteredReads() { advise(MADV_NORMAL); }

void ScatteredReads::advise(int advice) const
{
    if (m_bytes > 0) ::madvise(m_first, m_bytes, advice);
}

}  // namespace hopscope::base
