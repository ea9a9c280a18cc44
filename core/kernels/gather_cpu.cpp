#include <algorithm>
#include <cstring>

#include "kernels/segment.h"

namespace hopscope::kernels {

namespace {

constexpr std::int64_t kAhead = 8;  // rows: enough to cover memory latency, few enough to stay in the cache
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kMostPrefetched = 1024;  // bytes: beyond that the hardware has seen the stream

void prefetchRow(const std::byte* row, std::int64_t bytes)
{
    const std::int64_t span = std::min(bytes, kMostPrefetched);
    for (std::int64_t at = 0; at < span; at += kLine) __builtin_prefetch(row + at, 0, 1);
    __builtin_prefetch(row + span - 1, 0, 1);  // rows need not begin where a line does
}

template <class Number>
void gatherRows(const std::byte* source, std::int64_t stride, const Number* rows, std::byte* out, std::int64_t rowBytes,
                std::int64_t first, std::int64_t last)
{
    for (std::int64_t i = first; i < last; ++i) {
        if (i + kAhead < last) prefetchRow(source + rows[i + kAhead] * stride, rowBytes);
        std::memcpy(out + i * rowBytes, source + rows[i] * stride, static_cast<std::size_t>(rowBytes));
    }
}

}  // namespace

void gatherRowsCpu(const std::byte* source, std::int64_t sourceStrideBytes, Index rows, std::byte* out,
                   std::int64_t rowBytes, std::int64_t first, std::int64_t last)
{
    if (rowBytes == 0) return;
    if (rows.wide)
        gatherRows(source, sourceStrideBytes, static_cast<const std::int64_t*>(rows.data), out, rowBytes, first, last);
    else gatherRows(source, sourceStrideBytes, static_cast<const std::int32_t*>(rows.data), out, rowBytes, first, last);
}

}  // namespace hopscope::kernels
