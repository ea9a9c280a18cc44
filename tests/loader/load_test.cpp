#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "loader/models.h"
#include "loader/prepare.h"
#include "loader/torch_model.h"

using namespace hopscope;
using test::modelPath;

namespace {

loader::Model loaded(const std::string& name)
{
    auto model = loader::load(modelPath(name));
    if (!model) FAIL(base::describe(model.error()));
    return *model;
}

}  // namespace

TEST_CASE("A traced and a scripted model tell what they are")
{
    const loader::Model traced = loaded("net_t"), scripted = loaded("net_s");
    CHECK(traced.info().traced);
    CHECK_FALSE(scripted.info().traced);
    CHECK(scripted.info().className == "Net");
    CHECK(scripted.info().hash.size() == 32);
    REQUIRE(scripted.info().arguments.size() == 2);
    CHECK(scripted.info().arguments[1].name == "edge_index");
    CHECK(scripted.info().arguments[1].type == "Tensor");
    CHECK(scripted.info().parameters.front().name == "convs.0.lin.weight");
    CHECK(scripted.info().parameters.front().shape == std::vector<std::int64_t>{16, 8});
}

TEST_CASE("Preparing LibTorch starts no thread, so that processes can be forked afterwards")
{
    namespace fs = std::filesystem;
    const auto threads = [] {
        return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
    };
    const auto before = threads();
    loader::prepareLibTorch();
    loader::prepareLibTorch();
    CHECK(threads() == before);
}

TEST_CASE("Optional arguments are known")
{
    const loader::Model model = loaded("normalised_s");
    CHECK(model.info().arguments[2].optional);
    CHECK_FALSE(model.info().arguments[1].optional);
}

TEST_CASE("Missing operators are named with their library")
{
    const auto unknown = loader::load(modelPath("unknown"));
    REQUIRE_FALSE(unknown);
    INFO(base::describe(unknown.error()));
    CHECK(unknown.error().code == base::ErrorCode::Unsupported);
    CHECK(unknown.error().message.find("mylib::twice") != std::string::npos);
    CHECK(loaded("stub").info().stubs == std::vector<std::string>{"torch_sparse::ptr2ind"});
    CHECK(loaded("scatter").info().stubs.empty());
}

TEST_CASE("A state dict, a missing file and a folder are refused with a hint")
{
    for (const std::string& path : {modelPath("state_dict"), std::string("nowhere.pt"), test::modelFolder()}) {
        const auto model = loader::load(path);
        REQUIRE_FALSE(model);
        CHECK(model.error().code == base::ErrorCode::Input);
        CHECK_FALSE(model.error().hint.empty());
    }
}

TEST_CASE("Archives that TorchScript refuses are repaired")
{
    const loader::Model model = loaded("pyg_gcn_s");
    REQUIRE_FALSE(model.info().repairs.empty());
    CHECK(model.info().repairs[0].inserted.find("Union[") != std::string::npos);
    CHECK(model.info().repairs[0].record.ends_with(".py"));
}

#ifdef TEST_SHARED
TEST_CASE("Every shared model loads, the two unreadable ones after a repair")
{
    for (const std::string& path : test::sharedModels()) {
        const auto model = loader::load(path);
        INFO(path);
        REQUIRE(model);
        const bool broken = path.ends_with("gcn_s.pt") || path.ends_with("appnp_s.pt");
        CHECK(model->info().repairs.empty() != broken);
    }
}
#endif

TEST_CASE("Damaged archives never get past the loader with a crash")
{
    std::ostringstream whole;
    whole << std::ifstream(modelPath("raises"), std::ios::binary).rdbuf();
    const std::string bytes = whole.str(), path = test::modelFolder() + "/damaged.bin";
    for (std::size_t n = 0; n < bytes.size(); n += 211) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, n);
        const auto model = loader::load(path);
        REQUIRE_FALSE(model);
        CHECK(model.error().code == base::ErrorCode::Input);
        CHECK(model.error().message.find('\n') == std::string::npos);
    }
    std::filesystem::remove(path);
}

TEST_CASE("Keys are bound to arguments, slips are refused, extras are noted")
{
    const loader::Model model = loaded("normalised_s");
    const base::TensorView x = loader::toView(at::randn({4, 8}));
    const base::TensorView index = loader::toView(at::zeros({2, 3}, at::kLong));
    const auto good = loader::bind(model, {{"x", x}, {"edge_index", index}, {"y", x}});
    REQUIRE(good);
    CHECK(good->used == std::vector<std::string>{"edge_index", "x"});
    CHECK(good->ignored.size() == 1);
    const auto slip = loader::bind(model, {{"x", x}, {"edge_index", index}, {"edge_weigth", x}});
    REQUIRE_FALSE(slip);
    CHECK(slip.error().message.find("did you mean 'edge_weight'") != std::string::npos);
    const auto missing = loader::bind(model, {{"x", x}, {"edge_indx", index}});
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == base::ErrorCode::Input);
    CHECK(missing.error().hint.find("edge_indx") != std::string::npos);
}

TEST_CASE("Of the alternatives of a union, the one is taken that the keys describe")
{
    const loader::Model model = loaded("alternatives");
    const base::TensorView x = loader::toView(at::randn({4, 8}));
    const base::TensorView half = loader::toView(at::tensor(0.5)), whole = loader::toView(at::tensor(3));
    const auto kinds = [&](const base::TensorMap& inputs) {
        const auto values = loader::assembleInputs(model, inputs);
        REQUIRE(values);
        return values->at(0).tagKind() + ", " + values->at(1).tagKind();
    };
    CHECK(kinds({{"x", x}, {"scale", half}}) == "Tensor, Double");
    CHECK(kinds({{"x.0", x}, {"x.1", x}, {"scale.n", whole}}) == "Tuple, GenericDict");
    CHECK(kinds({{"x", x}, {"x.0", x}, {"x.1", x}, {"scale", half}}) == "Tensor, Double");
    const auto halfPair = loader::assembleInputs(model, {{"x.0", x}, {"scale", half}});
    REQUIRE_FALSE(halfPair);
    CHECK(halfPair.error().message.find("x.1") != std::string::npos);
    const auto none = loader::assembleInputs(loaded("no_tensor"), {{"x", x}});
    REQUIRE_FALSE(none);
    INFO(none.error().message);
    CHECK(none.error().message.find("which cannot be made from a tensor of the data") != std::string::npos);
}

namespace {

// A matrix with two rows and three columns.
base::TensorMap coordinates(const std::string& key, const at::Tensor& indices)
{
    return {{key + ".coo_indices", loader::toView(indices)},
            {key + ".coo_values", loader::toView(at::ones({indices.size(1)}))},
            {key + ".coo_size", loader::toView(at::tensor({2, 3}, at::kLong))}};
}

base::TensorMap compressed(const std::string& key)
{
    return {{key + ".csr_crow", loader::toView(at::tensor({0, 1, 2}, at::kLong))},
            {key + ".csr_col", loader::toView(at::tensor({2, 0}, at::kLong))},
            {key + ".csr_values", loader::toView(at::ones({2}))},
            {key + ".csr_size", loader::toView(at::tensor({2, 3}, at::kLong))}};
}

base::Result<std::vector<c10::IValue>> assembled(const at::Tensor& indices, const at::Tensor& rounds)
{
    base::TensorMap inputs = coordinates("adj", indices);
    inputs.merge(compressed("others.a"));
    inputs.merge(coordinates("others.b", indices));
    inputs["rounds"] = loader::toView(rounds);
    return loader::assembleInputs(loaded("matrices"), inputs);
}

}  // namespace

TEST_CASE("Matrices are coalesced where each entry is there once and in order, and may lie in dictionaries")
{
    const at::Tensor sorted = at::tensor({0, 0, 1, 0, 2, 1}, at::kLong).view({2, 3});
    const at::Tensor twice = at::tensor({0, 0, 1, 0, 0, 1}, at::kLong).view({2, 3});
    const at::Tensor unsorted = at::tensor({1, 0, 0, 1, 0, 2}, at::kLong).view({2, 3});
    for (const auto& [indices, coalesced] :
         {std::pair(sorted, true), std::pair(twice, false), std::pair(unsorted, false)}) {
        const auto values = assembled(indices, at::tensor(3));
        REQUIRE_MESSAGE(values, (values ? std::string() : values.error().message));
        CHECK(values->at(0).toTensor().is_coalesced() == coalesced);
        const auto others = values->at(1).toGenericDict();
        REQUIRE(others.size() == 2);
        CHECK((others.at("a").toTensor().layout() == at::kSparseCsr));
        CHECK((others.at("b").toTensor().layout() == at::kSparse));
        CHECK(values->at(2).toInt() == 3);
    }
}

TEST_CASE("A fraction is no whole number, whatever its value")
{
    const auto refused = assembled(at::zeros({2, 1}, at::kLong), at::tensor(3.0));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("forward takes an integer") != std::string::npos);
    CHECK(refused.error().hint == "store it as int64");
}

TEST_CASE("A module with several overloads of forward is refused with a way out")
{
    const auto refused = loader::load(modelPath("overloaded"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::Unsupported);
    CHECK(refused.error().message.find("several overloads of forward") != std::string::npos);
    CHECK(refused.error().hint.find("whose forward calls one of them") != std::string::npos);
}

TEST_CASE("Every dtype makes the round trip through LibTorch")
{
    for (const auto type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16,
                            at::kFloat, at::kDouble, at::kUInt16, at::kUInt32, at::kUInt64}) {
        const at::Tensor t = at::ones({2, 3}, at::TensorOptions(type)).t();
        const base::TensorView view = loader::toView(t);
        CHECK((loader::scalarType(view.dtype) == type));
        CHECK(view.strides == std::vector<std::int64_t>{1, 3});
        CHECK(loader::toTensor(view).to(at::kDouble).equal(t.to(at::kDouble)));
    }
    CHECK_FALSE(loader::dtypeOf(at::kQInt8));
}
