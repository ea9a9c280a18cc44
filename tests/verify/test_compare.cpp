#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "verify/compare.h"

using namespace hopscope;
using base::DType;

namespace {

template <class T>
base::TensorView tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<T>& numbers)
{
    base::OwnedTensor owned = base::allocate(dtype, std::move(shape));
    std::memcpy(owned.bytes, numbers.data(), numbers.size() * sizeof(T));
    return owned.view;
}

base::TensorView floats(std::vector<std::int64_t> shape, const std::vector<float>& numbers)
{
    return tensor(DType::Float32, std::move(shape), numbers);
}

verify::TensorError compared(const base::TensorView& a, const base::TensorView& b)
{
    verify::TensorError error{"out"};
    verify::compareAll(a, b, {}, error);
    return error;
}

}  // namespace

TEST_CASE("equal tensors have no difference")
{
    const auto a = floats({2, 2}, {1, 2, 3, 4});
    const auto error = compared(a, a);
    CHECK(error.different == 0);
    CHECK(error.rows == 2);
    CHECK(error.maxAbsolute == 0);
}

TEST_CASE("an element beyond the tolerance is counted with its error")
{
    const auto error = compared(floats({3}, {1, 2, 3.01F}), floats({3}, {1, 2, 3}));
    CHECK(error.different == 1);
    CHECK(error.maxAbsolute == doctest::Approx(0.01).epsilon(1e-3));
    CHECK(error.maxRelative == doctest::Approx(0.01 / 3).epsilon(1e-3));
}

TEST_CASE("a difference within the tolerance is reported and not counted")
{
    const auto error = compared(floats({2}, {1.00005F, 1e-6F}), floats({2}, {1, 0}));
    CHECK(error.different == 0);
    CHECK(error.maxAbsolute > 4e-5);
}

TEST_CASE("rounding that is small beside the largest number of the tensor is tolerated")
{
    CHECK(compared(floats({2}, {1e6F, 0.5F}), floats({2}, {1e6F, 0})).different == 0);
    CHECK(compared(floats({2}, {1e6F, 5}), floats({2}, {1e6F, 0})).different == 1);
}

TEST_CASE("NaN and infinity are equal only to themselves")
{
    const float nan = NAN, inf = INFINITY;
    const auto same = compared(floats({3}, {nan, inf, -inf}), floats({3}, {nan, inf, -inf}));
    CHECK(same.different == 0);
    CHECK(same.notFinite == 3);
    CHECK(compared(floats({4}, {nan, 1, inf, inf}), floats({4}, {1, nan, -inf, 1})).different == 4);
}

TEST_CASE("integers and bools must be equal exactly")
{
    const auto a = tensor<std::int64_t>(DType::Int64, {2}, {1, (std::int64_t(1) << 60) + 1});
    const auto b = tensor<std::int64_t>(DType::Int64, {2}, {1, std::int64_t(1) << 60});
    CHECK(compared(a, a).different == 0);
    CHECK(compared(a, b).different == 1);
    CHECK(compared(tensor<std::uint8_t>(DType::Bool, {2}, {0, 1}), tensor<std::uint8_t>(DType::Bool, {2}, {1, 1}))
              .different == 1);
}

TEST_CASE("half precision is compared as coarsely as it rounds")
{
    const auto a = tensor<std::uint16_t>(DType::Float16, {2}, {0x3C00, 0x3C01});  // 1, next after 1
    const auto b = tensor<std::uint16_t>(DType::Float16, {2}, {0x3C00, 0x3C00});
    const auto c = tensor<std::uint16_t>(DType::Float16, {2}, {0x3C00, 0x4000});  // 1, 2
    CHECK(compared(a, b).different == 0);
    CHECK(compared(c, b).different == 1);
}

TEST_CASE("strided views are compared by position, not by memory")
{
    auto transposed = floats({2, 3}, {1, 4, 2, 5, 3, 6});
    transposed.shape = {2, 3};
    transposed.strides = {1, 2};
    CHECK(compared(transposed, floats({2, 3}, {1, 2, 3, 4, 5, 6})).different == 0);
}

TEST_CASE("complex numbers are compared in both parts")
{
    const auto a = tensor<float>(DType::Complex64, {2}, {1, 2, 3, 4});
    const auto b = tensor<float>(DType::Complex64, {2}, {1, 2, 3, 5});
    CHECK(compared(a, a).different == 0);
    CHECK(compared(a, b).different == 1);
}

TEST_CASE("rows are compared along any dimension")
{
    const auto staged = floats({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto reference = floats({2, 2}, {3, 1, 6, 4});
    verify::TensorError error{"out"};
    verify::compareRows(staged, reference, {1, {2, 0}, {0, 1}}, {}, error);
    CHECK(error.different == 0);
    CHECK(error.rows == 2);
    verify::compareRows(staged, reference, {1, {1}, {0}}, {}, error);
    CHECK(error.different == 2);
}

TEST_CASE("tensors of other shape or dtype are told apart")
{
    const auto a = floats({2, 3}, std::vector<float>(6)), b = floats({4, 3}, std::vector<float>(12));
    CHECK(verify::mismatch(a, b));
    CHECK_FALSE(verify::mismatch(a, b, 0));
    CHECK(verify::mismatch(a, floats({6}, std::vector<float>(6)), 0));
    CHECK(*verify::mismatch(a, b) == "the staged run yields float32 [2, 3], but the model yields float32 [4, 3]");
}
