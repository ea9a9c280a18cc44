// Stores of a narrower type on a GPU, against the CPU.

#include <doctest/doctest.h>

#include "device_runs.h"
#include "executor/forecast/predict.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

namespace {

using base::StoreType;

struct Ran {
    executor::RunReport report;
    std::vector<at::Tensor> outputs;
};

Ran run(const Subject& s, executor::Options options)
{
    const test::TemporaryFolder folder;
    options.folder = folder.path;
    executor::Observer silent;
    auto report = executor::run(s.prepared.walk, s.prepared.analysis, s.plan, s.inputs, options, silent, {});
    REQUIRE_MESSAGE(report.has_value(), base::describe(report.error()));
    Ran ran{.report = std::move(*report), .outputs = {}};
    for (const executor::StoredTensor& o : ran.report.outputs) {
        const auto type = o.tensor.dtype == base::DType::Float64 ? at::kDouble : at::kFloat;
        auto* const data = const_cast<std::byte*>(o.tensor.data);
        ran.outputs.push_back(at::from_blob(data, o.tensor.shape, at::TensorOptions().dtype(type)).clone());
    }
    ran.report.outputs.clear();
    ran.report.checkpoints.clear();
    return ran;
}

executor::Options on(const std::string& device, StoreType store, std::int64_t batch)
{
    executor::Options options = onGpu(batch, device);
    options.store = store;
    return options;
}

// With everything that the model stores on the device, or nothing.
Subject placed(const Subject& s, bool resident)
{
    Subject made = s;
    made.plan.device = "cuda:0";
    if (!resident) return made;
    auto kept = models::withResidents(s.prepared, made.plan, s.inputs, 1000);
    REQUIRE(kept.has_value());
    made.plan = std::move(*kept);
    made.plan.residentStructure = true;
    return made;
}

double largestOf(const at::Tensor& t) { return t.abs().max().item<double>(); }

void checkAlike(const Ran& gpu, const Ran& cpu, const Ran& exact, double unit)
{
    REQUIRE(gpu.outputs.size() == cpu.outputs.size());
    double moved = 0;
    for (std::size_t o = 0; o < gpu.outputs.size(); ++o) {
        const double scale = largestOf(cpu.outputs[o]);
        CHECK(largestOf(gpu.outputs[o] - cpu.outputs[o]) <= unit * scale);  // few values round differently
        moved = std::max(moved, largestOf(gpu.outputs[o] - exact.outputs[o]));
    }
    CHECK(moved > 0);
    REQUIRE(gpu.report.narrowed.size() == cpu.report.narrowed.size());
    for (std::size_t n = 0; n < gpu.report.narrowed.size(); ++n) {
        const auto &there = gpu.report.narrowed[n], &here = cpu.report.narrowed[n];
        CHECK(there.value == here.value);
        CHECK(there.to == here.to);
        CHECK(there.maxAbsolute == doctest::Approx(here.maxAbsolute).epsilon(0.05));
        CHECK(there.largest == doctest::Approx(here.largest).epsilon(1e-4));
        CHECK(there.infinite == here.infinite);
    }
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Values stored in a narrower type are those of the CPU, on the device and on the host")
{
    for (const auto& [store, unit] : {std::pair{StoreType::Float16, 1e-3}, std::pair{StoreType::BFloat16, 8e-3}})
        for (const std::string name : {"gcn", "gat", "typed", "wide"})
            for (const bool resident : {false, true})
                for (const std::int64_t batch : {0, 7}) {
                    if (batch > 0 && name == "wide") continue;
                    CAPTURE(base::nameOf(store));
                    CAPTURE(name);
                    CAPTURE(resident);
                    CAPTURE(batch);
                    const Subject s = placed(subject(name), resident);
                    const Ran cpu = run(subject(name), on("cpu", store, batch));
                    CHECK_FALSE(cpu.report.narrowed.empty());
                    checkAlike(run(s, on("cuda:0", store, batch)), cpu, run(s, onGpu(batch)), unit);
                }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "Rows of a narrower store take fewer bytes, and the forecast knows how many")
{
    const Subject s = placed(subject("wide"), false);
    const test::TemporaryFolder folder;
    forecast::Predictor predictor(s.prepared.walk, s.prepared.analysis, s.inputs, folder.path);
    for (const StoreType store : {StoreType::Exact, StoreType::Float16}) {
        CAPTURE(base::nameOf(store));
        forecast::PredictOptions wanted;
        wanted.batch = 800;
        wanted.store = store;
        const auto predicted = predictor.predict(s.plan, wanted, {});
        REQUIRE(predicted.has_value());
        const Ran ran = run(s, on("cuda:0", store, 800));
        REQUIRE(predicted->stages.size() == ran.report.stages.size());
        for (std::size_t i = 0; i < predicted->stages.size(); ++i) {
            CAPTURE(i);
            const forecast::PredictedStage& told = predicted->stages[i];
            const executor::StageReport& measured = ran.report.stages[i];
            CHECK(told.bytes.h2d == measured.bytes.h2d);
            CHECK(told.bytes.d2h == measured.bytes.d2h);
            CHECK(std::abs(told.peakMemory - measured.peakMemory) <= 8192);
        }
    }
}

TEST_CASE_FIXTURE(Device, "A batch that runs out of memory while it rounds is repeated")
{
    executor::Options options = on("cuda:0", StoreType::Float16, 7);
    const Subject s = placed(subject("gcn"), true);
    fake_device::resetCounts();
    run(s, options);
    const std::int64_t allocations = fake_device::counts().allocations;
    int repeated = 0;
    for (std::int64_t n = 1; n <= allocations; n += 5) {
        CAPTURE(n);
        fake_device::failAllocation(n);
        const test::TemporaryFolder folder;
        options.folder = folder.path;
        executor::Observer silent;
        const auto report = executor::run(s.prepared.walk, s.prepared.analysis, s.plan, s.inputs, options, silent, {});
        fake_device::failAllocation(0);
        if (report) repeated += report->notes.empty() ? 0 : 1;
        else CHECK(report.error().code == base::ErrorCode::Resources);
    }
    CHECK(repeated > 0);
}

TEST_CASE_FIXTURE(Device, "A run says that it gathers rows of tables that exceed the memory of the host")
{
    executor::Options options = onGpu(0);
    CHECK_FALSE(attempt(subject("wide"), options).notes("do not fit into the memory of the host"));
    options.tableMemory = 1 << 20;
    const Attempt told = attempt(subject("wide"), options);
    CHECK(told.unlessRight() == "");
    CHECK(told.notes("stage 1: tables of 9.8 MiB, from which batches gather rows, do not fit"));
}

}  // namespace hopscope::device_tests
