// hopscope-engine-fake: the engine, or hopscope-bench by a link of that name, with two GPUs that are not there
// (tests/fake_device), cuda:0 and cuda:1. It is its own oracle child. What the GPUs find is printed and makes it end with 99.
//
// HOPSCOPE_FAKE_FAULT arms one fault: segment:NTH:CODE (the NTH launch of a segment kernel gives this CUDA error; from 700
// on the context is lost), lost:NTH (the same with code 719; memory then throws where it is freed), allocation:NTH, pinned:NTH, memory:BYTES (of each GPU), listing:0
// (there are no GPUs), copies:BYTES (so many a second, and kernels take a millisecond). With --forks it carries out requests (forks.h).

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "fake_device/fake_device.h"
#include "forks.h"

namespace {

using namespace hopscope;

constexpr int foundSomething = 99;

std::vector<std::string> parts(const std::string& text)
{
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ':');) found.push_back(part);
    return found;
}

fake_device::Latency slow(double bytesPerSecond)
{
    fake_device::Latency latency;
    latency.h2dBytesPerSecond = latency.d2hBytesPerSecond = bytesPerSecond;
    latency.kernelSeconds = 1e-3;
    return latency;
}

// False if the text is not as above.
bool arm(const std::string& text)
{
    const std::vector<std::string> fault = parts(text);
    const std::string kind = fault.empty() ? "" : fault[0];
    if (fault.size() != (kind == "segment" ? 3 : 2)) return false;
    const std::int64_t number = std::atoll(fault[1].c_str());
    if (kind == "segment") fake_device::failSegment(number, std::atoi(fault[2].c_str()));
    else if (kind == "lost") fake_device::failSegment(number, 719), fake_device::throwWhereFreed(true);
    else if (kind == "allocation") fake_device::failAllocation(number);
    else if (kind == "pinned") fake_device::failPinned(number);
    else if (kind == "memory") fake_device::setTotalMemory(number);
    else if (kind == "copies") fake_device::setLatency(slow(static_cast<double>(number)));
    else if (kind == "listing" && number == 0) fake_device::setListing(executor::GpuListing{});
    else return false;
    return true;
}

int run(int count, char** arguments)
{
    const char* const fault = std::getenv("HOPSCOPE_FAKE_FAULT");
    if (fault != nullptr && !arm(fault)) {
        std::fprintf(stderr, "HOPSCOPE_FAKE_FAULT=%s is no fault\n", fault);
        return foundSomething;
    }
    const fake_device::Findings findings;
    const int code = engine::engineOrBench(count, arguments);
    const std::vector<std::string> sentences = findings.sentences();
    for (const std::string& sentence : sentences) std::fprintf(stderr, "finding: %s\n", sentence.c_str());
    return sentences.empty() ? code : foundSomething;
}

}  // namespace

int main(int count, char** arguments)
{
    fake_device::install();
    if (count == 2 && std::strcmp(arguments[1], "--forks") == 0) return engine::serveForks(run);
    return run(count, arguments);
}
