#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "graph/direct_file.h"
#include "graph/file.h"
#include "graph/row_set.h"
#include "support/temporary_folder.h"

namespace hopscope::tests {

TEST_CASE("rows of a set are numbered in ascending order")
{
    std::mt19937 random(3);
    for (const std::int64_t rows : {1, 63, 64, 65, 1000}) {
        graph::RowSet set(rows);
        std::set<std::int64_t> expected;
        for (std::int64_t i = 0; i < rows / 3 + 1; ++i) {
            const auto row = static_cast<std::int64_t>(random() % static_cast<unsigned>(rows));
            set.add(row);
            expected.insert(row);
        }
        CHECK(set.number() == static_cast<std::int64_t>(expected.size()));
        for (std::int64_t row = 0; row < rows; ++row) {
            const auto next = expected.lower_bound(row);
            CHECK(set.has(row) == expected.contains(row));
            CHECK(set.place(row) == std::distance(expected.begin(), next));
            CHECK(set.next(row) == (next == expected.end() ? rows : *next));
        }
        const std::vector<std::int32_t> narrow(expected.begin(), expected.end());
        const std::vector<std::int64_t> wide(expected.begin(), expected.end());
        std::vector<std::int32_t> narrowPlaces(narrow.size());
        std::vector<std::int64_t> widePlaces(wide.size());
        set.places(narrow.data(), set.count(), narrowPlaces.data());
        set.places(wide.data(), set.count(), widePlaces.data());
        for (std::size_t i = 0; i < wide.size(); ++i) {
            CHECK(narrowPlaces[i] == static_cast<std::int32_t>(i));
            CHECK(widePlaces[i] == static_cast<std::int64_t>(i));
        }
    }
}

TEST_CASE("a file is read past the page cache from any byte on, to its end and not beyond")
{
    const test::TemporaryFolder folder;
    const std::string path = folder.path + "/bytes";
    std::string bytes(20'001, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
    std::ofstream(path) << bytes;
    const auto file = graph::DirectFile::open(path);
    REQUIRE(file.has_value());
    const auto memory = graph::PageMemory::allocate(20'001 + graph::DirectFile::slack);
    REQUIRE(memory.has_value());
    for (const std::int64_t offset : {0, 1, 4095, 4096, 8191, 20'000})
        for (const std::int64_t count : {1, 100, 4096, 12'000}) {
            const auto read = file->read(offset, count, memory->data());
            const bool within = offset + count <= 20'001;
            REQUIRE(read.has_value() == within);
            if (within)
                CHECK(std::equal(*read, *read + count, reinterpret_cast<const std::byte*>(bytes.data()) + offset));
            else CHECK(read.error().code == base::ErrorCode::Input);
        }
    CHECK(!graph::DirectFile::open(folder.path + "/none").has_value());
}

TEST_CASE("the file behind a mapping is found, as long as it has its name")
{
    const test::TemporaryFolder folder;
    const std::string path = folder.path + "/mapped file";
    std::ofstream(path) << std::string(10'000, 'x');
    const auto mapped = graph::mapFile(path);
    REQUIRE(mapped.has_value());
    if (const auto place = graph::fileBehind(mapped->data + 5000)) {
        CHECK(place->path == path);
        CHECK(place->offset == 5000);
    } else {
        MESSAGE("the folder for temporary files is in memory");
    }
    std::filesystem::remove(path);
    CHECK(!graph::fileBehind(mapped->data).has_value());
    CHECK(!graph::fileBehind(&folder).has_value());
}

}  // namespace hopscope::tests
