#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "executor/store.h"
#include "model_runs.h"

using namespace hopscope;
using namespace hopscope::executor;

namespace {

at::Tensor numbers(std::vector<std::int64_t> rows) { return at::tensor(rows, at::TensorOptions().dtype(at::kLong)); }

}  // namespace

TEST_CASE("rows of any dimension are written once each and read back from the file")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    for (int dim : {0, 1}) {
        CAPTURE(dim);
        const at::Tensor whole =
            at::arange(12, at::TensorOptions().dtype(at::kFloat)).reshape({dim ? 3 : 4, dim ? 4 : 3});
        const std::string name = "out." + std::to_string(dim);
        Store store(folder.path, name, name, base::DType::Float32, whole.sizes().vec(), dim, scratch);
        const at::Tensor order = numbers({3, 1});
        store.write(order, whole.index_select(dim, order));
        CHECK_THROWS_AS(store.checkComplete(), Failure);
        store.writeRange(0, whole.narrow(dim, 0, 1));
        store.writeRange(2, whole.narrow(dim, 2, 1));
        CHECK_NOTHROW(store.checkComplete());
        CHECK_THROWS_AS(store.writeRange(2, whole.narrow(dim, 2, 1)), Failure);
        store.publish();
        const auto data = graph::readData({name + "=" + folder.path + "/" + name + ".npy"});
        REQUIRE(data.has_value());
        CHECK(at::equal(loader::toTensor(data->at(name)), whole));
    }
}

TEST_CASE("bfloat16 goes to a safetensors file")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    Store store(folder.path, "out", "out", base::DType::BFloat16, {2, 2}, 0, scratch);
    const at::Tensor whole = at::ones({2, 2}, at::TensorOptions().dtype(at::kBFloat16));
    store.writeAll(whole);
    store.publish();
    const auto data = graph::readData({folder.path + "/out.safetensors"});
    REQUIRE(data.has_value());
    CHECK(at::equal(loader::toTensor(data->at("out")), whole));
}

TEST_CASE("an unpublished store leaves no file")
{
    const tests::TemporaryFolder folder;
    {
        const graph::Scratch scratch(folder.path);
        const Store store(folder.path, "v1", "v1", base::DType::Float32, {5, 2}, 0, scratch);
    }
    CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("names become file names that any system accepts")
{
    CHECK(encodeFileName("out.0") == "out.0");
    CHECK(encodeFileName("out.a/b c") == "out.a%2Fb%20c");
}
