#include "executor/measuring/walls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "base/proc.h"
#include "base/temporary_file.h"
#include "executor/calls/dense.h"
#include "executor/failure.h"
#include "executor/memory.h"
#include "kernels/segment.h"
#include "loader/one_thread.h"

namespace hopscope::executor {

namespace {

using plan::WallKind;
using plan::WallRate;
using Clock = std::chrono::steady_clock;

constexpr double enough = 0.04;  // seconds of repetitions of a rate
constexpr std::size_t leastTurns = 5, mostTurns = 200;
constexpr std::int64_t largeTable = 1 << 28;                  // beyond the caches of most processors
constexpr std::int64_t largestTable = std::int64_t{1} << 31;  // beyond the page tables that they cache
constexpr std::int64_t shareForTable = 8;                     // of the free memory: at most an eighth
constexpr std::array<std::int64_t, 4> tables{1 << 19, 1 << 22, 1 << 25, largeTable};  // bytes
constexpr std::array<std::int64_t, 3> widths{64, 256, 1024};                          // bytes of a row
constexpr std::int64_t numberCount = 1 << 20;  // of random rows: enough not to come again from a cache
constexpr std::int64_t picked = 1 << 21;       // bytes of rows per repetition
constexpr std::int64_t degree = 16;
constexpr std::int64_t tileRows = 1024;        // of a product
constexpr std::int64_t tensorBytes = 1 << 20;  // of an operator's operand in a tile
constexpr std::int64_t freshBytes = 1 << 24;
constexpr std::int64_t diskChunk = 1 << 22;
constexpr std::int64_t diskBytes = 1 << 26;
constexpr double diskSeconds = 0.6;  // of writing, on a slow disk

// The CPU time of the calling thread.
double coreSeconds()
{
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double secondsSince(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// Memory that the system clears when it is first written: on large pages, where it has them, like scratch memory, or on
// small ones like the maps of files.
class FreshMemory {
public:
    explicit FreshMemory(std::int64_t bytes, int pages = MADV_HUGEPAGE) : m_size(static_cast<std::size_t>(bytes))
    {
        void* const memory = ::mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) raise(base::ErrorCode::Resources, "out of memory while the machine is measured");
        ::madvise(memory, m_size, pages);
        m_bytes = static_cast<std::byte*>(memory);
    }
    ~FreshMemory() { ::munmap(m_bytes, m_size); }
    FreshMemory(const FreshMemory&) = delete;
    FreshMemory& operator=(const FreshMemory&) = delete;
    [[nodiscard]] std::byte* bytes() const { return m_bytes; }

private:
    std::size_t m_size;
    std::byte* m_bytes = nullptr;
};

// A file that is written and read without a mapping, and removed at the end.
class DiskFile {
public:
    explicit DiskFile(const std::string& folder) : m_file(folder), m_handle(::open(m_file.path().c_str(), O_RDWR)) {}
    ~DiskFile()
    {
        if (m_handle >= 0) ::close(m_handle);
    }
    DiskFile(const DiskFile&) = delete;
    DiskFile& operator=(const DiskFile&) = delete;

    bool write(const std::byte* bytes, std::int64_t at) const
    {
        return ::pwrite(m_handle, bytes, diskChunk, at) == diskChunk;
    }
    bool read(std::byte* bytes, std::int64_t at) const { return ::pread(m_handle, bytes, diskChunk, at) == diskChunk; }
    void empty() const { (void)::ftruncate(m_handle, 0); }
    void flush() const
    {
        ::fdatasync(m_handle);
        ::posix_fadvise(m_handle, 0, 0, POSIX_FADV_DONTNEED);
    }

private:
    base::TemporaryFile m_file;
    int m_handle;
};

class WallBench {
public:
    WallBench(const std::string& folder, const base::ProgressFn& progress, const std::stop_token& stop)
        : m_folder(folder),
          m_progress(progress),
          m_stop(stop),
          m_cores(at::get_num_threads()),
          m_tables(tables.begin(), tables.end()),
          m_table(largest(), MADV_NOHUGEPAGE),
          m_numbers(static_cast<std::size_t>(numberCount)),
          m_offsets(static_cast<std::size_t>(picked / widths.front() / degree + 1))
    {
        std::memset(m_table.bytes(), 0, static_cast<std::size_t>(m_tables.back()));
        for (std::size_t i = 0; i < m_offsets.size(); ++i) m_offsets[i] = static_cast<std::int64_t>(i) * degree;
        std::minstd_rand random(1);
        m_random.resize(static_cast<std::size_t>(numberCount));
        std::ranges::generate(m_random, [&] { return static_cast<std::int32_t>(random()); });
    }

    plan::Walls run()
    {
        streams();
        fresh();
        for (const std::int64_t bytes : m_tables)
            for (const std::int64_t width : widths) rows(width, bytes);
        products();
        pages();
        stores();
        disk();
        return std::move(m_walls);
    }

private:
    std::int64_t largest()
    {
        if (base::availableMemory() / shareForTable >= largestTable) m_tables.push_back(largestTable);
        return m_tables.back();
    }

    // `work(worker, turn)`: the share of one core; turns are counted across calls.
    using Work = std::function<void(int worker, std::int64_t turn)>;

    // The rate per second if each core handles `amount` in a turn, with all cores at once and with one alone.
    void measure(const char* what, WallRate wall, double amount, const Work& work)
    {
        if (m_progress) m_progress({std::string("measuring ") + what, 0, 0});
        wall.all = amount * m_cores / seconds(m_cores, work);
        wall.one = m_cores == 1 ? wall.all : std::min(wall.all, amount / seconds(1, work));
        m_walls.push_back(wall);
    }

    // Seconds of a core by its own clock, which stands still while other programs use the core. Leaves out the best
    // turns, in which cores may have worked one after the other, and the typical turns of a busy machine.
    double seconds(int cores, const Work& work)
    {
        std::vector<double> turns;
        const Clock::time_point began = Clock::now();
        while (turns.size() < leastTurns || (secondsSince(began) < enough && turns.size() < mostTurns)) {
            if (m_stop.stop_requested()) raise(base::ErrorCode::Cancelled, "cancelled");
            std::vector<double> spent(static_cast<std::size_t>(cores));
            at::parallel_for(0, cores, 1, [&](std::int64_t first, std::int64_t last) {
                const c10::InferenceMode inference;
                const loader::OneThread alone;
                for (std::int64_t w = first; w < last; ++w) {
                    const double start = coreSeconds();
                    work(static_cast<int>(w), m_turn);
                    spent[static_cast<std::size_t>(w)] = coreSeconds() - start;
                }
            });
            ++m_turn;
            turns.push_back(std::reduce(spent.begin(), spent.end()) / cores);
        }
        std::ranges::sort(turns);
        return std::max(turns[turns.size() / 10], 1e-9);
    }

    // The operands of tiles are in the caches; those of large batches are not.
    void streams()
    {
        for (const std::int64_t bytes : {tensorBytes, largeTable / 4 / m_cores}) {
            std::vector<at::Tensor> operands, results;
            for (int w = 0; w < m_cores; ++w) {
                operands.push_back(at::rand({bytes / 4}));
                results.push_back(at::empty({bytes / 4}));
            }
            const WallRate wall{.kind = WallKind::Stream, .bytes = bytes};
            measure("operators on rows", wall, 2.0 * static_cast<double>(bytes), [&](int w, std::int64_t) {
                const auto at = static_cast<std::size_t>(w);
                at::clamp_min_out(results[at], operands[at], 0.5);
            });
        }
    }

    // Memory as large batches use it: pages that their allocator has returned to the system have to be cleared again.
    void fresh()
    {
        const std::int64_t bytes = largeTable / 4 / m_cores;
        std::vector<at::Tensor> operands;
        for (int w = 0; w < m_cores; ++w) operands.push_back(at::rand({bytes / 4}));
        const WallRate wall{.kind = WallKind::Fresh};
        measure("operators on rows", wall, 2.0 * static_cast<double>(bytes), [&](int w, std::int64_t) {
            const FreshMemory memory(bytes, MADV_NOHUGEPAGE);
            at::Tensor result = at::from_blob(memory.bytes(), {bytes / 4}, at::kFloat);
            at::clamp_min_out(result, operands[static_cast<std::size_t>(w)], 0.5);
        });
    }

    void rows(std::int64_t width, std::int64_t bytes)
    {
        const std::int64_t mask = bytes / width - 1;
        for (std::size_t i = 0; i < m_numbers.size(); ++i) m_numbers[i] = static_cast<std::int32_t>(m_random[i] & mask);
        const std::int64_t count = picked / width;
        std::vector<at::Tensor> results;
        for (int w = 0; w < m_cores; ++w) results.push_back(at::empty({picked / 4}));
        const auto turn = [&](int w, std::int64_t t) {
            return m_numbers.data() + (t * m_cores + w) * count % (numberCount - count);
        };
        WallRate wall{.kind = WallKind::Rows, .bytes = bytes, .width = width};
        measure("random rows", wall, static_cast<double>(picked), [&](int w, std::int64_t t) {
            auto* const out = static_cast<std::byte*>(results[static_cast<std::size_t>(w)].mutable_data_ptr());
            kernels::gatherRowsCpu(m_table.bytes(), width, turn(w, t), out, width, 0, count);
        });
        wall.kind = WallKind::Segments;
        measure("aggregation", wall, static_cast<double>(picked), [&](int w, std::int64_t t) {
            kernels::SegmentArguments a;
            a.offsets = m_offsets.data();
            a.columns = turn(w, t);
            a.source = m_table.bytes();
            a.out = results[static_cast<std::size_t>(w)].mutable_data_ptr();
            a.destinations = count / degree;
            a.width = a.sourceStride = width / 4;
            kernels::segmentCpu(a, 0, a.destinations);
        });
    }

    void products()
    {
        for (const std::int64_t columns : {32, 128, 512})
            for (const std::int64_t outputs : {16, 48, 128, 512}) product(columns, outputs, base::DType::Float32);
        product(128, 128, base::DType::Float64);
        product(128, 128, base::DType::BFloat16);
    }

    void product(std::int64_t columns, std::int64_t outputs, base::DType dtype)
    {
        const at::ScalarType type = dtype == base::DType::Float32   ? at::kFloat
                                    : dtype == base::DType::Float64 ? at::kDouble
                                                                    : at::kBFloat16;
        const at::Tensor weight = at::rand({outputs, columns}).to(type), bias = at::rand({outputs}).to(type);
        std::vector<at::Tensor> operands, results(static_cast<std::size_t>(m_cores));
        for (int w = 0; w < m_cores; ++w) operands.push_back(at::rand({tileRows, columns}).to(type));
        const WallRate wall{.kind = WallKind::Gemm, .width = columns, .outputs = outputs, .dtype = dtype};
        measure("matrix products", wall, 2.0 * static_cast<double>(tileRows * columns * outputs),
                [&](int w, std::int64_t) {
                    const auto at = static_cast<std::size_t>(w);
                    results[at] = linearByOneDnn(operands[at], weight, bias).value_or(at::Tensor());
                    if (!results[at].defined()) results[at] = at::linear(operands[at], weight, bias);
                });
    }

    void pages()
    {
        const WallRate wall{.kind = WallKind::Pages};
        measure("fresh memory", wall, static_cast<double>(freshBytes), [](int, std::int64_t) {
            const FreshMemory memory(freshBytes);
            std::memset(memory.bytes(), 1, freshBytes);
        });
    }

    // Writes into the page cache: another wall covers the case that it is full and limited by the disk.
    void stores()
    {
        std::vector<std::unique_ptr<DiskFile>> files;
        for (int w = 0; w < m_cores; ++w) files.push_back(std::make_unique<DiskFile>(m_folder));
        const WallRate wall{.kind = WallKind::Stores};
        measure("stores", wall, static_cast<double>(diskChunk), [&](int w, std::int64_t) {
            DiskFile& file = *files[static_cast<std::size_t>(w)];
            if (!file.write(m_table.bytes(), 0))
                raise(base::ErrorCode::Resources, "cannot write a file in " + m_folder, "is the disk full?");
            file.empty();
        });
    }

    // Measured once: a disk is not faster the second time, and the page cache says nothing about it.
    void disk()
    {
        if (m_progress) m_progress({"measuring the disk", 0, 0});
        const DiskFile file(m_folder);
        Clock::time_point began = Clock::now();
        std::int64_t written = 0;
        for (; written < diskBytes && secondsSince(began) < diskSeconds; written += diskChunk)
            if (!file.write(m_table.bytes(), written)) return;
        file.flush();
        disk(WallKind::DiskWrite, written, secondsSince(began));
        began = Clock::now();
        for (std::int64_t at = 0; at < written; at += diskChunk)
            if (!file.read(m_table.bytes(), at)) return;
        disk(WallKind::DiskRead, written, secondsSince(began));
    }

    void disk(WallKind kind, std::int64_t bytes, double seconds)
    {
        const double rate = static_cast<double>(bytes) / std::max(seconds, 1e-9);
        m_walls.push_back({.kind = kind, .all = rate, .one = rate});
    }

    const std::string& m_folder;
    const base::ProgressFn& m_progress;
    const std::stop_token& m_stop;
    int m_cores;
    std::vector<std::int64_t> m_tables;  // bytes, ascending
    FreshMemory m_table;
    std::vector<std::int32_t> m_random, m_numbers;
    std::vector<std::int64_t> m_offsets;
    std::int64_t m_turn = 0;
    plan::Walls m_walls;
};

}  // namespace

plan::Walls measureWalls(const std::string& folder, const base::ProgressFn& progress, const std::stop_token& stop)
{
    return WallBench(folder, progress, stop).run();
}

}  // namespace hopscope::executor
