#include "fake_device/state.h"

#include <cstdio>
#include <cstdlib>

#include <c10/util/Exception.h>

#include "fake_device/clocks.h"
#include "fake_device/demands.h"
#include "fake_device/pinned.h"

namespace hopscope::fake_device {

namespace {

int& collectors()
{
    static int count = 0;
    return count;
}

const char* cudaErrorText(int code)
{
    switch (code) {
    case 1: return "invalid argument";
    case 2: return "out of memory";
    case 209: return "no kernel image is available for execution on the device";
    case 400: return "invalid resource handle";
    case 700: return "an illegal memory access was encountered";
    case 719: return "unspecified launch failure";
    default: return "unknown error";
    }
}

}  // namespace

std::recursive_mutex& mutex()
{
    static auto& m = *new std::recursive_mutex;  // outlives the tensors of static objects
    return m;
}

State& state()
{
    static State& s = *new State;
    return s;
}

void refuse(const std::string& finding)
{
    {
        const Lock lock(mutex());
        state().findings.push_back(finding);
    }
    C10_THROW_ERROR(Error, "fake device: " + finding);
}

void accuse(const std::string& finding) noexcept
{
    const Lock lock(mutex());
    state().findings.push_back(finding);
    if (collectors() > 0) return;
    std::fprintf(stderr, "fake device: %s\n", finding.c_str());
    std::abort();
}

bool forgets(Call call)
{
    const Lock lock(mutex());
    Mutation& mutation = state().mutations.at(static_cast<std::size_t>(call));
    if (mutation.everyNth == 0 || ++mutation.calls % mutation.everyNth != 0) return false;
    ++mutation.dropped;
    return true;
}

void throwCudaError(int code)
{
    throw c10::AcceleratorError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)}, code,
                                std::string("CUDA error: ") + cudaErrorText(code));
}

void checkAlive()
{
    const Lock lock(mutex());
    if (state().deadCode) throwCudaError(state().deadCode);
}

void reset()
{
    {
        const Lock lock(mutex());
        state() = State{};
        clocks().restart();
        pinned().endCopies();
    }
    freeWorkspaces();
}

std::vector<std::string> findings()
{
    const Lock lock(mutex());
    return state().findings;
}

Findings::Findings()
{
    const Lock lock(mutex());
    ++collectors();
    m_first = state().findings.size();
}

Findings::~Findings()
{
    const Lock lock(mutex());
    --collectors();
}

std::vector<std::string> Findings::sentences() const
{
    const Lock lock(mutex());
    const auto& all = state().findings;
    return {all.begin() + static_cast<std::ptrdiff_t>(std::min(m_first, all.size())), all.end()};
}

bool Findings::tell(const std::string& words) const
{
    for (const std::string& sentence : sentences())
        if (sentence.find(words) != std::string::npos) return true;
    return false;
}

Counts counts()
{
    const Lock lock(mutex());
    return state().counts;
}

void resetCounts()
{
    const Lock lock(mutex());
    state().counts = {};
}

void failAllocation(std::int64_t nth)
{
    const Lock lock(mutex());
    state().allocation.start(nth);
}

void failPinned(std::int64_t nth)
{
    const Lock lock(mutex());
    state().pinned.start(nth);
}

void throwWhereFreed(bool throws)
{
    const Lock lock(mutex());
    state().freeThrows = throws;
}

void failEveryPinned(bool fails)
{
    const Lock lock(mutex());
    state().everyPinnedFails = fails;
}

void failSegment(std::int64_t nth, int code)
{
    const Lock lock(mutex());
    state().segment.start(nth);
    state().segmentCode = code;
}

void setTotalMemory(std::int64_t bytes)
{
    const Lock lock(mutex());
    state().totalMemory = bytes;
}

void takeByOthers(int device, std::int64_t bytes)
{
    const Lock lock(mutex());
    state().others.at(static_cast<std::size_t>(device)) = bytes;
}

void setPeerAccess(bool possible)
{
    const Lock lock(mutex());
    state().peerAccess = possible;
}

void setListing(std::optional<executor::GpuListing> listing)
{
    const Lock lock(mutex());
    state().listing = std::move(listing);
}

void drop(Call call, int everyNth)
{
    const Lock lock(mutex());
    state().mutations.at(static_cast<std::size_t>(call)) = {everyNth, 0, 0};
}

std::int64_t dropped(Call call)
{
    const Lock lock(mutex());
    return state().mutations.at(static_cast<std::size_t>(call)).dropped;
}

}  // namespace hopscope::fake_device
