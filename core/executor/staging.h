#pragma once

// Private to executor: host memory that a GPU copies from and into. Pinned, so that copies run beside computing; pageable
// where the system gives no more pinned memory, which is slower and as right.

#include <array>
#include <optional>

#include <ATen/ATen.h>

namespace hopscope::executor {

// A piece of fixed size, given out from its beginning; what is given out lies on pages of its own.
class StagingChunk {
public:
    static constexpr std::int64_t page = 4096;

    StagingChunk() = default;
    // Falls back to pageable memory. Throws c10::OutOfMemoryError where there is none of that either.
    explicit StagingChunk(std::int64_t bytes);

    [[nodiscard]] bool pinned() const { return m_pinned; }
    [[nodiscard]] std::int64_t capacity() const { return m_memory.defined() ? m_memory.numel() : 0; }
    // Contiguous. Beyond the capacity: pageable memory of its own.
    at::Tensor take(at::IntArrayRef shape, at::ScalarType dtype);
    // What was given out may be given out again.
    void clear() { m_used = 0; }
    // What `take` uses up for so many bytes.
    static std::int64_t rounded(std::int64_t bytes) { return (bytes + page - 1) / page * page; }

private:
    at::Tensor m_memory;  // bytes, from a page's beginning
    std::int64_t m_used = 0;
    bool m_pinned = false;
};

// Places for the batches that are under way; taken once for a run.
class StagingRing {
public:
    struct Place {
        StagingChunk up, down;
    };
    // One that is prepared, three on the device, one that is written.
    static constexpr std::size_t size = 5;

    StagingRing(std::int64_t upBytes, std::int64_t downBytes);
    std::array<Place, size>& places() { return m_places; }
    [[nodiscard]] bool pinned() const;

private:
    std::array<Place, size> m_places;
};

}  // namespace hopscope::executor
