#pragma once

// Private to executor: copies the data of a batch to a GPU, and its results back, in pieces through a slot of pinned
// memory that they exceed. A slot is divided into four parts: while one is filled, the others are copied, and each is used
// again once its copy has finished.

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include <ATen/ATen.h>

#include "executor/batch/host_rows.h"
#include "executor/device/device_context.h"
#include "executor/device/staging.h"

namespace hopscope::executor {

// The events before and after work in a queue of the device.
struct Span {
    std::optional<c10::Event> begin, end;
};

// The part that both directions share: pieces in the order in which they pass through a chunk, and the progress of two
// threads.
class Pieces {
public:
    // Ends all waiting for the other thread: fill() and drain() return soon, and calls on the other thread raise Cancelled.
    void leave();
    // Waits until fill() or drain() has returned, which must have been called or be about to.
    void awaitLeft();

protected:
    struct Piece {
        std::size_t tensor = 0;
        std::int64_t first = 0, end = 0;  // of its parts
        at::Tensor host;                  // bytes
    };
    static constexpr std::size_t places = 4;

    explicit Pieces(StagingChunk& memory) : m_memory(memory) {}
    void begin();
    void cut(std::size_t tensor, std::int64_t parts, std::int64_t partBytes);
    // Runs work on the thread that does not call the device, after begin(). The other thread receives its exception as well.
    template <class Work>
    void besides(Work&& work);
    // Waits until the condition holds; false after leave().
    template <class Condition>
    bool await(const Condition& condition);
    // Does the same on the thread that calls the device. Raises Cancelled, or the other thread's exception.
    template <class Condition>
    void await(const std::stop_token& stop, const Condition& condition);
    void advance(std::size_t& count);
    [[nodiscard]] std::size_t now(const std::size_t& count);

    StagingChunk& m_memory;
    std::vector<Piece> m_pieces;
    std::mutex m_mutex;  // guards the members below
    std::condition_variable_any m_changed;
    std::size_t m_made = 0, m_passed = 0;  // pieces that are in host memory; pieces whose memory is free again
    bool m_busy = false, m_left = false;
    std::exception_ptr m_failure;
};

class UploadPieces : public Pieces {
public:
    explicit UploadPieces(StagingChunk& memory) : Pieces(memory) {}

    using Write = std::function<void(const HostRows& rows, std::int64_t first, std::int64_t end, std::byte* to)>;
    // For the thread that prepares batches: begin() takes the data, and must be followed by fill(), which writes one
    // piece after the other and returns after the last one.
    void begin(std::vector<HostRows> rows);
    void fill(const Write& write);

    // For the thread that calls the device: queues all copies, and adds their spans. `meanwhile` is called before each
    // wait. Operators may use the tensors after order(Upload, Compute).
    std::vector<at::Tensor> copy(DeviceContext& device, const std::stop_token& stop, std::vector<Span>& spans,
                                 const std::function<void()>& meanwhile);

private:
    void queue(DeviceContext& device, const Piece& piece, const std::vector<at::Tensor>& there, Span& span);

    std::vector<HostRows> m_rows;
};

class DownloadPieces : public Pieces {
public:
    explicit DownloadPieces(StagingChunk& memory) : Pieces(memory) {}

    // For the thread that calls the device: begin() takes the results, contiguous with rows along the first dimension;
    // drain() must run on another thread afterwards.
    void begin(std::vector<at::Tensor> results);
    // Queues a copy or passes on a piece that has arrived. Returns false if nothing can be done before some copy or the
    // writing of a piece has finished; `wait` lets it wait for that.
    bool step(DeviceContext& device, const std::stop_token& stop, std::vector<Span>& spans, bool wait);
    // Returns whether all pieces have arrived.
    [[nodiscard]] bool complete() const { return m_arrived == m_pieces.size(); }

    using Store = std::function<void(std::size_t result, std::int64_t first, const at::Tensor& rows)>;
    // For the thread that writes results: stores one piece after the other, and returns after the last one. Returns false
    // after leave().
    bool drain(const Store& store);

private:
    void queue(DeviceContext& device, Span& span);

    std::vector<at::Tensor> m_results;  // until the copies of all are queued
    std::vector<at::Tensor> m_kinds;    // their types and shapes, without data
    std::size_t m_queued = 0, m_arrived = 0, m_firstSpan = 0;
};

}  // namespace hopscope::executor
