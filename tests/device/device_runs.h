#pragma once

// Runs of models on GPUs that are not there, and what must hold after each of them, however it ends.

#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "executor/device/accelerator.h"
#include "fake_device/on_device.h"
#include "models/cases.h"
#include "models/pipeline.h"

namespace hopscope::device_tests {

// The fake device as the executor sees it, with what it lacks: a LibTorch that takes no limits, and
// something that happens in the middle of a batch.
class Accelerator final : public executor::Accelerator {
public:
    explicit Accelerator(const executor::Accelerator& fake) : m_fake(fake) {}
    [[nodiscard]] c10::DeviceType type() const override { return m_fake.type(); }
    [[nodiscard]] executor::GpuListing list() const override { return m_fake.list(); }
    void initialise() const override { m_fake.initialise(); }
    bool limitMemory(c10::DeviceIndex device, std::int64_t bytes) const override;
    [[nodiscard]] bool reaches(c10::DeviceIndex from, c10::DeviceIndex to) const override
    {
        return m_fake.reaches(from, to);
    }
    [[nodiscard]] bool readsHostRows() const override { return m_fake.readsHostRows(); }
    int segment(const kernels::SegmentArguments& arguments, void* stream) const override;
    int strips(const kernels::StripProgram& program, const kernels::StripArguments& arguments,
               void* stream) const override;

    bool takesLimits = true;
    std::function<void()> beforeSegment;  // and strips, on the thread that runs the plan

private:
    const executor::Accelerator& m_fake;
};

Accelerator& accelerator();

// Installs the fake device on first use and makes it as new before and after a test.
struct Device {
    Device();
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    fake_device::Findings found;
};

// Launches take so long that what is prepared and written beside them is ready: only the device counts.
struct Paced : Device {
    Paced();
};

// A model, specialised to a graph, with its depth-wise plan and what eager PyTorch computes.
struct Subject {
    std::string name;
    std::shared_ptr<loader::Model> model;
    models::Prepared prepared;
    plan::Plan plan;
    base::TensorMap inputs, expected;
    models::Tolerance tolerance;
};

base::Result<Subject> makeSubject(const models::Case& c, std::size_t graph);

// Models of make_models.py, make_convolutions.py (small and large graphs), make_stacks.py, make_skewed.py and
// make_skews.py. Each script runs once.
const Subject& subject(const std::string& name);
const Subject& convolution(const std::string& name);
const Subject& largeConvolution(const std::string& name);
const Subject& stack(const std::string& name);
const Subject& sharing(const std::string& name);
const Subject& skew(const std::string& name);
inline const std::vector<std::string> smallModels{"gcn", "gat", "normed", "edges"};

struct Attempt {
    std::optional<base::Error> error;
    executor::RunReport report;  // its tensors are gone
    std::string complaint;       // wrong numbers, leaks, files, findings; empty: none
    double seconds = 0;

    [[nodiscard]] bool failedWith(base::ErrorCode code) const { return error && error->code == code; }
    // Empty if the run was right, or ended with `allowed` and one sentence; with nothing to complain about in either case.
    [[nodiscard]] std::string unless(base::ErrorCode allowed) const;
    [[nodiscard]] std::string unlessRight() const;
    [[nodiscard]] bool notes(const std::string& words) const;
};

// Afterwards a device must hold the same memory as before and, unless its context has died, nothing in the caches of its
// memory and of pinned memory.
Attempt attempt(const Subject& subject, executor::Options options, executor::Observer& observer,
                std::stop_token stop = {});
Attempt attempt(const Subject& subject, const executor::Options& options);

// On "cuda:0"; `batch` 0: as the executor chooses.
executor::Options onGpu(std::int64_t batch, const std::string& device = "cuda:0");

// How many of many attempts ended in which way.
struct Tally {
    int tried = 0, right = 0, refused = 0;
    void add(const Attempt& attempt);
    [[nodiscard]] std::string text() const;
};

// Calls `event` at each event of a run.
class EveryEvent final : public executor::Observer {
public:
    explicit EveryEvent(std::function<void()> event) : m_event(std::move(event)) {}
    void prologueStarted() override { m_event(); }
    void prologueFinished(double) override { m_event(); }
    void stageStarted(const executor::StageEvent&) override { m_event(); }
    void stageFinished(plan::StageId, double) override { m_event(); }
    void batchFinished(const executor::BatchEvent&) override { m_event(); }
    void phaseFinished(const executor::PhaseEvent&) override { m_event(); }

private:
    std::function<void()> m_event;
};

std::int64_t freeOfDriver(int device);

}  // namespace hopscope::device_tests
