// The table of operators against LibTorch: its names are there, and what it claims about sharing is what storages say.

#include <functional>
#include <utility>

#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/csrc/jit/runtime/operator.h>

#include "loader/custom_ops.h"
#include "loader/parts.h"
#include "loader/walk/allow_list.h"
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

TEST_CASE("fills with a number find it where LibTorch's schema has it")
{
    for (const Operator& op : operators::table()) {
        if (op.traits.fill != operators::Fill::Number) continue;
        const auto all = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(operators::fullName(op)));
        const auto& arguments = all.front()->schema().arguments();
        const auto position = static_cast<std::size_t>(op.traits.fillArgument);
        REQUIRE_MESSAGE(position < arguments.size(), op.name);
        CHECK_MESSAGE(arguments[position].name() == "fill_value", op.name);
    }
}

TEST_CASE("whether the size of a result depends on contents is what the table says")
{
    using Numbers = std::vector<std::int64_t>;
    const at::Tensor few = at::tensor(Numbers{0, 1, 1, 0}), many = at::tensor(Numbers{0, 5, 2, 3});
    const std::pair<const char*, std::function<at::Tensor(const at::Tensor&)>> examples[] = {
        {"aten::argwhere", [](const at::Tensor& x) { return x.argwhere(); }},
        {"aten::bincount", [](const at::Tensor& x) { return x.bincount(); }},
        {"aten::index", [](const at::Tensor& x) { return x.index({x > 0}); }},
        {"aten::masked_select", [](const at::Tensor& x) { return x.masked_select(x > 0); }},
        {"aten::nonzero", [](const at::Tensor& x) { return x.nonzero(); }},
        {"aten::one_hot", [](const at::Tensor& x) { return at::one_hot(x); }},
        {"aten::repeat_interleave", [](const at::Tensor& x) { return x.repeat_interleave(x); }},
        {"aten::unique_consecutive", [](const at::Tensor& x) { return std::get<0>(at::unique_consecutive(x)); }},
        {"aten::cumsum", [](const at::Tensor& x) { return x.cumsum(0); }},
        {"aten::relu", [](const at::Tensor& x) { return x.relu(); }},
        {"aten::sort", [](const at::Tensor& x) { return std::get<0>(x.sort()); }}};
    for (const auto& [name, call] : examples) {
        CAPTURE(std::string(name));
        CHECK(operators::of(name).traits.countsContent == (call(few).sizes() != call(many).sizes()));
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
    for (const auto claimed : {Aliasing::Fresh, Aliasing::Copy}) {
        CHECK(loader::contradiction(claiming("aten::detach", claimed), {x}, {x.detach()}));
        CHECK(loader::contradiction(claiming("aten::expand_as", claimed), {y, x}, {x.expand_as(x)}));
    }
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

TEST_CASE("operators without a line that consist of others are told from those that must not run")
{
    for (const std::string name :
         {"aten::kron", "aten::hstack", "aten::swapaxes", "aten::linalg_multi_dot", "aten::trapezoid"})
        CHECK_MESSAGE(loader::isComposite(name), name);
    for (const std::string name :
         {"aten::relu", "aten::save", "aten::from_file", "aten::fbgemm_linear_int8_weight", "aten::quantized_gru_cell",
          "aten::_cufft_clear_plan_cache", "aten::set_data", "aten::pin_memory", "aten::size", "aten::item",
          "aten::rand", "aten::embedding_backward", "aten::native_dropout", "torch_sparse::spmm_sum"})
        CHECK_MESSAGE(!loader::isComposite(name), name);
}

TEST_CASE("a composite operator runs as its parts, and not where one of them may not run")
{
    const loader::PartsApart apart(loader::partsThatMayRun());
    const at::Tensor a = at::rand({3, 2}), b = at::rand({3, 2});
    CHECK(at::hstack({a, b}).equal(at::cat({a, b}, 1)));
    CHECK(at::relu(a).equal(a));
    CHECK_THROWS_WITH_AS(at::pdist(a), doctest::Contains("aten::_pdist_forward"), c10::Error);
}
