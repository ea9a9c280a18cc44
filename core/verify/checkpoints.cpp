#include "verify/checkpoints.h"

#include "analysis/stored.h"
#include "base/proc.h"
#include "executor/unsplit.h"
#include "verify/compare.h"

namespace hopscope::verify {

namespace {

// `type`: the type in which the value is stored.
TensorError errorOf(ir::ValueId value, const base::TensorView& staged, const base::TensorView& reference,
                    base::DType type, const Tolerance& tolerance)
{
    TensorError error{ir::valueName(value)};
    base::TensorView expected = reference;
    expected.dtype = type;
    if (mismatch(staged, expected)) addDifference(error);
    else compareAll(staged, reference, tolerance, error);
    return error;
}

}  // namespace

base::Status compareCheckpoints(const Request& request, std::int64_t needed, const base::ProgressFn& progress,
                                std::stop_token stop, Verification& verdict)
{
    const std::int64_t free = base::availableMemory();
    if (request.checkpoints.empty() || (free > 0 && needed > free / 2)) return {};
    if (progress) progress({"comparing stored values"});
    std::vector<ir::ValueId> values;
    for (const auto& [value, tensor] : request.checkpoints) values.push_back(value);
    const auto reference = executor::evaluateUnsplit(*request.walk, *request.analysis, *request.inputs, values,
                                                     request.scratchFolder, std::move(stop));
    if (!reference && reference.error().code == base::ErrorCode::Cancelled) return base::forward(reference);
    if (!reference) return {};
    for (const auto& [value, tensor] : request.checkpoints)
        verdict.checkpoints.push_back(errorOf(value, tensor, reference->at(value),
                                              analysis::storedType(*request.analysis, value, request.store),
                                              verdict.tolerance));
    return {};
}

}  // namespace hopscope::verify
