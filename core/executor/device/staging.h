#pragma once

// Private to executor: provides host memory for copies to and from a GPU. The memory is pinned, so that copies run
// asynchronously. If no more pinned memory is available, it is pageable, which is slower.

#include <array>
#include <optional>

#include <ATen/ATen.h>

namespace hopscope::executor {

// The note of a run in which memory is pageable.
inline constexpr const char* pageableCopies =
    "no more pinned memory is available: copies to and from the GPU do not overlap with computation";

// Returns pinned memory, undefined if the system grants none. LibTorch pins a power of two of bytes for it.
at::Tensor pinnedBytes(std::int64_t bytes);

// A linear allocator in memory of fixed size. Each tensor starts on a new page.
class StagingChunk {
public:
    static constexpr std::int64_t page = 4096;

    StagingChunk() = default;
    // Allocates pinned memory, or pageable memory if that fails. Throws c10::OutOfMemoryError if neither is available.
    explicit StagingChunk(std::int64_t bytes);

    [[nodiscard]] bool pinned() const { return m_pinned; }
    [[nodiscard]] std::int64_t capacity() const { return m_memory.defined() ? m_memory.numel() : 0; }
    // Returns a contiguous tensor. If the capacity is exceeded, the tensor has pageable memory of its own.
    at::Tensor take(at::IntArrayRef shape, at::ScalarType dtype);
    // Makes all memory available again.
    void clear() { m_used = 0; }
    // Returns one of `count` equal parts of the memory as bytes, whether or not take() has returned it.
    [[nodiscard]] at::Tensor part(std::int64_t number, std::int64_t count) const;
    // Returns the capacity that take() uses for a tensor of this number of bytes.
    static std::int64_t rounded(std::int64_t bytes) { return (bytes + page - 1) / page * page; }

private:
    at::Tensor m_memory;  // bytes, page-aligned
    std::int64_t m_used = 0;
    bool m_pinned = false;
};

// The memory for the batches of the pipeline (flow.h), allocated once for a run.
class StagingRing {
public:
    struct Place {
        StagingChunk up, down;
    };
    // One batch is being prepared, three are on the device, one is being written.
    static constexpr std::size_t size = 5;

    StagingRing(std::int64_t upBytes, std::int64_t downBytes);
    std::array<Place, size>& places() { return m_places; }
    [[nodiscard]] bool pinned() const;

private:
    std::array<Place, size> m_places;
};

}  // namespace hopscope::executor
