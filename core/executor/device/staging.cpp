#include "executor/device/staging.h"

#include <algorithm>
#include <cstdint>

#include <c10/util/Exception.h>

namespace hopscope::executor {

// A failing allocation of pinned memory arrives as a plain c10::Error.
at::Tensor pinnedBytes(std::int64_t bytes)
{
    try {
        return at::empty({bytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
    } catch (const c10::Error&) {
        return {};
    }
}

namespace {

at::Tensor fromPage(const at::Tensor& memory, std::int64_t bytes)
{
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data_ptr());
    const auto past = static_cast<std::int64_t>(address % StagingChunk::page);
    return memory.narrow(0, past == 0 ? 0 : StagingChunk::page - past, bytes);
}

}  // namespace

StagingChunk::StagingChunk(std::int64_t bytes)
{
    const std::int64_t wanted = rounded(std::max<std::int64_t>(bytes, 1));
    at::Tensor memory = pinnedBytes(wanted + page);
    m_pinned = memory.defined();
    if (!m_pinned) memory = at::empty({wanted + page}, at::TensorOptions().dtype(at::kByte));
    m_memory = fromPage(memory, wanted);
}

at::Tensor StagingChunk::take(at::IntArrayRef shape, at::ScalarType dtype)
{
    const std::int64_t bytes = c10::multiply_integers(shape) * static_cast<std::int64_t>(c10::elementSize(dtype));
    if (bytes == 0 || m_used + bytes > capacity()) return at::empty(shape, at::TensorOptions().dtype(dtype));
    const at::Tensor piece = m_memory.narrow(0, m_used, bytes).view(dtype).view(shape);
    m_used += rounded(bytes);
    return piece;
}

at::Tensor StagingChunk::part(std::int64_t number, std::int64_t count) const
{
    const std::int64_t bytes = capacity() / count / page * page;
    return m_memory.narrow(0, number * bytes, bytes);
}

StagingRing::StagingRing(std::int64_t upBytes, std::int64_t downBytes)
{
    for (Place& place : m_places) place = {StagingChunk(upBytes), StagingChunk(downBytes)};
}

bool StagingRing::pinned() const
{
    return std::ranges::all_of(m_places, [](const Place& p) { return p.up.pinned() && p.down.pinned(); });
}

}  // namespace hopscope::executor
