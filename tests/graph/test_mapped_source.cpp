// Bytes of mapped files that are read without touching the mapping.

#include <sys/resource.h>

#include <random>

#include "files.h"
#include "graph/file.h"
#include "graph/mapped_source.h"

namespace hopscope::graph::testing {

namespace {

std::string noise(std::size_t bytes)
{
    std::string made(bytes, '\0');
    std::mt19937 random(5);
    for (char& c : made) c = static_cast<char>(random());
    return made;
}

std::int64_t pageFaults()
{
    struct rusage used {};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt + used.ru_majflt;
}

std::string copied(const MappedSource& source, std::int64_t offset, std::int64_t count)
{
    std::string bytes(static_cast<std::size_t>(count), '\0');
    source.copy(offset, count, reinterpret_cast<std::byte*>(bytes.data()));
    return bytes;
}

}  // namespace

TEST_CASE("bytes of a mapped file are read from the file, without page faults")
{
    const TempFolder folder;
    const std::string all = noise(16 << 20);
    const auto file = mapFile(folder.write("rows", all));
    REQUIRE(file.has_value());
    const MappedSource source(file->data + 100);
    CHECK(source.reads());
    std::string bytes(all.size() - 107, 'x');
    const std::int64_t before = pageFaults();
    source.copy(7, static_cast<std::int64_t>(bytes.size()), reinterpret_cast<std::byte*>(bytes.data()));
    CHECK(pageFaults() - before < 50);  // 256 if the mapping were read in steps of 16 pages
    CHECK(bytes == all.substr(107));
}

TEST_CASE("bytes that no file holds in their present state are copied from memory")
{
    const TempFolder folder;
    const std::string in = noise(5000);
    CHECK_FALSE(MappedSource(in.data()).reads());
    CHECK(copied(MappedSource(in.data()), 3, 4000) == in.substr(3, 4000));

    const std::string path = folder.write("rows", in);
    const auto file = mapFile(path);
    REQUIRE(file.has_value());
    std::filesystem::remove(path);
    CHECK(copied(MappedSource(file->data), 3, 4000) == in.substr(3, 4000));
    CHECK(folder.write("rows", std::string(5000, 'y')) == path);
    CHECK_FALSE(MappedSource(file->data).reads());
    CHECK(copied(MappedSource(file->data), 3, 4000) == in.substr(3, 4000));
}

TEST_CASE("an address beyond a mapped file is none of its bytes")
{
    const TempFolder folder;
    const auto file = mapFile(folder.write("rows", noise(5000)));
    REQUIRE(file.has_value());
    CHECK(MappedSource(file->data + 4999).reads());
    CHECK_FALSE(MappedSource(file->data + 5000).reads());
}

}  // namespace hopscope::graph::testing
