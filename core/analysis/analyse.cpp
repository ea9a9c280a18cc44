#include "analysis/analyse.h"

#include "analysis/depth.h"
#include "analysis/lowering/dead_code.h"
#include "analysis/lowering/functionalise.h"
#include "analysis/rows/infer.h"

namespace hopscope::analysis {

namespace {

void block(Analysis& analysis, base::Error error)
{
    analysis.lints.push_back({"no-split", error.message, {}, true});
    analysis.refusal = std::move(error);
}

// Values of raw constants and parameters keep their order, so that the loader's tensors can be found again.
void lintPrologue(Analysis& a)
{
    for (const ir::Op& op : a.program.ops) {
        const OpInfo& info = a.info(op.id);
        if (info.structureOnly && !info.prologueReason.empty())
            a.lints.push_back({"prologue-only",
                               ir::describeOp(op) + " runs once for the whole graph: " + info.prologueReason, op.id,
                               false});
    }
}

}  // namespace

Analysis analyse(const ir::Program& raw, const InputSchema& schema)
{
    Builder builder;
    const auto functional = functionalise(raw);
    if (!functional) {
        block(builder.analysis, functional.error());
        return std::move(builder.analysis);
    }
    ir::Program live = removeDead(*functional);
    dropUnusedPositions(live);
    const base::Status inferred = infer(builder, live, schema);
    if (!inferred) block(builder.analysis, inferred.error());
    else computeDepths(builder.analysis);
    lintPrologue(builder.analysis);
    return std::move(builder.analysis);
}

}  // namespace hopscope::analysis
