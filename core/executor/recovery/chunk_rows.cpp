#include "executor/recovery/chunk_rows.h"

#include <algorithm>

namespace hopscope::executor {

namespace {

at::Tensor rowsOf(Store& store, Block& block, const ir::RowClass& rows)
{
    const Destinations& tile = block.destinations();
    if (block.isRange(rows)) return store.tensor().narrow(store.rowDim(), tile.first, tile.count);
    return store.tensor().index_select(store.rowDim(), block.rows(rows));
}

}  // namespace

bool isIntact(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values)
{
    if (chunk.rows.size() != program.writes.size()) return false;
    const std::int64_t count = session.structure.size(program.loop->destination);
    if (chunk.count > count || chunk.first > count - chunk.count) return false;
    const std::int64_t tile = std::min(chunk.tile, chunk.count);
    Block block(session.structure, session.analysis, *program.loop);
    std::vector<std::vector<graph::Digest>> digests(program.writes.size());
    for (std::int64_t first = chunk.first; first < chunk.first + chunk.count; first += tile) {
        session.checkStop();
        block.begin({first, std::min(tile, chunk.first + chunk.count - first)});
        for (std::size_t w = 0; w < digests.size(); ++w) {
            const Written& written = program.writes[w];
            if (!values.contains(written.value)) continue;
            digests[w].push_back(digestOf(rowsOf(*session.stores.at(written.value), block, written.rows)));
        }
        block.end();
    }
    for (std::size_t w = 0; w < digests.size(); ++w)
        if (values.contains(program.writes[w].value) && graph::digestOf(digests[w]).hex() != chunk.rows[w].digest)
            return false;
    return true;
}

void adopt(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values)
{
    Block block(session.structure, session.analysis, *program.loop);
    block.begin({chunk.first, chunk.count});
    for (std::size_t w = 0; w < program.writes.size(); ++w) {
        const Written& written = program.writes[w];
        if (!values.contains(written.value)) continue;
        Store& store = session.createStore(written.value);
        if (block.isRange(written.rows)) store.adoptRange(chunk.first, chunk.count);
        else store.adopt(block.rows(written.rows));
        if (chunk.rows[w].lost) store.adoptLoss(*chunk.rows[w].lost);
    }
    block.end();
}

}  // namespace hopscope::executor
