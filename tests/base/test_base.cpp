#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/failures.h"
#include "base/fuse.h"
#include "base/id.h"
#include "base/parallel.h"
#include "base/proc.h"
#include "base/result.h"
#include "base/rules.h"
#include "base/sha256.h"
#include "base/temporary_file.h"
#include "base/tensor.h"
#include "base/text.h"
#include "base/units.h"

using namespace hopscope::base;

TEST_CASE("an error is described in one line with its place and its hint")
{
    const Error error{ErrorCode::Input, "the file is short", "copy it again", "x.npy:128"};
    CHECK(describe(error) == "the file is short (x.npy:128); copy it again");
    CHECK(describe({ErrorCode::Input, "x.npy:128: the file is short", {}, "x.npy:128"}) ==
          "x.npy:128: the file is short");
    CHECK(describe({ErrorCode::Internal, "broken", {}, {}}) == "broken");
}

TEST_CASE("patterns to fuse are named once each, in any order")
{
    CHECK(*parseFuse("all") == allFuse());
    CHECK(parseFuse("none")->empty());
    CHECK(*parseFuse("several,chain,several") == std::vector{Fuse::Chain, Fuse::Several});
    for (const char* const wrong : {"", "chain,", "none,chain", "Chain", "chain softmax"}) {
        INFO(wrong);
        REQUIRE_FALSE(parseFuse(wrong));
        CHECK(parseFuse(wrong).error().code == ErrorCode::Usage);
    }
}

TEST_CASE("a message stays on one line whatever is in it")
{
    CHECK(oneLine("a\nb\t\tc\x1b[31m\r\n") == "a b c [31m");
    CHECK(oneLine(std::string(5000, 'x'), 10) == "xxxxxxxxxx\u2026");
    CHECK(oneLine("ab\u2192", 4) == "ab\u2026");
    CHECK(oneLine("a\xff\xe2\x86z") == "a\uFFFD\uFFFD\uFFFDz");
}

TEST_CASE("an error quotes what a file holds without its line breaks and control characters")
{
    const Result<int> failed = fail(ErrorCode::Input, "key 'a\nb' is unknown", "try\r\n'x'", "f.npy\x1b[2J:3");
    CHECK(describe(failed.error()) == "key 'a b' is unknown (f.npy [2J:3); try 'x'");
}

TEST_CASE("the rules are the strategies that look at the model alone, and optima are compared with all of them")
{
    std::set<Strategy> seen{Strategy::Optimal, Strategy::LocalSearch};
    for (const Strategy rule : rules) {
        CHECK(isRule(rule));
        CHECK(seen.insert(rule).second);
    }
    CHECK(seen.size() == strategies.size());
    CHECK(references.front() == Strategy::Optimal);
    CHECK(std::ranges::equal(rules, std::span(references).subspan(1)));
}

TEST_CASE("tables of choices are in the order of their enums, and a rule has an entry in the menu")
{
    for (const StrategyTraits& each : strategies) {
        INFO(each.name);
        CHECK(&traitsOf(each.strategy) == &each);
        CHECK(each.rule == (std::string(each.action) != ""));
    }
    for (const PinTraits& each : pinKinds) CHECK(&traitsOf(each.kind) == &each);
}

TEST_CASE("every error code has a stable name and exit code")
{
    struct Row {
        ErrorCode code;
        int number;
        const char* name;
    };
    // Programs of users know these; more may follow.
    const std::array<Row, 8> rows{{{ErrorCode::Usage, 2, "usage"},
                                   {ErrorCode::Input, 3, "input"},
                                   {ErrorCode::Unsupported, 4, "unsupported"},
                                   {ErrorCode::Different, 5, "different"},
                                   {ErrorCode::Resources, 6, "resources"},
                                   {ErrorCode::Internal, 7, "internal"},
                                   {ErrorCode::Untrusted, 8, "untrusted"},
                                   {ErrorCode::Cancelled, 130, "cancelled"}}};
    for (const Row& row : rows) {
        CHECK(static_cast<int>(row.code) == row.number);
        CHECK(std::string(nameOf(row.code)) == row.name);
        CHECK(errorCodeOf(row.number) == row.code);
    }
    std::set<std::string> names;
    for (const Failure& each : failures) {
        INFO(each.name);
        CHECK(names.insert(each.name).second);
        CHECK(errorCodeOf(static_cast<int>(each.code)) == each.code);
    }
    CHECK_FALSE(errorCodeOf(0));
}

TEST_CASE("an error is passed on between result types")
{
    const Result<int> failed = fail(ErrorCode::Usage, "no");
    const Result<std::string> passed = forward(failed);
    REQUIRE(!passed);
    CHECK(passed.error().message == "no");
    CHECK(passed.error().code == ErrorCode::Usage);
}

TEST_CASE("sizes are read with decimal and binary suffixes")
{
    const std::vector<std::pair<std::string, std::int64_t>> rows{{"123", 123},
                                                                 {"0", 0},
                                                                 {"1K", 1000},
                                                                 {"1Ki", 1024},
                                                                 {"500M", 500'000'000},
                                                                 {"1Gi", 1 << 30},
                                                                 {"4 GB", 4'000'000'000},
                                                                 {"1 GiB", 1 << 30},
                                                                 {"1.5Gi", 1610612736},
                                                                 {"2T", 2'000'000'000'000},
                                                                 {"1Ti", 1LL << 40},
                                                                 {"1GiB", 1 << 30},
                                                                 {"10kb", 10'000},
                                                                 {"9223372036854775807", INT64_MAX},
                                                                 {"0.5K", 500},
                                                                 {"1g", 1'000'000'000}};
    for (const auto& [text, expected] : rows) {
        CAPTURE(text);
        const auto size = parseSize(text);
        REQUIRE(size);
        CHECK(*size == expected);
    }
}

TEST_CASE("what is no size is refused as a usage error that quotes it")
{
    for (const std::string text : {"", "-1", "-0", "G", "1X", "1Gx", "1  G", "1 ", "G 1", "1e3", "nan", "inf",
                                   "9223372036854775808", "9999999T", "1KiKi", "0x10", "+1", "1iB"}) {
        CAPTURE(text);
        const auto size = parseSize(text);
        REQUIRE(!size);
        CHECK(size.error().code == ErrorCode::Usage);
        CHECK(size.error().message.find("'" + text + "'") != std::string::npos);
    }
}

TEST_CASE("bytes, counts and times are written for people")
{
    CHECK(formatBytes(0) == "0 B");
    CHECK(formatBytes(734) == "734 B");
    CHECK(formatBytes(1023.6) == "1.0 KiB");
    CHECK(formatBytes(1.2 * (1 << 30)) == "1.2 GiB");
    CHECK(formatBytes(1024.0 * 1024 - 1) == "1.0 MiB");
    CHECK(formatBytes(std::numeric_limits<double>::infinity()) == "unknown");
    CHECK(formatCount(0) == "0");
    CHECK(formatCount(999) == "999");
    CHECK(formatCount(2708) == "2,708");
    CHECK(formatCount(-123456) == "-123,456");
    CHECK(formatCount(999999.7) == "1.0 M");
    CHECK(formatCount(1.6e6) == "1.6 M");
    CHECK(formatCount(2.5e10) == "25.0 G");
    CHECK(counted(0, "row") == "0 rows");
    CHECK(counted(1, "row") == "1 row");
    CHECK(counted(2708, "row") == "2,708 rows");
    CHECK(counted(1'600'000, "row") == "1,600,000 rows");
    CHECK(formatSeconds(1.234) == "1.23 s");
    CHECK(formatSeconds(0.045) == "45 ms");
    CHECK(formatSeconds(12e-6) == "12 \u00b5s");
    CHECK(formatSeconds(59.96) == "1 min 00 s");
    CHECK(formatSeconds(125) == "2 min 05 s");
    CHECK(formatSeconds(7260) == "2 h 01 min");
    CHECK(formatNumber(0.25) == "0.25");
    CHECK(formatNumber(1.0 / 3) == "0.333333");
    CHECK(formatNumber(1.0 / 3, 3) == "0.333");
    CHECK(formatNumber(1e-7) == "1e-07");
}

TEST_CASE("dtypes know their name and size")
{
    CHECK(itemSize(DType::Bool) == 1);
    CHECK(itemSize(DType::UInt16) == 2);
    CHECK(itemSize(DType::BFloat16) == 2);
    CHECK(itemSize(DType::UInt64) == 8);
    CHECK(itemSize(DType::Complex128) == 16);
    CHECK(std::string(dtypeName(DType::BFloat16)) == "bfloat16");
    CHECK(std::string(dtypeName(DType::Complex128)) == "complex128");
    CHECK(isFloating(DType::Float64));
    CHECK(!isFloating(DType::Complex64));
    CHECK(isIntegral(DType::UInt64));
    CHECK(!isIntegral(DType::Bool));
    CHECK(!isIntegral(DType::Float16));
}

TEST_CASE("contiguity looks at strides only where they matter")
{
    const auto view = [](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
        TensorView result;
        result.shape = std::move(shape);
        result.strides = std::move(strides);
        return result;
    };
    CHECK(view({}, {}).contiguous());
    CHECK(view({2, 3}, {3, 1}).contiguous());
    CHECK(!view({2, 3}, {1, 2}).contiguous());
    CHECK(view({1, 3}, {77, 1}).contiguous());
    CHECK(view({3, 1}, {1, 5}).contiguous());
    CHECK(view({0, 3}, {1, 9}).contiguous());
    CHECK(!view({3}, {2}).contiguous());
    CHECK(contiguousStrides({4, 2, 3}) == std::vector<std::int64_t>{6, 3, 1});
    CHECK(contiguousStrides({}).empty());
    CHECK(view({4, 2, 3}, {6, 3, 1}).elements() == 24);
    CHECK(view({}, {}).elements() == 1);
}

TEST_CASE("an allocated tensor is zero and outlives its maker")
{
    TensorView kept;
    {
        OwnedTensor made = allocate(DType::Int32, {3, 2});
        CHECK(std::all_of(made.bytes, made.bytes + 24, [](std::byte b) { return b == std::byte{0}; }));
        made.bytes[4] = std::byte{7};
        kept = made.view;
    }
    CHECK(kept.bytes() == 24);
    CHECK(kept.data[4] == std::byte{7});
}

TEST_CASE("parts cover a range once, in order, and never more than asked")
{
    for (const std::int64_t count : {0, 1, 7, 100, 1001}) {
        for (const int threads : {-1, 1, 2, 3, 16}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
            std::atomic<int> parts{0};
            parallelParts(count, threads, 5, [&](int part, std::int64_t begin, std::int64_t end) {
                CHECK(part < std::max(threads, 1));
                ++parts;
                for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
            });
            CAPTURE(count);
            CAPTURE(threads);
            CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 1; }));
            CHECK(parts <= std::max<std::int64_t>(1, count / 5));
        }
    }
}

TEST_CASE("ids are invalid until they are set and order by index")
{
    struct Tag {};
    using SomeId = Id<Tag>;
    CHECK(!SomeId().valid());
    CHECK(SomeId(3).at() == 3);
    CHECK(SomeId(2) < SomeId(3));
}

TEST_CASE("SHA-256 of the standard's examples")
{
    const auto hash = [](const std::string& text) { return sha256(std::as_bytes(std::span(text))); };
    CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hash(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a temporary file is new, private, empty, and gone with its object")
{
    namespace fs = std::filesystem;
    std::string path;
    {
        const TemporaryFile file(fs::temp_directory_path(), ".json"), other(fs::temp_directory_path(), ".json");
        path = file.path();
        CHECK(path != other.path());
        CHECK(path.ends_with(".json"));
        REQUIRE(fs::exists(path));
        CHECK(fs::file_size(path) == 0);
        CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    }
    CHECK_FALSE(fs::exists(path));
    CHECK_FALSE(std::ofstream(TemporaryFile("/no/such/folder").path()));
}

TEST_CASE("the memory of the machine and of this process is known")
{
    CHECK(totalMemory() > (std::int64_t(64) << 20));
    CHECK(availableMemory() > 0);
    CHECK(availableMemory() < totalMemory());
    CHECK(anonymousMemory("self") > 0);
    CHECK(anonymousMemory("no such process") == 0);
    CHECK(processorName().find_first_of(":\n") == std::string::npos);
}
