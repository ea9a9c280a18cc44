#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <vector>

#include "loader/archive/preflight.h"

using namespace hopscope;

TEST_CASE("work that ends by itself passes, and changes nothing here")
{
    int touched = 0;
    CHECK(loader::survives("model.pt", [&] { touched = 1; }, {.seconds = 60}).has_value());
    CHECK(touched == 0);
}

TEST_CASE("work that crashes is an error of the file, naming the signal")
{
    const base::Status crashed = loader::survives("model.pt", [] { std::raise(SIGSEGV); }, {.seconds = 60});
    REQUIRE_FALSE(crashed.has_value());
    CHECK(crashed.error().code == base::ErrorCode::Input);
    CHECK(crashed.error().message == "PyTorch's reader crashes on model.pt (signal 11)");
}

TEST_CASE("work that somebody kills is no error of the file")
{
    const base::Status killed = loader::survives("model.pt", [] { std::raise(SIGKILL); }, {.seconds = 60});
    REQUIRE_FALSE(killed.has_value());
    CHECK(killed.error().code == base::ErrorCode::Resources);
    CHECK(killed.error().message == "the process that was to try reading model.pt was killed (signal 9)");
}

TEST_CASE("work that does not end is given up")
{
    const base::Status stuck = loader::survives("model.pt", [] { pause(); }, {.seconds = 1});
    REQUIRE_FALSE(stuck.has_value());
    CHECK(stuck.error().message == "PyTorch's reader did not finish reading model.pt within 1 s");
}

TEST_CASE("work that needs more memory than its limit is refused, and takes none here")
{
    const auto take = [](std::size_t bytes) {
        std::vector<char> taken(bytes, 1);
        if (taken[bytes / 2] != 1) throw std::bad_alloc();
    };
    const loader::ChildLimits limits{.seconds = 60, .bytes = std::uint64_t{256} << 20};
    CHECK(loader::survives(
              "model.pt", [&] { take(std::size_t{64} << 20); }, limits)
              .has_value());
    const base::Status refused = loader::survives(
        "model.pt", [&] { take(std::size_t{512} << 20); }, limits);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == base::ErrorCode::Resources);
    CHECK(refused.error().message == "PyTorch's reader takes more than 256 MiB of memory for model.pt");
}
