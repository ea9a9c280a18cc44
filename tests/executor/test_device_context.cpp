#include "executor/device/device_context.h"

#include <unistd.h>

#include <c10/util/Exception.h>
#include <doctest/doctest.h>

using namespace hopscope::executor;

namespace {

at::Tensor bytes(std::int64_t count) { return at::empty({count}, at::kByte); }

}  // namespace

TEST_CASE("On a CPU copies are the tensors themselves, and there is one queue")
{
    installCpuAllocator();
    DeviceContext cpu("cpu");
    CHECK_FALSE(cpu.gpu());
    CHECK(cpu.device().is_cpu());
    const at::Tensor t = at::arange(7);
    CHECK(cpu.upload(t).is_same(t));
    CHECK(cpu.fetch(t).is_same(t));
    cpu.order(Lane::Upload, Lane::Compute);
    cpu.synchronize();
    CHECK(cpu.stream(Lane::Compute) == nullptr);
    CHECK(cpu.unsteadyOperators().empty());
}

TEST_CASE("The limit of a CPU holds for tensors until it is taken away")
{
    installCpuAllocator();
    DeviceContext cpu("cpu");
    cpu.setLimit(cpu.memory().current + 100'000);
    const at::Tensor fits = bytes(50'000);
    CHECK_THROWS_AS((void)bytes(60'000), c10::OutOfMemoryError);
    CHECK_NOTHROW(cpu.checkLimit());
    cpu.setLimit(0);
    CHECK_NOTHROW((void)bytes(60'000));
}

TEST_CASE("The peak begins again where it is reset, at what is held")
{
    installCpuAllocator();
    DeviceContext cpu("cpu");
    cpu.resetPeak();
    const std::int64_t before = cpu.memory().current;
    CHECK(cpu.memory().peak == before);
    const at::Tensor kept = bytes(10'000);
    {
        const at::Tensor gone = bytes(30'000);
    }
    CHECK(cpu.memory().peak - before == countedBytes(10'000) + countedBytes(30'000));
    CHECK(cpu.memory().current - before == countedBytes(10'000));
    cpu.resetPeak();
    CHECK(cpu.memory().peak == cpu.memory().current);
}

TEST_CASE("A CPU's free memory is what the system can still give, never more than it has")
{
    const DeviceContext cpu("cpu");
    CHECK(cpu.freeMemory() > 1 << 20);
    CHECK(cpu.freeMemory() <= ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
}
