#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime_api.h>

#include "kernels/segment_case.h"

using namespace hopscope::kernels;
using segment_case::Case;

namespace {

template <class T>
class OnDevice {
public:
    explicit OnDevice(const std::vector<T>& host) : m_bytes(host.size() * sizeof(T))
    {
        REQUIRE(cudaMalloc(&m_data, m_bytes + 1) == cudaSuccess);
        REQUIRE(cudaMemcpy(m_data, host.data(), m_bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    }
    OnDevice(const OnDevice&) = delete;
    ~OnDevice() { (void)cudaFree(m_data); }
    T* get() const { return static_cast<T*>(m_data); }
    void copyTo(std::vector<T>& host) const
    {
        REQUIRE(cudaMemcpy(host.data(), m_data, m_bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    }

private:
    std::size_t m_bytes = 0;
    void* m_data = nullptr;
};

void runOnDevice(Case& c)
{
    const OnDevice<std::int64_t> offsets(c.offsets), columns(c.columns);
    const OnDevice<float> weight(c.weight), source(c.source), out(c.out);
    SegmentArguments a = c.arguments;
    a.offsets = offsets.get();
    a.columns = a.columns != nullptr ? columns.get() : nullptr;
    a.weight = a.weight != nullptr ? weight.get() : nullptr;
    a.source = source.get();
    a.out = out.get();
    REQUIRE(segmentCuda(a, nullptr) == 0);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    out.copyTo(c.out);
}

bool hasDevice()
{
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

}  // namespace

TEST_CASE("the GPU gives the same bits as one-by-one float arithmetic in edge order")
{
    if (!hasDevice()) {
        std::puts("skipped: no CUDA device");
        return;
    }
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Case c;
        segment_case::makeCase(c, seed);
        CAPTURE(segment_case::describe(c));
        const std::vector<float> want = segment_case::expectedAll<float>(c);
        runOnDevice(c);
        for (std::size_t i = 0; i < want.size(); ++i) {
            CAPTURE(i);
            REQUIRE(segment_case::sameBits(c.arguments.combine, want[i], c.out[i]));
        }
    }
}
