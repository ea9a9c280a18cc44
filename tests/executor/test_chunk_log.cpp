// What a journal is told of the batches of a loop.

#include <doctest/doctest.h>

#include "bare_session.h"
#include "executor/loop/chunk_log.h"
#include "executor/loop/loop.h"
#include "noted_chunks.h"

using namespace hopscope;
using namespace hopscope::executor;

namespace {

std::vector<Chunk> chunksOf(const std::vector<std::int64_t>& batches)
{
    const analysis::Analysis none;
    tests::NotedChunks journal;
    tests::BareSession bare(none, &journal);
    LoopProgram program;
    ChunkLog log(bare.session, program, {});
    log.keepWhole();
    BatchFigures finished;
    for (const std::int64_t destinations : batches) {
        finished.first += finished.destinations;
        finished.destinations = destinations;
        log.add(finished);
    }
    log.close(true);
    return journal.chunks;
}

}  // namespace

TEST_CASE("a chunk of a journal is cut into tiles of the size that it says, of which only the last one may be smaller")
{
    for (const std::vector<std::int64_t>& batches : std::vector<std::vector<std::int64_t>>{
             {10, 10, 10}, {10, 10, 3}, {10, 5, 5, 5}, {5, 10, 10}, {8, 4, 2, 1, 1}}) {
        std::int64_t first = 0, left = std::ssize(batches);
        for (const Chunk& chunk : chunksOf(batches)) {
            CAPTURE(chunk.first);
            CHECK(chunk.first == first);
            CHECK(chunk.batches == (chunk.count + chunk.tile - 1) / chunk.tile);
            first += chunk.count;
            left -= chunk.batches;
        }
        CHECK(left == 0);
    }
    CHECK(chunksOf({10, 10, 10}).size() == 1);
    CHECK(chunksOf({10, 5, 5, 5}).size() == 2);
}
