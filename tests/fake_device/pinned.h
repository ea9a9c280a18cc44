#pragma once

// Private to the fake device: page-locked host memory and the copies that are under way in it.

#include <cstddef>
#include <map>
#include <vector>

#include <ATen/core/CachingHostAllocator.h>

#include "fake_device/clocks.h"

namespace hopscope::fake_device {

enum class Direction : std::uint8_t { Up, Down };

class Pinned final : public at::HostAllocator {
public:
    // Sizes are rounded up to powers of two and kept for the next request until empty_cache(), as LibTorch's pinned
    // allocator does.
    c10::DataPtr allocate(std::size_t bytes) override;
    c10::DeleterFnPtr raw_deleter() const override;
    void copy_data(void* to, const void* from, std::size_t bytes) const override;
    void empty_cache() override;
    bool record_event(void* pointer, void*, c10::Stream) override { return holds(pointer); }
    at::HostStats get_stats() override { return {}; }
    void reset_accumulated_stats() override {}
    void reset_peak_stats() override {}

    [[nodiscard]] std::int64_t bytes() const;  // of all blocks, used or kept

    [[nodiscard]] bool holds(const void* address) const;
    // Refuses a copy that is in the way of another one; `mark` is the copy's.
    void checkCopy(const void* begin, std::size_t bytes, Direction direction, int lane) const;
    // From now on the host keeps off, until it knows of `mark`.
    void protect(const void* begin, std::size_t bytes, Direction direction, Mark mark);
    // Gives back what the host has waited for.
    void unprotectPassed();
    // Ends all copies, as a context does that is gone.
    void endCopies();

    // While alive, the device itself may touch this memory, whatever is under way in it.
    class Reach {
    public:
        Reach(const void* begin, std::size_t bytes, Direction direction);
        ~Reach();
        Reach(const Reach&) = delete;
        Reach& operator=(const Reach&) = delete;

    private:
        char *m_first, *m_last;
        bool m_opened;
    };

private:
    struct Range {
        char *first, *last;  // whole pages

        [[nodiscard]] bool meets(const char* begin, const char* end) const { return first < end && begin < last; }
    };
    struct Copy : Range {
        Direction direction;
        Mark mark;

        // Uploads may read the same pages.
        [[nodiscard]] bool isInTheWay(Direction other, const char* begin, const char* end) const
        {
            return (direction == Direction::Down || other == Direction::Down) && meets(begin, end);
        }
    };
    struct Block {
        std::size_t bytes = 0;  // mapped
        bool used = false;
    };

    static void release(void* data);
    static std::vector<Range> merged(std::vector<Range> ranges);
    char* take(std::size_t bytes);
    [[nodiscard]] bool underWay(const char* first, const char* last) const;
    [[nodiscard]] bool closedTo(Direction direction, const char* first, const char* last) const;
    void protectAgain(const char* first, const char* last) const;

    std::map<char*, Block> m_blocks;
    std::vector<Copy> m_copies;
};

Pinned& pinned();

}  // namespace hopscope::fake_device
