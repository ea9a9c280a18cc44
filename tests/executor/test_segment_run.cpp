#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "bare_session.h"
#include "executor/batch/segment_run.h"

using namespace hopscope;
using namespace hopscope::executor;

TEST_CASE("weights of messages may lie apart in memory, and be those of several heads")
{
    const analysis::Analysis none;
    tests::BareSession bare(none);
    at::manual_seed(1);
    for (const std::int64_t heads : {1, 2}) {
        const at::Tensor source = at::randn({5, 4}), columns = at::tensor({4, 0, 2, 2, 1}, at::kLong);
        const at::Tensor table = at::randn({5, 6}), weight = table.narrow(1, 2, heads);
        Segment segment;
        segment.width = 4;
        segment.heads = heads;
        SegmentInputs in;
        in.source = source;
        in.columns = columns;
        in.weight = weight;
        in.offsets = at::tensor({0, 2, 2, 5}, at::kLong);
        const at::Tensor messages = source.index_select(0, columns) * weight.repeat_interleave(4 / heads, 1);
        const at::Tensor sums = at::zeros({3, 4}).index_add(0, at::tensor({0, 0, 2, 2, 2}, at::kLong), messages);
        CHECK(at::allclose(runSegment(segment, in, bare.session), sums));
    }
}
