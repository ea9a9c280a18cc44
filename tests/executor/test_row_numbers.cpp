#include "executor/rows/row_numbers.h"

#include <cstdlib>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "executor/device/accelerator.h"
#include "executor/failure.h"
#include "executor/rows/frontier.h"

using namespace hopscope;
using namespace hopscope::executor;

namespace {

constexpr std::int64_t mostNarrow = std::numeric_limits<std::int32_t>::max();

}  // namespace

TEST_CASE("Numbers take room for 32 bits or for 64, never for both")
{
    for (const std::int64_t most : {std::int64_t{7}, mostNarrow, mostNarrow + 1, std::int64_t{1} << 40}) {
        CAPTURE(most);
        std::int64_t taken = 0;
        const RowBuffer buffer = [&](at::IntArrayRef shape, at::ScalarType type) {
            at::Tensor room = at::empty(shape, type);
            taken += static_cast<std::int64_t>(room.nbytes());
            return room;
        };
        const at::Tensor numbers = at::tensor({std::int64_t{0}, most - 1, most}, at::kLong);
        const at::Tensor copy = narrowed(numbers, most, buffer);
        CHECK(at::equal(copy.to(at::kLong), numbers));
        CHECK(taken == 3 * numberBytes(most));
        CHECK((copy.scalar_type() == numberType(most)));
        CHECK(numberBytes(most) == (most <= mostNarrow ? 4 : 8));
    }
}

TEST_CASE("More rows than 32 bits can number are refused before they are looked at")
{
    std::int32_t entry = 0;
    FrontierNumbers numbers(&entry, 1);
    const auto rows = [](std::int64_t count) { return at::zeros({1}, at::kLong).expand({count}); };
    CHECK_THROWS_AS(numbers.own(rows(mostNarrow)), Failure);
    CHECK_NOTHROW(checkLocalRows(mostNarrow - 1));
    try {
        checkLocalRows(mostNarrow);
        FAIL("numbered");
    } catch (const Failure& failure) {
        CHECK(failure.error.code == base::ErrorCode::Resources);
        CHECK(failure.error.hint.find("--batch") != std::string::npos);
    }
}

// The environment may be read by any thread once there are several.
TEST_CASE("cuBLAS's workspace has a fixed size before any GPU is used")
{
    (void)accelerator();
    const char* const size = std::getenv("CUBLAS_WORKSPACE_CONFIG");
    CHECK(std::string(size ? size : "") == ":4096:8");
}
