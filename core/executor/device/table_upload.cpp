#include "executor/device/table_upload.h"

#include <algorithm>
#include <bit>

#include <ATen/Parallel.h>

#include "executor/failure.h"
#include "graph/mapped_source.h"
#include "kernels/segment.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastPiece = 2 << 20;  // takes much longer than starting a copy
constexpr std::int64_t mostPiece = 16 << 20;
constexpr std::int64_t shareOfAll = 128;
constexpr std::int64_t readAtOnce = 1 << 19;  // bytes, by a thread

}  // namespace

std::int64_t TableUpload::pieceBytes(std::int64_t bytes)
{
    const std::int64_t wanted = std::min(std::clamp(bytes / shareOfAll, leastPiece, mostPiece),
                                         std::max<std::int64_t>(bytes, 1) + StagingChunk::page);
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted))) - StagingChunk::page;
}

TableUpload::TableUpload(DeviceContext& device, std::stop_token stop, std::int64_t bytes)
    : m_device(device),
      m_stop(std::move(stop))
{
    const std::int64_t piece = pieceBytes(bytes);
    m_used = std::min(m_places.size(), static_cast<std::size_t>((bytes + piece - 1) / piece));
    for (std::size_t i = 0; i < m_used; ++i) m_places[i].memory = StagingChunk(piece);
}

bool TableUpload::pinned() const
{
    return std::all_of(m_places.begin(), m_places.begin() + static_cast<std::ptrdiff_t>(m_used),
                       [](const Place& place) { return place.memory.pinned(); });
}

TableUpload::Place& TableUpload::next()
{
    require(m_used > 0, "a table is larger than announced");
    Place& place = m_places[m_turn];
    m_turn = (m_turn + 1) % m_used;
    if (place.copied) place.copied->synchronize();
    place.memory.clear();
    return place;
}

at::Tensor TableUpload::copy(const at::Tensor& host, std::int64_t first, std::int64_t end)
{
    const graph::MappedSource source(host.const_data_ptr());
    const Part part{.first = first, .end = end};
    return filled(host.sizes(), host.scalar_type(), part, [&](std::int64_t at, std::int64_t count, std::byte* to) {
        at::parallel_for(0, count, readAtOnce,
                         [&](std::int64_t from, std::int64_t last) { source.copy(at + from, last - from, to + from); });
    });
}

at::Tensor TableUpload::copyRows(const at::Tensor& table, const std::vector<std::int64_t>& rows)
{
    std::vector<std::int64_t> shape = table.sizes().vec();
    shape[0] = std::ssize(rows);
    const auto item = static_cast<std::int64_t>(table.element_size());
    const std::int64_t bytes = shape[0] == 0 ? 1 : table.select(0, 0).numel() * item;
    const auto* const from = static_cast<const std::byte*>(table.const_data_ptr());
    const Part all{.end = shape[0] * bytes, .unit = bytes};
    return filled(shape, table.scalar_type(), all, [&](std::int64_t first, std::int64_t count, std::byte* to) {
        const kernels::Index numbers = rows.data() + first / bytes;
        at::parallel_for(0, count / bytes, std::max<std::int64_t>(readAtOnce / bytes, 1),
                         [&](std::int64_t begin, std::int64_t end) {
                             kernels::gatherRowsCpu(from, table.stride(0) * item, numbers, to, bytes, begin, end);
                         });
    });
}

// In pieces of whole units.
at::Tensor TableUpload::filled(at::IntArrayRef shape, at::ScalarType dtype, const Part& part, const Fill& fill)
{
    const at::Tensor there = m_device.allocate(shape, dtype);
    if (there.numel() == 0) return there;
    const at::Tensor bytes = there.view({-1}).view(at::kByte);
    for (std::int64_t first = part.first; first < part.end;) {
        if (m_stop.stop_requested()) raise(base::ErrorCode::Cancelled, "cancelled");
        Place& place = next();
        const std::int64_t whole = std::max<std::int64_t>(place.memory.capacity() / part.unit, 1) * part.unit;
        const std::int64_t count = std::min(whole, part.end - first);
        const at::Tensor piece = place.memory.take({count}, at::kByte);
        fill(first, count, static_cast<std::byte*>(piece.mutable_data_ptr()));
        m_device.uploadInto(bytes.narrow(0, first, count), piece);
        place.copied.emplace(m_device.mark(Lane::Upload));
        first += count;
    }
    return there;
}

// Freed memory stays pinned until the device has passed its last copy.
void TableUpload::finish()
{
    m_places = {};
    m_used = 0;
    m_device.synchronize();
    m_device.unpin();
}

}  // namespace hopscope::executor
