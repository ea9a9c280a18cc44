#include <algorithm>
#include <cmath>
#include <set>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>

#include "executor/calls/dense.h"
#include "loader/one_thread.h"

namespace hopscope::tests {

using executor::linearByOneDnn;
using executor::prefersOneDnn;

namespace {

struct Layer {
    at::Tensor x, weight, bias;
};

Layer layer(std::int64_t rows, std::int64_t k, std::int64_t n)
{
    at::manual_seed(rows * 1000003 + k * 1009 + n);
    return {at::randn({rows, k}), at::randn({n, k}), at::randn({n})};
}

}  // namespace

TEST_CASE("products are known by the places of their arguments, unless something is scaled")
{
    const auto operatorOf = [](const std::string& name, std::vector<ir::Arg> args) {
        ir::Op op;
        op.name = name;
        op.args = std::move(args);
        return op;
    };
    const ir::Arg any{ir::ValueId{0}}, none{}, one{std::int64_t{1}}, real{1.0}, two{std::int64_t{2}};
    const auto linear = executor::denseArguments(operatorOf("aten::linear", {any, any, none}));
    REQUIRE(linear.has_value());
    CHECK(linear->transposed);
    const auto added = executor::denseArguments(operatorOf("aten::addmm", {any, any, any, one, real}));
    REQUIRE(added.has_value());
    CHECK(added->input == 1);
    CHECK(added->weight == 2);
    CHECK(added->bias == 0);
    CHECK_FALSE(executor::denseArguments(operatorOf("aten::addmm", {any, any, any, two, one})).has_value());
    CHECK_FALSE(executor::denseArguments(operatorOf("aten::addmm", {any, any, any, one, any})).has_value());
    CHECK_FALSE(executor::denseArguments(operatorOf("aten::mul", {any, any})).has_value());
    const auto product = executor::denseArguments(operatorOf("aten::mm", {any, any}));
    REQUIRE(product.has_value());
    CHECK_FALSE(product->bias.has_value());
}

TEST_CASE("oneDNN computes layers that are worth its calls")
{
    CHECK(prefersOneDnn({128, 47}));
    CHECK(prefersOneDnn({16, 64}));
    CHECK(prefersOneDnn({128, 8}));
    CHECK_FALSE(prefersOneDnn({8, 512}));
    CHECK_FALSE(prefersOneDnn({512, 4}));
    CHECK_FALSE(prefersOneDnn({31, 32}));
}

TEST_CASE("a dense layer gives what aten::linear gives, with a bias or without")
{
    const c10::InferenceMode inference;
    for (const std::int64_t rows : {1, 2, 63, 64, 65, 1100})
        for (const std::int64_t k : {64, 100, 257})
            for (const std::int64_t n : {16, 47, 128, 173}) {
                CAPTURE(rows);
                CAPTURE(k);
                CAPTURE(n);
                const Layer l = layer(rows, k, n);
                const auto made = linearByOneDnn(l.x, l.weight, l.bias), plain = linearByOneDnn(l.x, l.weight, {});
                REQUIRE(made.has_value());
                REQUIRE(plain.has_value());
                CHECK(at::allclose(*made, at::linear(l.x, l.weight, l.bias), 1e-4, 1e-4));
                CHECK(at::allclose(*plain, at::linear(l.x, l.weight), 1e-4, 1e-4));
                const at::Tensor turned = l.weight.t().contiguous().t();  // as the second operand of aten::mm
                CHECK(at::equal(*linearByOneDnn(l.x, turned, l.bias), *made));
            }
}

TEST_CASE("rows of a dense layer have the same bits on any number of cores")
{
    const c10::InferenceMode inference;
    const Layer l = layer(1500, 128, 47);
    const at::Tensor together = *linearByOneDnn(l.x, l.weight, l.bias);
    const loader::OneThread alone;
    CHECK(at::equal(*linearByOneDnn(l.x, l.weight, l.bias), together));
}

TEST_CASE("rows of a dense layer have the same bits, whatever other rows are computed with them")
{
    const c10::InferenceMode inference;
    for (const std::int64_t n : {8, 47, 128}) {
        const Layer l = layer(1024, 128, n);
        const at::Tensor all = *linearByOneDnn(l.x, l.weight, l.bias);
        for (const std::int64_t rows : {1, 2, 3, 17, 64, 333, 1023}) {
            CAPTURE(n);
            CAPTURE(rows);
            CHECK(at::equal(*linearByOneDnn(l.x.narrow(0, 0, rows), l.weight, l.bias), all.narrow(0, 0, rows)));
        }
    }
}

TEST_CASE("oneDNN is given few different numbers of rows, and never many more than there are")
{
    std::set<std::int64_t> steps;
    for (std::int64_t rows = 1; rows <= 16384; ++rows) {
        const std::int64_t given = executor::rowsInSteps(rows);
        if (rows % 64 == 0) {
            CHECK(given == rows);
            continue;
        }
        steps.insert(given);
        CHECK(given >= rows);
        CHECK(given - rows < std::max<std::int64_t>(128, rows / 8 + 1));
    }
    CHECK(steps.size() <= 46);
}

TEST_CASE("what lies behind the rows of a layer changes nothing")
{
    const c10::InferenceMode inference;
    const Layer l = layer(300, 128, 47);
    for (const std::int64_t rows : {1, 70, 299}) {
        CAPTURE(rows);
        const at::Tensor own = l.x.narrow(0, 0, rows).clone(), expected = *linearByOneDnn(own, l.weight, l.bias);
        at::Tensor behind = l.x.clone();
        behind.narrow(0, rows, 300 - rows).fill_(NAN);
        CHECK(at::equal(*linearByOneDnn(behind.narrow(0, 0, rows), l.weight, l.bias), expected));
        CHECK(at::equal(*linearByOneDnn(l.x.narrow(0, 300 - rows, rows), l.weight, l.bias),
                        *linearByOneDnn(l.x.narrow(0, 300 - rows, rows).clone(), l.weight, l.bias)));
    }
}

TEST_CASE("rows along the last of several dimensions")
{
    const c10::InferenceMode inference;
    const Layer l = layer(12, 64, 40);
    const auto made = linearByOneDnn(l.x.view({3, 4, 64}), l.weight, l.bias);
    REQUIRE(made.has_value());
    CHECK(at::equal(*made, linearByOneDnn(l.x, l.weight, l.bias)->view({3, 4, 40})));
}

TEST_CASE("what oneDNN is not asked for is left to aten::linear")
{
    const c10::InferenceMode inference;
    const Layer l = layer(8, 128, 47), small = layer(8, 20, 20);
    CHECK_FALSE(linearByOneDnn(small.x, small.weight, small.bias).has_value());
    CHECK_FALSE(linearByOneDnn(l.x, l.weight, at::randn({8, 47})).has_value());
    CHECK_FALSE(linearByOneDnn(l.x.narrow(1, 0, 64), l.weight, l.bias).has_value());
    CHECK_FALSE(linearByOneDnn(l.x.to_sparse(), l.weight, l.bias).has_value());
    CHECK_FALSE(linearByOneDnn(l.x.to(at::kDouble), l.weight.to(at::kDouble), l.bias.to(at::kDouble)).has_value());
    CHECK_FALSE(linearByOneDnn(l.x.narrow(0, 0, 0), l.weight, l.bias).has_value());
    CHECK_FALSE(linearByOneDnn(at::randn({8, 256}).slice(1, 0, 256, 2), l.weight, l.bias).has_value());
}

}  // namespace hopscope::tests
