#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <doctest/doctest.h>

#include "executor/memory.h"
#include "model_runs.h"

using namespace hopscope::executor;

namespace {

at::Tensor megabytes(std::int64_t n) { return at::empty({n << 20}, at::TensorOptions().dtype(at::kByte)); }

}  // namespace

TEST_CASE("live tensors are counted and the peak remembers them")
{
    installCpuAllocator();
    const MemoryStats before = cpuMemory();
    {
        const at::Tensor t = megabytes(3);
        CHECK(cpuMemory().current >= before.current + (3 << 20));
        CHECK(reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % 64 == 0);
    }
    CHECK(cpuMemory().current == before.current);
    CHECK(cpuMemory().peak >= before.current + (3 << 20));
    resetCpuPeak();
    CHECK(cpuMemory().peak == before.current);
}

TEST_CASE("an allocation beyond the limit throws as a GPU's does and later ones still work")
{
    installCpuAllocator();
    setCpuLimit(cpuMemory().current + (8 << 20));
    CHECK_THROWS_AS(megabytes(16), c10::OutOfMemoryError);
    CHECK_NOTHROW(megabytes(4));
    setCpuLimit(0);
    CHECK_NOTHROW(megabytes(16));
}

TEST_CASE("blocks of a batch lie side by side, are used again, and give their pages back under a limit")
{
    installCpuAllocator();
    setCpuLimit(0);
    const auto place = [](const at::Tensor& t) { return reinterpret_cast<std::uintptr_t>(t.const_data_ptr()); };
    std::uintptr_t first = 0;
    {
        at::Tensor a = megabytes(1), b = megabytes(2);
        a.fill_(3);
        b.fill_(5);
        first = place(a);
        CHECK(a.eq(3).all().item<bool>());
        CHECK(b.eq(5).all().item<bool>());
        CHECK((place(a) + a.nbytes() <= place(b) || place(b) + b.nbytes() <= place(a)));
    }
    CHECK(place(megabytes(1)) == first);
    setCpuLimit(cpuMemory().current + (8 << 20));
    CHECK(place(megabytes(1)) != first);  // there it counts by itself
    setCpuLimit(0);
    at::Tensor again = megabytes(1);
    CHECK(place(again) == first);
    CHECK(again.eq(0).all().item<bool>());  // pages that were given back
}

TEST_CASE("spilled tensors are not anonymous memory and keep their contents")
{
    installCpuAllocator();
    const hopscope::tests::TemporaryFolder folder;
    const std::int64_t before = cpuMemory().current;
    at::Tensor big;
    {
        const SpillScope spill(folder.path, 1 << 20);
        big = megabytes(5);
        CHECK(cpuMemory().current == before);
        CHECK(std::filesystem::is_empty(folder.path));  // unlinked at once
    }
    big.fill_(7);
    CHECK(big.sum().item<std::int64_t>() == std::int64_t{7} * 5 * (1 << 20));
    const at::Tensor after = megabytes(2);
    CHECK(cpuMemory().current > before);
}

TEST_CASE("a trace sees what its thread takes and gives back, and an inner one takes over")
{
    installCpuAllocator();
    const AllocationTrace outer;
    at::Tensor kept = at::empty({100}, at::kFloat);
    {
        const AllocationTrace inner;
        at::Tensor gone = at::empty({10}, at::kFloat);
        gone.reset();
        kept.reset();  // not the inner one's
        CHECK((inner.events() == std::vector<AllocationTrace::Event>{{0, 40}, {0, 0}}));
        CHECK(inner.held() == 0);
    }
    CHECK((outer.events() == std::vector<AllocationTrace::Event>{{0, 400}}));
    CHECK(outer.held() == countedBytes(400));
}

TEST_CASE("what is counted is what the allocator counts, for small blocks and large ones")
{
    installCpuAllocator();
    for (const std::int64_t n : {1, 60, 64, 100'000, 1'048'500, 1'048'576, 5'000'000, 33'333'333}) {
        const std::int64_t before = cpuMemory().current;
        const at::Tensor t = at::empty({n}, at::kByte);
        CHECK(cpuMemory().current - before == countedBytes(n));
    }
}
