#include <fstream>
#include <thread>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "executor/stores/ready_results.h"
#include "executor/stores/spare_files.h"
#include "model_runs.h"

using namespace hopscope;
using namespace hopscope::executor;

namespace {

at::Tensor numbers(std::vector<std::int64_t> rows) { return at::tensor(rows, at::TensorOptions().dtype(at::kLong)); }

// Bytes that this process has written by system calls.
std::int64_t bytesWritten()
{
    std::ifstream io("/proc/self/io");
    for (std::string name; io >> name;)
        if (std::int64_t bytes = 0; name == "wchar:" && io >> bytes) return bytes;
    return 0;
}

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

TEST_CASE("a store in memory is written as one in a file, begins where that begins, and has no file")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    const at::Tensor whole = at::arange(60, at::TensorOptions().dtype(at::kFloat)).reshape({20, 3});
    const auto memory = executor::unwrap(scratch.allocate(whole.nbytes() + Store::bytesAhead));
    Store store(memory, "v1", base::DType::Float32, {20, 3}, 0, scratch);
    const Store inFile(folder.path, "v2", "v2", base::DType::Float32, {20, 3}, 0, scratch);
    CHECK(reinterpret_cast<std::uintptr_t>(inFile.tensor().const_data_ptr()) % 4096 == Store::bytesAhead);
    CHECK(store.newFile() == nullptr);
    CHECK(store.file().empty());
    store.writeRange(0, whole.narrow(0, 0, 15));
    CHECK_THROWS_AS(store.checkComplete(), Failure);
    const at::Tensor order = numbers({19, 15, 17, 16, 18});
    store.write(order, whole.index_select(0, order));
    CHECK_NOTHROW(store.checkComplete());
    CHECK_THROWS_AS(store.writeRange(2, whole.narrow(0, 2, 1)), Failure);
    CHECK(at::equal(store.tensor(), whole));
    CHECK((store.sync().has_value() && !store.continued()));
    store.flushBehind();
    store.letGoBehind();
}

TEST_CASE("the shortest file that has room is written again, cut, and published at its own length")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    SpareFiles spares(folder.path);
    for (const std::int64_t rows : {9000, 5000, 40000, 100}) {
        auto store = std::make_shared<Store>(folder.path, "v" + std::to_string(rows), "v", base::DType::Float32,
                                             std::vector<std::int64_t>{rows, 100}, 0, scratch);
        store->writeAll(at::full({rows, 100}, 7.0F));
        spares.add(store);
    }
    CHECK(!spares.take(40000 * 400 + 200).has_value());  // too short, all of them
    CHECK(!spares.take(1000 * 400).has_value());         // too long, or too short
    std::optional<graph::NewFile> taken = spares.take(4000 * 400);
    REQUIRE(taken.has_value());
    CHECK(taken->room() == 5000 * 400 + 128);
    const auto made =
        std::make_shared<Store>(folder.path, "out", "out", base::DType::Float32, std::vector<std::int64_t>{4000, 100},
                                0, scratch, graph::Lasting::No, std::move(taken));
    const at::Tensor whole = at::arange(400000, at::TensorOptions().dtype(at::kFloat)).reshape({4000, 100});
    spares.shorten(made);
    made->flushBehind();
    made->writeRange(2000, whole.narrow(0, 2000, 2000));
    made->writeRange(0, whole.narrow(0, 0, 2000));
    spares.finishShortening();
    made->publish();
    spares.drop();
    CHECK(std::filesystem::file_size(folder.path + "/out.npy") == 4000 * 400 + 128);
    const auto data = graph::readData({"out=" + folder.path + "/out.npy"});
    REQUIRE(data.has_value());
    CHECK(at::equal(loader::toTensor(data->at("out")), whole));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("names become file names that any system accepts")
{
    CHECK(encodeFileName("out.0") == "out.0");
    CHECK(encodeFileName("out.a/b c") == "out.a%2Fb%20c");
}

TEST_CASE("a store takes all rows in the order of a permutation, along any dimension")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    const at::Tensor table = at::arange(40000 * 7, at::TensorOptions().dtype(at::kFloat)).reshape({40000, 7});
    const at::Tensor order = at::randperm(40000, at::TensorOptions().dtype(at::kLong));
    Store rows(folder.path, "v1", "v1", base::DType::Float32, {40000, 7}, 0, scratch);
    rows.writePicked(table, order.const_data_ptr<std::int64_t>());
    rows.checkComplete();
    CHECK(at::equal(rows.tensor(), table.index_select(0, order)));
    Store columns(folder.path, "v2", "v2", base::DType::Float32, {7, 40000}, 1, scratch);
    columns.writePicked(table.t(), order.const_data_ptr<std::int64_t>());
    columns.checkComplete();
    CHECK(at::equal(columns.tensor(), table.t().index_select(1, order)));
}

TEST_CASE("a narrower store rounds to nearest and says what that has changed")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    // Half of a unit in the last place of bfloat16 (7 bits) and float16 (10 bits) above 1, and beyond float16.
    const std::vector<float> numbers{1, 1 + 1.0f / 256, -3, 1e6f, 0, INFINITY};
    const at::Tensor whole = at::tensor(numbers).reshape({6, 1});
    for (const base::DType type : {base::DType::BFloat16, base::DType::Float16, base::DType::Float32}) {
        CAPTURE(base::dtypeName(type));
        Store store(folder.path, std::string("v1") + base::dtypeName(type), "v1", type, {6, 1}, 0, scratch);
        store.writeRange(0, whole.narrow(0, 0, 3));
        store.writeRange(3, whole.narrow(0, 3, 3));
        store.checkComplete();
        CHECK(store.view().dtype == type);
        CHECK(store.isNarrow() == (type != base::DType::Float32));
        const Rounding& lost = store.rounding();
        if (type == base::DType::BFloat16) CHECK(lost.maxAbsolute == 1e6 - 999424);
        if (type == base::DType::Float16) CHECK(lost.maxAbsolute == 0);
        CHECK(lost.infinite == (type == base::DType::Float16 ? 1 : 0));
        CHECK(lost.largest == (type == base::DType::Float32 ? 0 : 1e6));
        CHECK(store.tensor()[4].item<double>() == 0);
    }
}

TEST_CASE("rows are copied into pages that are there, without a system call, and written to the file elsewhere")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    const at::Tensor whole = at::arange(std::int64_t{3} << 20, at::kFloat).view({3 << 10, 1 << 10});
    for (const bool prepared : {true, false}) {
        CAPTURE(prepared);
        std::stop_source source;
        if (!prepared) source.request_stop();
        Store store(folder.path, "out", "out", base::DType::Float32, whole.sizes().vec(), 0, scratch);
        store.flushBehind();
        store.preparePages(source.get_token());
        const std::int64_t before = bytesWritten();
        for (std::int64_t first = 0; first < whole.size(0); first += 1 << 10)
            store.writeRange(first, whole.narrow(0, first, 1 << 10));
        CHECK((bytesWritten() - before < static_cast<std::int64_t>(whole.nbytes())) == prepared);
        CHECK_NOTHROW(store.checkComplete());
        CHECK_THROWS_AS(store.writeRange(5, whole.narrow(0, 0, 1)), Failure);
        store.publish();
        const auto data = graph::readData({"out=" + folder.path + "/out.npy"});
        REQUIRE(data.has_value());
        CHECK(at::equal(loader::toTensor(data->at("out")), whole));
    }
}

TEST_CASE("rows may be written while their pages are being prepared")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    const at::Tensor whole = at::arange(std::int64_t{8} << 20, at::kFloat).view({8 << 10, 1 << 10});
    Store store(folder.path, "out", "out", base::DType::Float32, whole.sizes().vec(), 0, scratch);
    {
        const std::jthread preparing([&](const std::stop_token& stop) { store.preparePages(stop); });
        for (std::int64_t first = 0; first < whole.size(0); first += 64)
            store.writeRange(first, whole.narrow(0, first, 64));
    }
    CHECK(at::equal(store.tensor(), whole));
}

TEST_CASE("stores are created beside other work, taken once each, and removed if nobody takes them")
{
    const tests::TemporaryFolder folder;
    const graph::Scratch scratch(folder.path);
    const auto make = [&](ir::ValueId value) {
        if (value.index == 3) raise(base::ErrorCode::Resources, "no room");
        const std::string name = "v" + std::to_string(value.index);
        const std::vector<std::int64_t> shape{1 << 10, 1 << 10};
        return std::make_shared<Store>(folder.path, name, name, base::DType::Float32, shape, 0, scratch);
    };
    {
        ReadyResults results;
        CHECK(results.take(ir::ValueId{1}) == nullptr);
        results.begin({ir::ValueId{1}, ir::ValueId{2}, ir::ValueId{3}}, make);
        const std::shared_ptr<Store> taken = results.take(ir::ValueId{1});
        REQUIRE(taken != nullptr);
        CHECK(taken->file() == folder.path + "/v1.npy");
        CHECK(results.take(ir::ValueId{1}) == nullptr);
        CHECK(results.take(ir::ValueId{3}) == nullptr);
        CHECK_FALSE(std::filesystem::is_empty(folder.path));
    }
    CHECK(std::filesystem::is_empty(folder.path));
}
