#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>

#include <cuda_runtime_api.h>

#include "kernels/segment_case.h"
#include "kernels/strip_case.h"

using namespace hopscope::kernels;
using segment_case::Case;

namespace {

class OnDevice {
public:
    OnDevice(const void* host, std::size_t bytes) : m_bytes(bytes)
    {
        REQUIRE(cudaMalloc(&m_data, m_bytes + 1) == cudaSuccess);
        REQUIRE(cudaMemcpy(m_data, host, m_bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    }
    template <class T>
    explicit OnDevice(const std::vector<T>& host) : OnDevice(host.data(), host.size() * sizeof(T))
    {}
    OnDevice(const OnDevice&) = delete;
    ~OnDevice() { (void)cudaFree(m_data); }

    template <class T>
    T* as(std::size_t offset = 0) const
    {
        return reinterpret_cast<T*>(static_cast<std::byte*>(m_data) + offset);
    }
    void copyTo(std::vector<std::byte>& host) const
    {
        REQUIRE(cudaMemcpy(host.data(), m_data, m_bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    }

private:
    std::size_t m_bytes = 0;
    void* m_data = nullptr;
};

// Pinned memory of the host, which kernels read by the same address.
class Pinned {
public:
    explicit Pinned(const std::vector<std::byte>& host)
    {
        REQUIRE(cudaHostAlloc(&m_data, host.size() + 1, cudaHostAllocDefault) == cudaSuccess);
        std::copy(host.begin(), host.end(), static_cast<std::byte*>(m_data));
    }
    Pinned(const Pinned&) = delete;
    ~Pinned() { (void)cudaFreeHost(m_data); }

    [[nodiscard]] const void* data() const { return m_data; }

private:
    void* m_data = nullptr;
};

// Rows that are on the device in part, as the kernels read them.
class Divided {
public:
    explicit Divided(const DividedRows& rows) : m_device(rows.device), m_places(rows.places), m_host(rows.host)
    {
        REQUIRE(m_host.data() != nullptr);
        m_arguments = {m_places.as<std::int32_t>(), m_host.data(), rows.cached};
    }
    [[nodiscard]] const void* device() const { return m_device.as<void>(); }
    [[nodiscard]] const HostRows& arguments() const { return m_arguments; }

private:
    OnDevice m_device, m_places;
    Pinned m_host;
    HostRows m_arguments;
};

// Every pointer of the case is replaced by its copy on the device, alignment included.
void runOnDevice(Case& c)
{
    const OnDevice offsets(c.offsets), narrowOffsets(c.narrowOffsets), columns(c.columns);
    const OnDevice narrowColumns(c.narrowColumns), pieces(c.pieces), partial(c.partial);
    const OnDevice weight(c.weight.bytes()), source(c.source.bytes()), out(c.out.bytes());
    SegmentArguments a = c.arguments;
    a.offsets.data = a.offsets.wide ? offsets.as<void>() : narrowOffsets.as<void>();
    if (c.picked) a.columns.data = a.columns.wide ? columns.as<void>() : narrowColumns.as<void>();
    if (c.weighted) a.weight = weight.as<void>(c.weight.start());
    a.source = source.as<void>(c.source.start());
    std::optional<Divided> divided;
    if (c.divided) {
        divided.emplace(*c.divided);
        a.source = divided->device();
        a.host = divided->arguments();
    }
    a.out = out.as<void>(c.out.start());
    a.pieces = c.pieces.empty() ? nullptr : pieces.as<HubPiece>();
    a.partial = partial.as<float>();
    const int code = segmentCuda(a, nullptr);
    REQUIRE_MESSAGE(code == 0, cudaErrorText(code));
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    out.copyTo(c.out.bytes());
}

// The same for strips.
void runOnDevice(strip_case::Case& c, bool divide)
{
    c.forGpu();
    StripArguments a = c.arguments;
    if (divide) c.divideRows();
    std::deque<OnDevice> held;
    std::deque<Divided> divided;
    const auto there = [&](const auto& host) { return held.emplace_back(host).template as<std::byte>(); };
    a.offsets.data = a.offsets.wide ? there(c.offsets) : there(c.narrowOffsets);
    std::byte *const columns = there(c.columns), *const narrowColumns = there(c.narrowColumns);
    for (std::size_t t = 0; t < a.tables.size(); ++t) {
        Index& index = a.tables[t].columns;
        const auto* const host = static_cast<const std::byte*>(index.data);
        const bool onBoth = c.arguments.tables[t].host.places != nullptr;
        if (onBoth) a.tables[t].host = divided.emplace_back(c.divided[divided.size()]).arguments();
        a.tables[t].data = onBoth ? divided.back().device() : there(c.tables[t]);
        if (host && index.wide) index.data = columns + (host - reinterpret_cast<const std::byte*>(c.columns.data()));
        else if (host) index.data = narrowColumns + (host - reinterpret_cast<const std::byte*>(c.narrowColumns.data()));
    }
    std::vector<const OnDevice*> results;
    for (std::size_t b = 0; b < a.out.size(); ++b) {
        std::byte* const out = there(c.out[b]);
        if (a.out[b]) a.out[b] = out;
        results.push_back(&held.back());
    }
    if (a.pieces) a.pieces = reinterpret_cast<const HubPiece*>(there(c.pieces));
    a.work = there(c.work);
    const int code = stripCuda(c.program, a, nullptr);
    REQUIRE_MESSAGE(code == 0, cudaErrorText(code));
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (std::size_t b = 0; b < a.out.size(); ++b) results[b]->copyTo(c.out[b]);
}

// Why the GPU's kernels cannot be tested here; null: they can.
const char* whyNot()
{
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess) return cudaErrorText(static_cast<int>(code));
    return devices > 0 ? nullptr : "there is none";
}

void checkSeed(std::uint64_t seed, bool spread, bool divide = false)
{
    Case c(seed);
    if (spread) c.usePieces();
    CAPTURE(segment_case::describe(c));
    CAPTURE(spread);
    CAPTURE(divide);
    const std::vector<std::uint32_t> want = segment_case::expected(c);
    if (divide) c.divideRows();
    runOnDevice(c);
    const auto wrong = segment_case::difference(want, c);
    REQUIRE_MESSAGE(!wrong, wrong.value_or(""));
}

void checkStrips(strip_case::Case& cpu, strip_case::Case& gpu, bool divide = false)
{
    CAPTURE(strip_case::describe(cpu));
    CAPTURE(divide);
    cpu.onCpu();
    runOnDevice(gpu, divide);
    const auto wrong = strip_case::difference(cpu, gpu);
    REQUIRE_MESSAGE(!wrong, wrong.value_or(""));
}

}  // namespace

TEST_CASE("the GPU follows the definition bit for bit, hubs in one group of threads and in pieces")
{
    if (const char* reason = whyNot()) {
        std::printf("skipped: no CUDA device: %s\n", reason);
        return;
    }
    for (std::uint64_t seed = 0; seed < 4 * segment_case::combinations; ++seed) {
        checkSeed(seed, false);
        checkSeed(seed, true);
    }
}

TEST_CASE("strips of the GPU have the bits of the CPU on random programs, and on those with kernels of their own")
{
    if (const char* reason = whyNot()) {
        std::printf("skipped: no CUDA device: %s\n", reason);
        return;
    }
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        strip_case::Case cpu(seed), gpu(seed);
        if (stripFits(gpu.program)) checkStrips(cpu, gpu);
    }
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const Shape& shape : kShapes) {
            strip_case::Case cpu(seed, shape), gpu(seed, shape);
            checkStrips(cpu, gpu);
        }
}

TEST_CASE("the GPU reads rows that are in pinned memory of the host bit for bit")
{
    if (const char* reason = whyNot()) {
        std::printf("skipped: no CUDA device: %s\n", reason);
        return;
    }
    for (std::uint64_t seed = 0; seed < segment_case::combinations; ++seed) checkSeed(seed, seed % 2 == 0, true);
    for (std::uint64_t seed = 600; seed < 800; ++seed) {
        strip_case::Case cpu(seed), gpu(seed);
        if (stripFits(gpu.program)) checkStrips(cpu, gpu, true);
    }
}
