#pragma once

// Private to executor: holds the rows that a batch has collected for its stores.

#include <utility>
#include <vector>

#include "executor/batch/feed.h"
#include "executor/device/staging.h"

namespace hopscope::executor {

class BatchResults {
public:
    using Registers = std::vector<at::Tensor>;

    // The arguments must outlive the object.
    BatchResults(Session& session, const LoopProgram& program, Block& block, Feed& feed)
        : m_session(session),
          m_program(program),
          m_block(block),
          m_feed(feed)
    {}

    // Returns the bytes that download() needs in its chunk.
    std::int64_t bytes();
    // Takes the rows to be stored, in the type of their stores.
    void make(const Registers& registers);
    // GPU: queues copies of rows to tables on the device. `given` contains the row numbers there.
    void keep(const std::vector<Given>& given);
    // GPU: queues the download of all rows into the chunk.
    void download(StagingChunk& chunk);
    // GPU, without a journal, instead of download(): leaves tables with rows along the first dimension on the device and
    // returns them, for storePart().
    std::vector<at::Tensor> leave();
    // GPU: queues the download of a tensor.
    at::Tensor downloaded(const at::Tensor& made, StagingChunk& chunk);
    // Write rows to their stores, on any thread. store() writes those on the host, and returns the records for the journal, if
    // the run has one. storePart() writes rows of the result with this number among those of leave(), from row `first`
    // of the batch on.
    std::vector<StoredPart> store();
    void storePart(std::size_t result, std::int64_t first, const at::Tensor& rows);
    void clear();
    [[nodiscard]] const PhaseTimes& times() const { return m_times; }
    [[nodiscard]] std::int64_t writtenBytes() const { return m_bytes; }

private:
    struct Rows {
        const Written* written;
        at::Tensor values, loss;  // undefined if only the device has the store, or if nothing is rounded
    };
    void round(Rows& rows) const;
    void keep(const Written& w, const at::Tensor& made, const std::vector<Given>& given);
    [[nodiscard]] bool narrows(const Written& w) const;
    Rounding adopt(const Written& w, const at::Tensor& loss);
    StoredRows store(const Written& written, std::int64_t first, const at::Tensor& rows);

    Session& m_session;
    const LoopProgram& m_program;
    Block& m_block;
    Feed& m_feed;
    std::vector<Rows> m_here;
    std::vector<std::pair<const Written*, at::Tensor>> m_kept;  // on the device
    std::vector<std::pair<const Written*, bool>> m_inParts;     // with rounding errors or rows
    std::int64_t m_bytes = 0;
    PhaseTimes m_times;
};

}  // namespace hopscope::executor
