#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "graph/direct_file.h"
#include "graph/file.h"
#include "graph/file_pass.h"
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
            CHECK(set.last(row) == (next == expected.begin() ? -1 : *std::prev(next)));
        }
        CHECK(set.last(rows) == *expected.rbegin());
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

TEST_CASE("rows of two sets, or of one of them alone, are numbered as well")
{
    std::mt19937 random(5);
    for (const std::int64_t rows : {1, 64, 300}) {
        graph::RowSet a(rows), b(rows);
        for (std::int64_t row = 0; row < rows; ++row) {
            if (random() % 2 == 0) a.add(row);
            if (random() % 3 == 0) b.add(row);
        }
        const graph::RowSet both = a.both(b), rest = a.without(b), either = a.either(b);
        std::int64_t inBoth = 0, inRest = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            CHECK(both.has(row) == (a.has(row) && b.has(row)));
            CHECK(rest.has(row) == (a.has(row) && !b.has(row)));
            CHECK(either.has(row) == (a.has(row) || b.has(row)));
            CHECK(both.place(row) == inBoth);
            CHECK(rest.place(row) == inRest);
            inBoth += both.has(row) ? 1 : 0;
            inRest += rest.has(row) ? 1 : 0;
        }
        CHECK(both.count() == inBoth);
        CHECK(rest.count() == inRest);
        CHECK(rest.either(both) == a.both(a));
        CHECK((rest == a.both(a)) == (inBoth == 0));
    }
}

TEST_CASE("a range of rows is a set, and rows of a set are counted in ranges")
{
    constexpr std::int64_t rows = 200;
    graph::RowSet thirds(rows);
    for (std::int64_t row = 0; row < rows; row += 3) thirds.add(row);
    thirds.number();
    for (const std::int64_t first : {0, 1, 63, 64, 65, 130, 200})
        for (const std::int64_t end : {0, 1, 64, 66, 128, 199, 200}) {
            if (first > end) continue;
            const graph::RowSet range = graph::RowSet::range(rows, first, end);
            CHECK(range.count() == end - first);
            std::int64_t expected = 0;
            for (std::int64_t row = 0; row < rows; ++row) {
                CHECK(range.has(row) == (row >= first && row < end));
                expected += row >= first && row < end && row % 3 == 0 ? 1 : 0;
            }
            CHECK(thirds.countIn(first, end) == expected);
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

TEST_CASE("one pass over a file hands over all bytes in their order, in pieces of whole pages")
{
    const test::TemporaryFolder folder;
    const std::string path = folder.path + "/bytes";
    std::string bytes((std::size_t{33} << 20) + 12'345, '\0');
    std::mt19937_64 random(11);
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
        const std::uint64_t number = random();
        std::memcpy(bytes.data() + i, &number, 8);
    }
    std::ofstream(path) << bytes;
    const auto file = graph::DirectFile::open(path);
    REQUIRE(file.has_value());
    const auto all = static_cast<std::int64_t>(bytes.size());
    for (const auto& [offset, count] : {std::pair<std::int64_t, std::int64_t>{0, all},
                                        {136, all - 136},
                                        {4097, 1 << 24},
                                        {5, (1 << 24) + 1},
                                        {1 << 20, 7},
                                        {9, 0}}) {
        CAPTURE(offset);
        std::string found;
        const base::Status passed = graph::passOver(*file, offset, count, [&](const std::byte* at, std::int64_t n) {
            CHECK(found.size() % 4096 == 0);
            found.append(reinterpret_cast<const char*>(at), static_cast<std::size_t>(n));
        });
        REQUIRE(passed.has_value());
        CHECK(found == bytes.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(count)));
    }
    std::int64_t seen = 0;
    const base::Status beyond =
        graph::passOver(*file, 0, all + 1, [&](const std::byte*, std::int64_t n) { seen += n; });
    REQUIRE(!beyond.has_value());
    CHECK(beyond.error().code == base::ErrorCode::Input);
    CHECK(seen == 1 << 25);  // the pieces before the end
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
