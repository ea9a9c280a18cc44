#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include "graph/file.h"
#include "support/temporary_folder.h"

namespace hopscope::graph {

namespace {

constexpr std::int64_t size = 3 << 20;

bool allZero(const std::byte* memory)
{
    return std::all_of(memory, memory + size, [](std::byte b) { return b == std::byte{0}; });
}

struct Allowance {
    explicit Allowance(std::int64_t bytes) { allowAnonymousScratch(bytes); }
    ~Allowance() { allowAnonymousScratch(0); }
};

}  // namespace

TEST_CASE("scratch memory is anonymous as far as that is allowed, and in files beyond")
{
    const test::TemporaryFolder folder;
    const Allowance allowance(2 * size);
    auto first = mapScratch(folder.path, size, Fill::Zeros), second = mapScratch(folder.path, size, Fill::Zeros);
    REQUIRE((first.has_value() && second.has_value()));
    CHECK(anonymousScratch() == 2 * size);
    auto third = mapScratch(folder.path, size, Fill::Zeros);
    REQUIRE(third.has_value());
    CHECK(anonymousScratch() == 2 * size);
    CHECK(!mapScratch("/nowhere", size, Fill::Zeros).has_value());  // a file would have to be there
    for (const auto& memory : {*first, *second, *third}) CHECK(allZero(memory.get()));
}

TEST_CASE("freed scratch memory is used again, with zeros where they are asked for")
{
    const test::TemporaryFolder folder;
    const Allowance allowance(4 * size);
    std::byte* before = nullptr;
    {
        auto memory = mapScratch(folder.path, size, Fill::Zeros);
        REQUIRE(memory.has_value());
        before = memory->get();
        std::memset(before, 7, static_cast<std::size_t>(size));
    }
    CHECK(anonymousScratch() == size);
    {
        auto any = mapScratch(folder.path, size - size / 8, Fill::Any);
        REQUIRE(any.has_value());
        CHECK(any->get() == before);
    }
    auto zeros = mapScratch(folder.path, size, Fill::Zeros);
    REQUIRE(zeros.has_value());
    CHECK(zeros->get() == before);
    CHECK(allZero(zeros->get()));
    zeros->reset();
    dropScratch();
    CHECK(anonymousScratch() == 0);
}

TEST_CASE("ready memory is anonymous or not there, and is used again")
{
    assumeFastPages();
    const Allowance allowance(2 * size);
    CHECK(readyScratch(0, 2) == nullptr);
    CHECK(readyScratch(3 * size, 2) == nullptr);
    std::byte* before = nullptr;
    {
        const auto memory = readyScratch(size, 2);
        REQUIRE(memory != nullptr);
        CHECK(anonymousScratch() == size);
        before = memory.get();
        std::memset(before, 7, static_cast<std::size_t>(size));
    }
    CHECK(readyScratch(size, 2).get() == before);
    const auto first = readyScratch(size, 1), second = readyScratch(size, 1);
    CHECK((first && second));
    CHECK(readyScratch(size, 1) == nullptr);
}

TEST_CASE("what outlives the work that it was for is not kept")
{
    const test::TemporaryFolder folder;
    const Allowance allowance(2 * size);
    std::shared_ptr<std::byte> result;
    {
        const ScratchScope work(false);
        result = mapScratch(folder.path, size, Fill::Any).value();
    }
    CHECK(anonymousScratch() == size);
    result.reset();
    CHECK(anonymousScratch() == 0);
}

TEST_CASE("memory of a large array does for one that is larger by a header")
{
    const test::TemporaryFolder folder;
    const Allowance allowance(1 << 28);
    const std::int64_t large = 16 << 20;
    auto first = mapScratch(folder.path, large, Fill::Any);
    REQUIRE(first.has_value());
    const std::byte* const before = first->get();
    first->reset();
    auto next = mapScratch(folder.path, large + 64, Fill::Any);
    REQUIRE(next.has_value());
    CHECK(next->get() == before);
    CHECK(anonymousScratch() < large + large / 4);
}

TEST_CASE("what is freed after the allowance is gone is given back at once")
{
    const test::TemporaryFolder folder;
    allowAnonymousScratch(2 * size);
    auto memory = mapScratch(folder.path, size, Fill::Zeros);
    REQUIRE(memory.has_value());
    allowAnonymousScratch(0);
    CHECK(anonymousScratch() == size);
    memory->reset();
    CHECK(anonymousScratch() == 0);
}

}  // namespace hopscope::graph
