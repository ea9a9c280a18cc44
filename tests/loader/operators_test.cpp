// The table of operators against LibTorch: its names are there, and what it claims about sharing is what storages say.

#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/csrc/jit/runtime/operator.h>

#include "loader/custom_ops.h"
#include "loader/walk/sharing.h"
#include "operators/operators.h"

using namespace hopscope;
using operators::Aliasing;
using operators::Operator;

namespace {

// The line of the table with another claim, as a mistake would leave it.
Operator claiming(const char* name, Aliasing aliasing)
{
    Operator line = operators::of(name);
    line.traits.aliasing = aliasing;
    return line;
}

}  // namespace

TEST_CASE("LibTorch's registry has every operator of the table")
{
    loader::registerCustomOps();
    for (const Operator& op : operators::table()) {
        const std::string name = operators::fullName(op);
        if (name.starts_with("scalar::")) continue;
        CHECK_MESSAGE(!torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty(), name);
    }
}

TEST_CASE("operators whose in-place twins may write over an operand have such a twin")
{
    for (const Operator& op : operators::table()) {
        if (!op.traits.overwrites) continue;
        const auto twin = [&op](const char* overload) {
            return c10::Dispatcher::singleton().findSchema({operators::fullName(op) + "_", overload});
        };
        const bool pair = twin("Tensor").has_value();  // with two tensors, else with one
        REQUIRE_MESSAGE((pair || twin("")), op.name);
        const auto& arguments = (pair ? twin("Tensor") : twin(""))->schema().arguments();
        CHECK(arguments.size() >= (pair ? 2U : 1U));
        for (std::size_t i = 0; i < arguments.size(); ++i)
            CHECK(arguments[i].type()->isSubtypeOf(*c10::TensorType::get()) == (i < (pair ? 2U : 1U)));
    }
}

TEST_CASE("true claims about sharing are not contradicted")
{
    const at::Tensor x = at::randn({3, 4});
    CHECK_FALSE(loader::contradiction(operators::of("aten::relu"), {x}, {x.relu()}));
    CHECK_FALSE(loader::contradiction(operators::of("aten::view"), {x}, {x.view({-1})}));
    CHECK_FALSE(loader::contradiction(operators::of("aten::detach"), {x}, {x.detach()}));
    CHECK_FALSE(loader::contradiction(operators::of("aten::contiguous"), {x}, {x.contiguous()}));
    CHECK_FALSE(loader::contradiction(operators::of("aten::contiguous"), {x.t()}, {x.t().contiguous()}));
    CHECK_FALSE(loader::contradiction(operators::of("aten::unbind"), {x}, x.unbind(0)));
}

TEST_CASE("a view that the table calls a copy is caught, and a copy that it calls a view")
{
    const at::Tensor x = at::randn({3, 4}), y = at::randn({3, 4});
    CHECK(loader::contradiction(claiming("aten::view", Aliasing::Fresh), {x}, {x.view({-1})}));
    CHECK(loader::contradiction(claiming("aten::view", Aliasing::Copy), {x}, {x.view({-1})}));
    CHECK(loader::contradiction(claiming("aten::relu", Aliasing::View), {x}, {x.relu()}));
    CHECK(loader::contradiction(claiming("aten::clone", Aliasing::Same), {x}, {x.clone()}));
    CHECK(loader::contradiction(claiming("aten::select", Aliasing::Same), {x}, {x.select(0, 1)}));
    CHECK(loader::contradiction(claiming("aten::expand_as", Aliasing::View), {y, x}, {x.expand_as(x)}));
    CHECK(loader::contradiction(claiming("aten::unbind", Aliasing::Fresh), {x}, x.unbind(0)));
}

TEST_CASE("one of several results is enough for a contradiction")
{
    const at::Tensor x = at::randn({3, 4});
    CHECK(
        loader::contradiction(claiming("aten::split", Aliasing::View), {x}, {x.select(0, 0), x.select(0, 1).clone()}));
    CHECK(loader::contradiction(claiming("aten::sort", Aliasing::Fresh), {x}, {x.clone(), x.select(0, 1)}));
}

TEST_CASE("sharing varies where layout or extents could make it")
{
    const at::Tensor x = at::randn({3, 4});
    CHECK_FALSE(loader::sharingVaries(x, {}));
    CHECK_FALSE(loader::sharingVaries(x, {false, true}));
    CHECK_FALSE(loader::sharingVaries(x.t(), {}));
    CHECK(loader::sharingVaries(x, {true, false}));
    CHECK(loader::sharingVaries(x.t(), {false, true}));
    CHECK(loader::sharingVaries(at::randn({1, 4}).t(), {}));
    CHECK(loader::sharingVaries(at::randn({0, 4}), {}));
}
