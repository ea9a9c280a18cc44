#include "executor/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/accelerator.h"
#include "executor/device_context.h"
#include "executor/door.h"
#include "graph/adjacency.h"
#include "kernels/segment.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t rows = 1 << 18;
constexpr std::int64_t width = 64;
constexpr std::int64_t messages = 1 << 20;
constexpr double tableBytes = static_cast<double>(rows * width * 4);
constexpr double messageBytes = static_cast<double>(messages * width * 4);
constexpr double numberBytes = 8;
constexpr double enough = 0.15;  // seconds of repetitions per rate
constexpr int smallCalls = 200;
constexpr double callsPerBatch = 20;  // what a batch costs besides its operators is taken as so many calls

class Bench {
public:
    Bench(const std::string& device, const std::string& folder, const base::ProgressFn& progress, std::stop_token stop)
        : m_device(device),
          m_scratch(folder),
          m_progress(progress),
          m_stop(std::move(stop))
    {
        m_machine.device = device;
    }

    plan::Machine run()
    {
        m_numbers = at::randint(rows, {messages}, at::kLong);
        m_table = at::rand({rows, width}).to(m_device.device());
        transfers();
        operators();
        combining();
        numbering();
        return m_machine;
    }

private:
    // Best seconds of one repetition.
    template <class Work>
    double best(const char* what, Work&& work)
    {
        if (m_progress) m_progress({std::string("measuring ") + what, 0, 0});
        using Clock = std::chrono::steady_clock;
        double least = 1e9, spent = 0;
        for (int i = 0; i < 3 || spent < enough; ++i) {
            if (m_stop.stop_requested()) raise(base::ErrorCode::Cancelled, "cancelled");
            const Clock::time_point began = Clock::now();
            work();
            m_device.synchronize();
            const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
            least = std::min(least, seconds);
            spent += seconds;
        }
        return std::max(least, 1e-9);
    }

    static void inParallel(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& work)
    {
        at::parallel_for(0, count, 1024, work);
    }

    // Between a mapped file and tensors, as stores are read and written.
    void transfers()
    {
        const auto bytes = static_cast<std::int64_t>(messageBytes);
        const std::shared_ptr<std::byte> store = unwrap(m_scratch.allocate(bytes));
        std::memset(store.get(), 0, static_cast<std::size_t>(bytes));
        at::Tensor rowsRead = at::empty({messages, width});
        auto* const out = static_cast<std::byte*>(rowsRead.data_ptr());
        constexpr std::int64_t rowBytes = width * 4;
        const auto* const numbers = m_numbers.const_data_ptr<std::int64_t>();
        m_machine.read = messageBytes / best("reads", [&] {
                             inParallel(messages, [&](std::int64_t first, std::int64_t last) {
                                 std::memcpy(out + first * rowBytes, store.get() + first * rowBytes,
                                             static_cast<std::size_t>((last - first) * rowBytes));
                             });
                             toDevice(rowsRead);
                         });
        m_machine.gather = messageBytes / best("gathers", [&] {
                               inParallel(messages, [&](std::int64_t first, std::int64_t last) {
                                   kernels::gatherRowsCpu(store.get(), rowBytes, numbers, out, rowBytes, first, last);
                               });
                               toDevice(rowsRead);
                           });
        // Into a new file each time, as a stage writes: pages are made on the way.
        m_machine.write = tableBytes / best("writes", [&] {
                              const std::shared_ptr<std::byte> made =
                                  unwrap(m_scratch.allocate(static_cast<std::int64_t>(tableBytes)));
                              const at::Tensor host = m_table.cpu();
                              std::memcpy(made.get(), host.const_data_ptr(), static_cast<std::size_t>(tableBytes));
                          });
    }

    void toDevice(const at::Tensor& tensor)
    {
        if (m_device.gpu()) m_sink = tensor.to(m_device.device());
    }

    void operators()
    {
        m_machine.elementwise = 2 * tableBytes / best("operators on rows", [&] { m_sink = at::relu(m_table); });
        const at::Tensor weight = at::rand({width, width}, m_table.options());
        m_machine.matmul = 2.0 * static_cast<double>(rows * width * width) /
                           best("matrix products", [&] { m_sink = at::mm(m_table, weight); });
        const at::Tensor one = at::ones({1}, m_table.options());
        m_machine.call = best("calls",
                              [&] {
                                  for (int i = 0; i < smallCalls; ++i) m_sink = at::relu(one);
                              }) /
                         smallCalls;
        m_machine.batch = m_machine.call * callsPerBatch;
    }

    // Messages of 4 in-edges each, gathered and summed at once.
    void combining()
    {
        const at::Tensor offsets = at::arange(0, messages + 1, 4, at::kLong).to(m_device.device());
        const at::Tensor columns = m_numbers.to(m_device.device());
        at::Tensor out = at::empty({messages / 4, width}, m_table.options());
        kernels::SegmentArguments a;
        a.offsets = offsets.const_data_ptr<std::int64_t>();
        a.columns = columns.const_data_ptr<std::int64_t>();
        a.source = m_table.const_data_ptr<float>();
        a.out = out.data_ptr<float>();
        a.destinations = messages / 4;
        a.width = a.sourceStride = width;
        m_machine.aggregate = messageBytes / best("aggregation", [&] { combine(a); });
    }

    void combine(const kernels::SegmentArguments& a)
    {
        if (m_device.gpu()) {
            require(accelerator().segment(a, m_device.stream(Lane::Compute)) == 0, "the segment kernel failed");
            return;
        }
        inParallel(a.destinations, [&](std::int64_t first, std::int64_t last) { kernels::segmentCpu(a, first, last); });
    }

    // As a block numbers its frontier: each source is looked up, and new ones are counted.
    void numbering()
    {
        std::vector<std::int32_t> marks(static_cast<std::size_t>(rows)), local(static_cast<std::size_t>(messages));
        const auto* const numbers = m_numbers.const_data_ptr<std::int64_t>();
        std::int32_t epoch = 0;
        const double seconds = best("blocks", [&] {
            ++epoch;
            std::int32_t next = 0;
            for (std::int64_t i = 0; i < messages; ++i) {
                std::int32_t& mark = marks[static_cast<std::size_t>(numbers[i])];
                if (mark != epoch) {
                    mark = epoch;
                    ++next;
                }
                local[static_cast<std::size_t>(i)] = next;
            }
        });
        m_machine.structure = static_cast<double>(messages) * numberBytes / seconds;
    }

    DeviceContext m_device;
    graph::Scratch m_scratch;
    const base::ProgressFn& m_progress;
    std::stop_token m_stop;
    plan::Machine m_machine;
    at::Tensor m_table, m_numbers, m_sink;
};

}  // namespace

base::Result<plan::Machine> measureMachine(const std::string& device, const std::string& folder,
                                           const base::ProgressFn& progress, std::stop_token stop)
{
    const c10::InferenceMode inference;
    return atTheDoor(
        [&] { return Bench(device, folder, progress, std::move(stop)).run(); },
        [] { return base::fail(base::ErrorCode::Resources, "out of memory while the machine is measured"); });
}

}  // namespace hopscope::executor
