#include "kernels/host_cuda/warp.h"

#include <ucontext.h>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace {

constexpr unsigned most = 32;
constexpr std::size_t stackBytes = 256 << 10;

struct Thread {
    enum State : std::uint8_t { Ready, Waiting, Done } state = Ready;
    ucontext_t context{};
    // While it waits: the threads that it waits for, and its value in a shuffle (bytes: 0 for no shuffle).
    unsigned mask = 0, apart = 0;
    int bytes = 0, width = 0;
    std::uint64_t value = 0;
};

struct Warp {
    std::array<Thread, most> threads{};
    unsigned count = 0, running = 0;
    ucontext_t outside{};
    const std::function<void(unsigned)>* work = nullptr;
};

thread_local Warp* warp = nullptr;

std::byte* stackOf(unsigned thread)
{
    thread_local std::vector<std::unique_ptr<std::byte[]>> stacks(most);
    if (!stacks[thread]) stacks[thread].reset(new std::byte[stackBytes]);
    return stacks[thread].get();
}

void start()
{
    Warp& w = *warp;
    (*w.work)(w.running);
    w.threads[w.running].state = Thread::Done;
    swapcontext(&w.threads[w.running].context, &w.outside);
}

void begin(unsigned thread)
{
    ucontext_t& context = warp->threads[thread].context;
    getcontext(&context);
    context.uc_stack.ss_sp = stackOf(thread);
    context.uc_stack.ss_size = stackBytes;
    context.uc_link = nullptr;
    makecontext(&context, start, 0);
}

void resume(unsigned thread)
{
    warp->running = thread;
    swapcontext(&warp->outside, &warp->threads[thread].context);
}

// Until the threads of the mask do the same.
std::uint64_t wait(const Thread& given)
{
    Warp& w = *warp;
    Thread& self = w.threads[w.running];
    self.mask = given.mask, self.apart = given.apart, self.bytes = given.bytes, self.width = given.width;
    self.value = given.value;
    self.state = Thread::Waiting;
    swapcontext(&self.context, &w.outside);
    return self.value;
}

// A value of no thread where a thread outside of the mask is read, which is undefined.
void shuffle(unsigned mask)
{
    std::array<std::uint64_t, most> values{};
    for (unsigned t = 0; t < warp->count; ++t) values[t] = warp->threads[t].value;
    for (unsigned t = 0; t < warp->count; ++t) {
        Thread& thread = warp->threads[t];
        if ((mask >> t & 1) == 0 || thread.bytes == 0) continue;
        const auto width = static_cast<unsigned>(thread.width);
        const unsigned from = t % width + thread.apart < width ? t + thread.apart : t;
        thread.value = (mask >> from & 1) != 0 ? values[from] : std::numeric_limits<std::uint64_t>::max();
    }
}

// Whether all threads that the thread waits for wait in the same way.
bool together(const Thread& one)
{
    for (unsigned t = 0; t < most; ++t) {
        if ((one.mask >> t & 1) == 0) continue;
        const Thread& other = warp->threads[t];
        if (t >= warp->count || other.state != Thread::Waiting || other.mask != one.mask || other.bytes != one.bytes ||
            other.apart != one.apart || other.width != one.width)
            return false;
    }
    return true;
}

// Lets groups of waiting threads go on; false if there is none.
bool release()
{
    bool some = false;
    for (unsigned t = 0; t < warp->count; ++t) {
        const Thread& one = warp->threads[t];
        if (one.state != Thread::Waiting || (one.mask >> t & 1) == 0 || !together(one)) continue;
        const unsigned mask = one.mask;
        shuffle(mask);
        for (unsigned m = 0; m < warp->count; ++m)
            if ((mask >> m & 1) != 0) warp->threads[m].state = Thread::Ready;
        some = true;
    }
    return some;
}

template <class T, class Bits>
T shuffled(unsigned mask, T value, unsigned apart, int width)
{
    Thread given;
    given.mask = mask, given.apart = apart, given.bytes = sizeof(T), given.width = width;
    given.value = std::bit_cast<Bits>(value);
    return std::bit_cast<T>(static_cast<Bits>(wait(given)));
}

}  // namespace

bool runWarp(unsigned count, bool backwards, const std::function<void(unsigned)>& work)
{
    Warp here;
    here.count = count, here.work = &work;
    warp = &here;
    for (unsigned t = 0; t < count; ++t) begin(t);
    do {
        for (unsigned i = 0; i < count; ++i) {
            const unsigned t = backwards ? count - 1 - i : i;
            if (here.threads[t].state == Thread::Ready) resume(t);
        }
    } while (release());
    warp = nullptr;
    for (unsigned t = 0; t < count; ++t)
        if (here.threads[t].state != Thread::Done) return false;
    return true;
}

void __syncwarp(unsigned mask)
{
    Thread given;
    given.mask = mask;
    wait(given);
}

float __shfl_down_sync(unsigned mask, float value, unsigned apart, int width)
{
    return shuffled<float, std::uint32_t>(mask, value, apart, width);
}

double __shfl_down_sync(unsigned mask, double value, unsigned apart, int width)
{
    return shuffled<double, std::uint64_t>(mask, value, apart, width);
}
