#include "executor/run/tiling.h"

#include <ATen/Parallel.h>

#include "executor/probe.h"

namespace hopscope::executor {

Families familiesOf(const Session& session)
{
    const bool gpu = session.device.gpu();
    if (session.options.probe && session.options.probe->everyOperator())
        return {.chain = false, .softmax = false, .several = false, .segments = gpu, .gpu = gpu};
    return Families::of(session.options.fuse, gpu);
}

std::optional<TilingRequest> tilingOf(const Session& session, double budget)
{
    if (session.device.gpu()) return std::nullopt;
    const Options& options = session.options;
    return TilingRequest{.batch = options.batch,
                         .tile = options.tile,
                         .budget = budget,
                         .threads = at::get_num_threads(),
                         .store = options.store};
}

}  // namespace hopscope::executor
