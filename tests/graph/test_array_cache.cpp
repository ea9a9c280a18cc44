#include "files.h"

#include <chrono>
#include <filesystem>

#include "graph/array_cache.h"

using namespace hopscope::graph;
using hopscope::graph::testing::readAll;
using hopscope::graph::testing::TempFolder;

namespace {

using Bytes = ArrayCache::Bytes;

Digest named(const std::string& text) { return digestOf(text.data(), text.size()); }

std::vector<std::byte> counted(std::size_t size, unsigned first)
{
    std::vector<std::byte> bytes(size);
    for (std::byte& b : bytes) b = static_cast<std::byte>(first++ * 37 & 0xFFU);
    return bytes;
}

bool same(Bytes a, Bytes b) { return std::ranges::equal(a, b); }

}  // namespace

TEST_CASE("arrays of a cache are found again under their name, aligned, whatever their sizes")
{
    const TempFolder folder;
    const ArrayCache cache(folder.path(), 2);
    for (const std::size_t size : {0, 1, 4095, 4096, 4097, 3 << 20}) {
        CAPTURE(size);
        const Digest name = named("arrays " + std::to_string(size));
        CHECK(!cache.find(name));
        const auto first = counted(size, 1), second = counted(100, 7), none = counted(0, 0);
        const std::array<Bytes, 3> arrays{first, none, second};
        REQUIRE(cache.keep(name, arrays));
        const auto found = ArrayCache(folder.path(), 1).find(name);
        REQUIRE(found);
        REQUIRE(found->arrays.size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(same(found->arrays[i], arrays[i]));
            CHECK(reinterpret_cast<std::uintptr_t>(found->arrays[i].data()) % 4096 == 0);
        }
    }
    CHECK(folder.names().size() == 6);
}

TEST_CASE("what is kept again under a name replaces what was there, which stays as long as somebody reads it")
{
    const TempFolder folder;
    const ArrayCache cache(folder.path(), 1);
    const auto before = counted(10'000, 1), after = counted(5'000, 2);
    REQUIRE(cache.keep(named("n"), std::array<Bytes, 1>{before}));
    const auto old = cache.find(named("n"));
    REQUIRE(cache.keep(named("n"), std::array<Bytes, 1>{after}));
    REQUIRE(old);
    CHECK(same(old->arrays[0], before));
    CHECK(same(cache.find(named("n"))->arrays[0], after));
    CHECK(folder.names().size() == 1);
}

TEST_CASE("a link in a cache counts as none, whatever it leads to")
{
    const TempFolder folder;
    const std::string inside = folder.path() + "/cache", elsewhere = folder.path() + "/elsewhere";
    const ArrayCache cache(inside, 1);
    std::filesystem::create_directory(inside);
    const auto numbers = counted(9'000, 3);
    REQUIRE(cache.keep(named("n"), std::array<Bytes, 1>{numbers}));
    REQUIRE(cache.find(named("n")));
    const std::filesystem::path file = std::filesystem::directory_iterator(inside)->path();
    std::filesystem::rename(file, elsewhere);
    std::filesystem::create_symlink(elsewhere, file);
    CHECK(!cache.find(named("n")));
    std::filesystem::remove(file);
    std::filesystem::rename(elsewhere, file);
    CHECK(cache.find(named("n")));
}

TEST_CASE("a file of a cache that is damaged, cut, or under another name counts as none")
{
    const TempFolder folder;
    const ArrayCache cache(folder.path(), 2);
    const auto numbers = counted(9'000, 3);
    REQUIRE(cache.keep(named("n"), std::array<Bytes, 1>{numbers}));
    const std::string name = folder.names().at(0), intact = readAll(folder.file(name));
    const auto damaged = [&](std::string bytes) {
        (void)folder.write(name, bytes);
        return !cache.find(named("n"));
    };
    // The end of the header, and what follows the array, hold nothing.
    for (const std::size_t at : {0, 7, 8, 20, 24, 39, 40, 47, 48, 4096, 8'000, 13'095}) {
        CAPTURE(at);
        std::string bytes = intact;
        bytes[at] = static_cast<char>(bytes[at] ^ 4);
        CHECK(damaged(bytes));
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{4096}, intact.size() - 4096})
        CHECK(damaged(intact.substr(0, size)));
    CHECK(damaged(intact + intact));
    CHECK(!damaged(intact));
    std::filesystem::rename(folder.file(name), folder.file(named("other").hex() + ".hopscope-cache"));
    CHECK(!cache.find(named("other")));
}

TEST_CASE("what was not found for longest makes room for what is new, and what does not fit at all is not kept")
{
    const TempFolder folder;
    constexpr std::int64_t each = 2 * 4096;  // a page for the header, and one for the array
    const ArrayCache cache(folder.path(), 1, 3 * each);
    const auto numbers = counted(4'000, 3);
    const auto keep = [&](const std::string& name) { return cache.keep(named(name), std::array<Bytes, 1>{numbers}); };
    (void)folder.write("notes.txt", std::string(100'000, 'x'));  // of somebody else
    int age = 100;
    for (const std::string name : {"a", "b", "c"}) {
        REQUIRE(keep(name));
        const std::string file = folder.file(named(name).hex() + ".hopscope-cache");
        std::filesystem::last_write_time(file,
                                         std::filesystem::file_time_type::clock::now() - std::chrono::hours(age--));
    }
    const auto open = cache.find(named("b"));
    CHECK(cache.find(named("a")));
    REQUIRE(keep("d"));
    CHECK(!cache.find(named("c")));
    for (const std::string name : {"a", "b", "d"}) CHECK(cache.find(named(name)));
    const auto large = counted(3 * each, 1);
    const auto kept = cache.keep(named("e"), std::array<Bytes, 1>{large});
    REQUIRE(!kept);
    CHECK(kept.error().code == hopscope::base::ErrorCode::Resources);
    CHECK(folder.names().size() == 4);
    const auto most = counted(2 * each, 1);
    REQUIRE(cache.keep(named("f"), std::array<Bytes, 1>{most}));
    CHECK(folder.names().size() == 2);
    REQUIRE(open);
    CHECK(same(open->arrays[0], numbers));  // removed, but not from whoever reads it
}

TEST_CASE("a cache whose folder has gone keeps nothing, and says so")
{
    const TempFolder folder;
    const ArrayCache cache(folder.file("gone"), 1);
    const auto kept = cache.keep(named("n"), {});
    REQUIRE(!kept);
    CHECK(kept.error().code == hopscope::base::ErrorCode::Usage);
    CHECK(kept.error().message.find(folder.file("gone")) != std::string::npos);
    CHECK(!cache.find(named("n")));
}

TEST_CASE("digests of pieces do not depend on the number of threads, and on every byte")
{
    std::vector<std::byte> bytes = counted((3 << 20) + 5, 1);
    const Digest digest = digestOf(bytes.data(), bytes.size(), 1);
    CHECK(digestOf(bytes.data(), bytes.size(), 3) == digest);
    for (const std::size_t at : {std::size_t{0}, std::size_t{1} << 20, bytes.size() - 1}) {
        bytes[at] ^= std::byte{1};
        CHECK(digestOf(bytes.data(), bytes.size(), 2) != digest);
        bytes[at] ^= std::byte{1};
    }
}
