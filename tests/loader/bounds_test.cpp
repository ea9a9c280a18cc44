#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <random>

#include "loader/bounds.h"
#include "loader/registry.h"

using namespace hopscope;
using torch::jit::Stack;

namespace {

at::Tensor ints(std::vector<std::int64_t> numbers) { return at::tensor(numbers, at::kLong); }

// What the operator returns, or that the check refuses it.
std::optional<at::Tensor> result(const char* name, const char* overload, Stack stack)
{
    const auto op = loader::RegisteredOperator::find(name, overload);
    REQUIRE(op);
    try {
        op.run(stack);
    } catch (const c10::IndexError&) {
        return std::nullopt;
    }
    return stack.back().toTensor();
}

}  // namespace

TEST_CASE("operators that do not look at places run within memory and are refused beyond it")
{
    const at::Tensor x = at::arange(12, at::kFloat).view({6, 2});
    const auto alias = [&](std::vector<std::int64_t> size, std::vector<std::int64_t> stride) {
        return result("aten::_reshape_alias", "", {x, size, stride});
    };
    CHECK(alias({12}, {1})->equal(x.view({12})));
    CHECK(alias({3, 2}, {4, 2})->equal(x.as_strided({3, 2}, {4, 2})));
    CHECK(alias({0, 5}, {100, 100}).has_value());
    CHECK_FALSE(alias({13}, {1}));
    CHECK_FALSE(alias({200'000'000}, {64}));
    CHECK_FALSE(alias({3, 3}, {std::int64_t{1} << 62, std::int64_t{1} << 62}));
    CHECK_FALSE(alias({2}, {-1}));

    const auto compress = [&](const at::Tensor& rows, std::int64_t size) {
        return result("aten::_convert_indices_from_coo_to_csr", "", {rows, size, false});
    };
    CHECK(compress(ints({0, 0, 2, 3}), 4)->equal(ints({0, 2, 2, 3, 4})));
    for (const std::int64_t far : {std::int64_t{4}, std::int64_t{-1}, std::int64_t{1'000'000'000}})
        CHECK_FALSE(compress(ints({0, 1, far}), 4));

    const auto expand = [&](const at::Tensor& offsets, std::int64_t entries) {
        return result("aten::_convert_indices_from_csr_to_coo", "",
                      {offsets, at::zeros({entries}, at::kLong), false, false});
    };
    CHECK((*expand(ints({0, 2, 3}), 3))[0].equal(ints({0, 0, 1})));
    CHECK_FALSE(expand(ints({0, 2, 4}), 3));
    CHECK_FALSE(expand(ints({0, 3, 2, 3}), 3));
    CHECK_FALSE(expand(ints({-1, 2, 3}), 3));

    const auto segments = [&](const c10::IValue& lengths, const c10::IValue& offsets, bool unsafe) {
        return result("aten::segment_reduce", "",
                      {x, "sum", lengths, c10::IValue(), offsets, std::int64_t{0}, unsafe, c10::IValue()});
    };
    CHECK(segments(ints({2, 4}), {}, false)->sizes() == at::IntArrayRef({2, 2}));
    CHECK(segments({}, ints({0, 2, 6}), false)->equal(*segments(ints({2, 4}), {}, false)));
    CHECK_FALSE(segments(ints({2, 4}), {}, true));
    CHECK_FALSE(segments({}, ints({0, 2, 7}), false));
    CHECK_FALSE(segments({}, ints({0, 4, 2}), false));

    const auto sparse = [&](const at::Tensor& places, std::vector<std::int64_t> size) {
        return result("aten::_sparse_coo_tensor_unsafe", "",
                      {places, at::ones({places.size(1)}), size, c10::IValue(), c10::IValue(), c10::IValue(),
                       c10::IValue(), c10::IValue()});
    };
    CHECK(sparse(ints({0, 1, 2, 3}).view({2, 2}), {2, 4})->to_dense()[1][3].item<float>() == 1);
    CHECK_FALSE(sparse(ints({0, 2, 2, 3}).view({2, 2}), {2, 4}));
    CHECK_FALSE(sparse(ints({0, -1, 2, 3}).view({2, 2}), {2, 4}));
}
