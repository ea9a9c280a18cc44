#include "executor/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/device/accelerator.h"
#include "executor/device/device_context.h"
#include "executor/device/staging.h"
#include "executor/exception_boundary.h"
#include "executor/measuring/walls.h"
#include "graph/adjacency.h"
#include "kernels/segment.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t width = 64;
constexpr std::int64_t messageBytes = width * 4;
constexpr std::int64_t degree = 4;  // messages of each row
constexpr std::int64_t cpuRows = 1 << 18;
constexpr std::int64_t gpuRows = 1 << 20;  // beyond the caches of GPUs
constexpr std::int64_t tablesOnGpu = 8;    // that there has to be room for
constexpr std::int64_t mostChunk = std::int64_t(64) << 20;
constexpr double numberBytes = 8;
constexpr double enough = 0.15;  // seconds of repetitions per rate
constexpr int smallCalls = 200;
constexpr int launches = 8;           // of an operator, before a GPU is waited for
constexpr double callsPerBatch = 20;  // a batch's cost besides its operators counts as so many calls

// The best of several repetitions.
class Timer {
public:
    Timer(DeviceContext& device, const base::ProgressFn& progress, std::stop_token stop)
        : m_device(device),
          m_progress(progress),
          m_stop(std::move(stop))
    {}

    // Seconds of `work`, until the device has done it.
    template <class Work>
    double best(const char* what, Work&& work)
    {
        if (m_progress) m_progress({std::string("measuring ") + what, 0, 0});
        using Clock = std::chrono::steady_clock;
        double least = std::numeric_limits<double>::max(), spent = 0;
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

    // Seconds of one `launch`: on a GPU, waiting is not a part of it.
    template <class Launch>
    double bestLaunch(const char* what, Launch&& launch)
    {
        const int times = m_device.gpu() ? launches : 1;
        const double all = best(what, [&] {
            for (int i = 0; i < times; ++i) launch();
        });
        return all / times;
    }

private:
    DeviceContext& m_device;
    const base::ProgressFn& m_progress;
    std::stop_token m_stop;
};

void inParallel(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& work)
{
    at::parallel_for(0, count, 1024, work);
}

// The rows of the table on the device.
std::int64_t rowsFor(const DeviceContext& device)
{
    if (!device.gpu()) return cpuRows;
    std::int64_t rows = gpuRows;
    while (rows > 1024 && rows * messageBytes * tablesOnGpu > device.freeMemory()) rows /= 2;
    return rows;
}

// The same rows again and again: random ones in that number take long to make.
at::Tensor randomTable(std::int64_t rows, const DeviceContext& device)
{
    constexpr std::int64_t repeats = 16;
    return at::rand({rows / repeats, width}).to(device.device()).repeat({repeats, 1});
}

// Takes rows between host memory and the device, as batches do: on a GPU in chunks of pinned memory.
class Courier {
public:
    using Fill = std::function<void(std::byte* to, std::int64_t first, std::int64_t last)>;  // with rows
    using Take = std::function<void(const std::byte* from, std::int64_t first, std::int64_t last)>;

    Courier(DeviceContext& device, std::int64_t rows)
        : m_device(device),
          m_rows(rows),
          m_chunkRows(device.gpu() ? std::min(rows, mostChunk / messageBytes) : rows),
          m_memory(device.gpu() ? StagingChunk(m_chunkRows * messageBytes) : StagingChunk()),
          m_host(m_memory.take({m_chunkRows, width}, at::kFloat))
    {}

    void up(const Fill& fill)
    {
        auto* const to = static_cast<std::byte*>(m_host.mutable_data_ptr());
        forEachChunk([&](std::int64_t begin, std::int64_t end) {
            inParallel(end - begin, [&](std::int64_t first, std::int64_t last) {
                fill(to + first * messageBytes, begin + first, begin + last);
            });
            m_there = m_device.upload(m_host.narrow(0, 0, end - begin));
            m_device.synchronize();
        });
    }

    void down(const at::Tensor& table, const Take& take)
    {
        forEachChunk([&](std::int64_t begin, std::int64_t end) {
            const at::Tensor rows = table.narrow(0, begin, end - begin), host = m_host.narrow(0, 0, end - begin);
            m_device.order(Lane::Compute, Lane::Download);
            if (m_device.gpu()) m_device.download(rows, host);
            m_device.synchronize();
            take(static_cast<const std::byte*>((m_device.gpu() ? host : rows).const_data_ptr()), begin, end);
        });
    }

private:
    void forEachChunk(const std::function<void(std::int64_t, std::int64_t)>& work) const
    {
        for (std::int64_t begin = 0; begin < m_rows; begin += m_chunkRows)
            work(begin, std::min(begin + m_chunkRows, m_rows));
    }

    DeviceContext& m_device;
    std::int64_t m_rows, m_chunkRows;
    StagingChunk m_memory;
    at::Tensor m_host, m_there;
};

class Bench {
public:
    Bench(const std::string& device, const std::string& folder, const base::ProgressFn& progress, std::stop_token stop)
        : m_device(device),
          m_scratch(folder),
          m_timer(m_device, progress, std::move(stop)),
          m_rows(rowsFor(m_device)),
          m_messages(m_rows * degree)
    {
        m_machine.device = device;
    }

    plan::Machine run()
    {
        m_numbers = at::randint(m_rows, {m_messages}, at::kLong);
        m_table = randomTable(m_rows, m_device);
        reading();
        writing();
        operators();
        combining();
        numbering();
        return m_machine;
    }

private:
    // Reads from a mapped file, as stores are read.
    void reading()
    {
        const std::int64_t moved = m_device.gpu() ? m_rows : m_messages, bytes = moved * messageBytes;
        const std::shared_ptr<std::byte> store = unwrap(m_scratch.allocate(bytes));
        std::memset(store.get(), 0, static_cast<std::size_t>(bytes));
        Courier courier(m_device, moved);
        const double inOrder = m_timer.best("reads", [&] {
            courier.up([&](std::byte* to, std::int64_t first, std::int64_t last) {
                std::memcpy(to, store.get() + first * messageBytes,
                            static_cast<std::size_t>((last - first) * messageBytes));
            });
        });
        m_machine.read = static_cast<double>(bytes) / inOrder;
        const auto* const numbers = m_numbers.const_data_ptr<std::int64_t>();
        const double byNumber = m_timer.best("gathers", [&] {
            courier.up([&](std::byte* to, std::int64_t first, std::int64_t last) {
                kernels::gatherRowsCpu(store.get(), messageBytes, numbers + first, to, messageBytes, 0, last - first);
            });
        });
        m_machine.gather = static_cast<double>(bytes) / byNumber;
    }

    // Writes into a new file each time, as a stage does: its pages are allocated meanwhile.
    void writing()
    {
        Courier courier(m_device, m_rows);
        const double seconds = m_timer.best("writes", [&] {
            const std::shared_ptr<std::byte> made = unwrap(m_scratch.allocate(m_rows * messageBytes));
            courier.down(m_table, [&](const std::byte* from, std::int64_t first, std::int64_t last) {
                std::memcpy(made.get() + first * messageBytes, from,
                            static_cast<std::size_t>((last - first) * messageBytes));
            });
        });
        m_machine.write = tableBytes() / seconds;
    }

    void operators()
    {
        const double rowwise = m_timer.bestLaunch("operators on rows", [&] { m_sink = at::relu(m_table); });
        m_machine.elementwise = 2 * tableBytes() / rowwise;
        const at::Tensor weight = at::rand({width, width}).to(m_device.device());
        const double product = m_timer.bestLaunch("matrix products", [&] { m_sink = at::mm(m_table, weight); });
        m_machine.matmul = 2.0 * static_cast<double>(m_rows * width * width) / product;
        const at::Tensor one = at::ones({1}).to(m_device.device());
        const double calls = m_timer.best("calls", [&] {
            for (int i = 0; i < smallCalls; ++i) m_sink = at::relu(one);
        });
        m_machine.call = calls / smallCalls;
        m_machine.batch = m_machine.call * callsPerBatch;
    }

    // Messages of some in-edges each, gathered and summed at once.
    void combining()
    {
        const at::ScalarType number = m_device.gpu() ? at::kInt : at::kLong;  // as batches have them
        const at::Tensor offsets = at::arange(0, m_messages + 1, degree, number).to(m_device.device());
        const at::Tensor columns = m_numbers.to(number).to(m_device.device());
        const at::Tensor out = at::empty({m_rows, width}, m_table.options());
        kernels::SegmentArguments a;
        a.offsets = indexOf(offsets);
        a.columns = indexOf(columns);
        a.source = m_table.const_data_ptr<float>();
        a.out = out.mutable_data_ptr<float>();
        a.destinations = m_rows;
        a.width = a.sourceStride = width;
        const double seconds = m_timer.bestLaunch("aggregation", [&] { combine(a); });
        m_machine.aggregate = static_cast<double>(m_messages * messageBytes) / seconds;
    }

    static kernels::Index indexOf(const at::Tensor& numbers)
    {
        if (numbers.scalar_type() == at::kInt) return numbers.const_data_ptr<std::int32_t>();
        return numbers.const_data_ptr<std::int64_t>();
    }

    void combine(const kernels::SegmentArguments& a)
    {
        if (m_device.gpu()) {
            require(accelerator().segment(a, m_device.stream(Lane::Compute)) == 0, "the segment kernel failed");
            return;
        }
        inParallel(a.destinations, [&](std::int64_t first, std::int64_t last) { kernels::segmentCpu(a, first, last); });
    }

    // Numbers rows as a block does for its frontier: each source is looked up, and new ones are counted.
    void numbering()
    {
        std::vector<std::int32_t> marks(static_cast<std::size_t>(m_rows)), local(static_cast<std::size_t>(m_messages));
        const auto* const numbers = m_numbers.const_data_ptr<std::int64_t>();
        std::int32_t epoch = 0;
        const double seconds = m_timer.best("blocks", [&] {
            ++epoch;
            std::int32_t next = 0;
            for (std::int64_t i = 0; i < m_messages; ++i) {
                std::int32_t& mark = marks[static_cast<std::size_t>(numbers[i])];
                if (mark != epoch) {
                    mark = epoch;
                    ++next;
                }
                local[static_cast<std::size_t>(i)] = next;
            }
        });
        m_machine.structure = static_cast<double>(m_messages) * numberBytes / seconds;
    }

    [[nodiscard]] double tableBytes() const { return static_cast<double>(m_rows * messageBytes); }

    DeviceContext m_device;
    graph::Scratch m_scratch;
    Timer m_timer;
    std::int64_t m_rows, m_messages;
    plan::Machine m_machine;
    at::Tensor m_table, m_numbers, m_sink;
};

// Measures each step of a copy alone, with several chunks for each wait.
class CopyBench {
public:
    CopyBench(const std::string& device, const base::ProgressFn& progress, std::stop_token stop)
        : m_device(device),
          m_timer(m_device, progress, std::move(stop)),
          m_tableRows(rowsFor(m_device)),
          m_rows(std::min(m_tableRows, mostChunk / messageBytes)),
          m_up(m_rows * messageBytes),
          m_down(m_rows * messageBytes),
          m_upHost(m_up.take({m_rows, width}, at::kFloat).zero_()),
          m_downHost(m_down.take({m_rows, width}, at::kFloat).zero_())
    {}

    CopyRates run()
    {
        CopyRates rates;
        rates.pinned = m_up.pinned() && m_down.pinned();
        rates.gather = rate(gathering());
        m_there = m_device.upload(m_upHost);
        m_device.order(Lane::Upload, Lane::Download);
        rates.up = rate(m_timer.bestLaunch("copies to the device", [this] { up(); }));
        rates.down = rate(m_timer.bestLaunch("copies from the device", [this] { down(); }));
        rates.both = rate(m_timer.bestLaunch("copies in both directions", [this] {
            up();
            down();
        }));
        return rates;
    }

private:
    double gathering()
    {
        const at::Tensor table = at::zeros({m_tableRows, width});
        const at::Tensor numbers = at::randint(m_tableRows, {m_rows}, at::kLong);
        const auto* const from = static_cast<const std::byte*>(table.const_data_ptr());
        auto* const to = static_cast<std::byte*>(m_upHost.mutable_data_ptr());
        return m_timer.best("gathers into pinned memory", [&] {
            inParallel(m_rows, [&](std::int64_t first, std::int64_t last) {
                kernels::gatherRowsCpu(from, messageBytes, numbers.const_data_ptr<std::int64_t>(), to, messageBytes,
                                       first, last);
            });
        });
    }

    void up() { m_sink = m_device.upload(m_upHost); }
    void down() { m_device.download(m_there, m_downHost); }
    [[nodiscard]] double rate(double seconds) const { return static_cast<double>(m_rows * messageBytes) / seconds; }

    DeviceContext m_device;
    Timer m_timer;
    std::int64_t m_tableRows, m_rows;
    StagingChunk m_up, m_down;
    at::Tensor m_upHost, m_downHost, m_there, m_sink;
};

plan::Walls linkWalls(const CopyRates& rates)
{
    return {{.kind = plan::WallKind::Up, .all = rates.up, .one = rates.up},
            {.kind = plan::WallKind::Down, .all = rates.down, .one = rates.down}};
}

// The cost model ranks plans by the work of tiles: on rows of medium width from a table of a large graph's size.
void takeWalls(plan::Machine& machine, plan::Walls walls)
{
    const auto rate = [&](const plan::WallRate& like, double otherwise) {
        for (const plan::WallRate& wall : walls)
            if (wall.kind == like.kind && wall.bytes == like.bytes && wall.width == like.width &&
                wall.outputs == like.outputs)
                return wall.all;
        return otherwise;
    };
    constexpr std::int64_t table = 32 << 20, rowWidth = 256;
    machine.gather = rate({.kind = plan::WallKind::Rows, .bytes = table, .width = rowWidth}, machine.gather);
    machine.aggregate = rate({.kind = plan::WallKind::Segments, .bytes = table, .width = rowWidth}, machine.aggregate);
    machine.elementwise = rate({.kind = plan::WallKind::Stream, .bytes = 1 << 20}, machine.elementwise);
    machine.matmul = rate({.kind = plan::WallKind::Gemm, .width = 128, .outputs = 128}, machine.matmul);
    machine.write = rate({.kind = plan::WallKind::Stores}, machine.write);
    machine.walls = std::move(walls);
}

template <class Measure>
auto measured(Measure&& measure)
{
    const c10::InferenceMode inference;
    return catchAtBoundary(std::forward<Measure>(measure), [] {
        return base::fail(base::ErrorCode::Resources, "out of memory while the machine is measured");
    });
}

}  // namespace

base::Result<plan::Machine> measureMachine(const std::string& device, const std::string& folder,
                                           const base::ProgressFn& progress, std::stop_token stop)
{
    return measured([&] {
        plan::Machine machine = Bench(device, folder, progress, stop).run();
        if (device == "cpu") takeWalls(machine, measureWalls(folder, progress, stop));
        else machine.walls = linkWalls(CopyBench(device, progress, stop).run());
        return machine;
    });
}

base::Result<double> startGpu(const std::string& device)
{
    if (device == "cpu" || gpuStarted()) return 0;
    return measured([&] {
        const auto began = std::chrono::steady_clock::now();
        DeviceContext context(device);
        context.synchronize();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    });
}

base::Result<CopyRates> measureCopies(const std::string& device, const base::ProgressFn& progress, std::stop_token stop)
{
    return measured([&] { return CopyBench(device, progress, std::move(stop)).run(); });
}

}  // namespace hopscope::executor
