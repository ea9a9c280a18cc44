// Pages of memory and of mapped files.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/page_advice.h"
#include "graph/direct_file.h"
#include "graph/file.h"
#include "graph/spare_pages.h"
#include "support/temporary_folder.h"

namespace hopscope::tests {

namespace {

constexpr std::int64_t page = 4096;

// Pages of the mapping that are in the page cache.
std::int64_t pagesThere(const graph::MappedFile& file)
{
    std::vector<unsigned char> there(static_cast<std::size_t>((file.size + page - 1) / page));
    if (::mincore(const_cast<std::byte*>(file.data), static_cast<std::size_t>(file.size), there.data()) != 0) return -1;
    return std::ranges::count_if(there, [](unsigned char flags) { return (flags & 1) != 0; });
}

std::int64_t sumOfPages(const graph::MappedFile& file)
{
    std::int64_t sum = 0;
    for (std::int64_t at = 0; at < file.size; at += page) sum += std::to_integer<std::int64_t>(file.data[at]);
    return sum;
}

std::optional<graph::MappedFile> onDisk(const std::string& path, std::int64_t bytes)
{
    std::ofstream(path) << std::string(static_cast<std::size_t>(bytes), 'x');
    ::sync();
    const auto mapped = graph::mapFile(path);
    REQUIRE(mapped.has_value());
    if (graph::fileBehind(mapped->data)) return *mapped;
    MESSAGE("skipped: the folder for temporary files is in memory");
    return std::nullopt;
}

}  // namespace

TEST_CASE("pages that are not needed any more move to where memory is written for the first time, once each")
{
    constexpr std::int64_t block = graph::SparePages::block;
    const auto from = graph::PageMemory::allocate(4 * block), to = graph::PageMemory::allocate(6 * block);
    REQUIRE(from.has_value());
    REQUIRE(to.has_value());
    std::fill_n(from->data(), from->size(), std::byte{7});
    graph::SparePages spare;
    CHECK(spare.give(*from, 0, block / 2) == 0);  // no whole block
    const std::int64_t given = spare.give(*from, 0, from->size());
    CHECK(given > 2 * block);
    CHECK(given <= from->size());
    spare.fill(*to, 0, to->size());
    const auto sevens = [](const graph::PageMemory& memory) {
        return std::count(memory.data(), memory.data() + memory.size(), std::byte{7});
    };
    const std::int64_t moved = sevens(*to);
    CHECK(moved >= 3 * block);
    CHECK(moved % block == 0);
    CHECK(sevens(*from) == from->size() - moved);
    std::fill_n(to->data(), to->size(), std::byte{9});
    std::fill_n(from->data(), from->size(), std::byte{7});
    CHECK(spare.give(*from, 0, from->size()) > 0);
    spare.fill(*to, 0, to->size());
    CHECK(sevens(*to) == 0);
}

TEST_CASE("a part of a memory takes none until it is written again")
{
    const auto memory = graph::PageMemory::allocate(20 * page);
    REQUIRE(memory.has_value());
    std::fill_n(memory->data(), memory->size(), std::byte{7});
    memory->empty(page / 2, 5 * page - 1);
    CHECK(std::count(memory->data(), memory->data() + 20 * page, std::byte{7}) == 17 * page);
    memory->empty(18 * page + 1, memory->size());
    CHECK(std::count(memory->data(), memory->data() + 20 * page, std::byte{7}) == 16 * page);
}

TEST_CASE("the page cache lets go of a mapping that has been read, which can be read again")
{
    const test::TemporaryFolder folder;
    const auto file = onDisk(folder.path + "/data", 200 * page);
    if (!file) return;
    const std::int64_t sum = sumOfPages(*file);
    CHECK(pagesThere(*file) == 200);
    graph::letGoOf(file->data, file->size);
    CHECK(pagesThere(*file) == 0);
    CHECK(sumOfPages(*file) == sum);
    graph::letGoOf(&folder, 1 << 20);  // no file
}

TEST_CASE("a row of a large mapped tensor brings in its page and not what is around it")
{
    constexpr std::int64_t bytes = 65 << 20;
    const test::TemporaryFolder folder;
    const auto file = onDisk(folder.path + "/data", bytes);
    if (!file) return;
    base::TensorView view;
    view.dtype = base::DType::UInt8;
    view.shape = {bytes};
    view.strides = {1};
    view.data = file->data;
    graph::letGoOf(file->data, file->size);
    {
        const base::ScatteredReads few(view);
        for (const std::int64_t at : {std::int64_t{5} << 20, std::int64_t{40} << 20})
            CHECK(std::to_integer<char>(file->data[at]) == 'x');
    }
    CHECK(pagesThere(*file) == 2);
    CHECK(std::to_integer<char>(file->data[20 << 20]) == 'x');  // as usual again
    CHECK(pagesThere(*file) > 3);
}

}  // namespace hopscope::tests
