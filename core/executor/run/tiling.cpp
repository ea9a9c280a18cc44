#include "executor/run/tiling.h"

#include <ATen/Parallel.h>

#include "executor/probe.h"

namespace hopscope::executor {

namespace {

Families familiesOf(const Options& options)
{
    if (options.probe && options.probe->everyOperator())
        return {.chain = false, .softmax = false, .several = false, .segments = false};
    return Families::of(options.fuse);
}

}  // namespace

std::optional<TilingRequest> tilingOf(const Session& session, double budget)
{
    if (session.device.gpu()) return std::nullopt;
    const Options& options = session.options;
    return TilingRequest{.batch = options.batch,
                         .tile = options.tile,
                         .budget = budget,
                         .threads = at::get_num_threads(),
                         .families = familiesOf(options),
                         .store = options.store};
}

}  // namespace hopscope::executor
