#include "pipeline/evaluate.h"

#include "pipeline/publish.h"
#include "pipeline/records.h"

namespace hopscope::pipeline {

base::Result<Evaluation> evaluate(const EvaluationRequest& request, OutputFolder& folder, executor::Observer& observer,
                                  Reporter& reporter, const std::stop_token& stop)
{
    base::Result<Prepared> prepared = openModel(request.model, reporter);
    if (!prepared) return base::forward(prepared);
    if (const base::Status walked = walkModel(*prepared, reporter); !walked) return base::forward(walked);
    analyseModel(*prepared, reporter);
    if (const base::Status finite = checkFinite(*prepared, request.nan); !finite) return base::forward(finite);
    hashInputs(*prepared, reporter);
    tellNotes(*prepared, reporter);

    // The pages of a store that is dropped are used again: fresh ones cost more than what is written to them.
    const bool keepStores = request.verify != verify::Mode::None;
    const ExecutionRequest execution{request.plan,     request.device, request.verify,
                                     folder.journal(), std::nullopt,   keepStores};
    base::Result<Execution> done = planAndRun(*prepared, execution, observer, reporter, stop);
    if (!done) return base::forward(done);
    if (const base::Status verified = verifyRun(*done, *prepared, execution, reporter, stop); !verified)
        return base::forward(verified);

    schema::Report made = toReport(*prepared, done->plan, done->run, done->forecast);
    made.fuse = request.device.fuse;
    made.reorder = request.device.reorder;
    made.store = request.device.store;
    base::Result<schema::Report> report = publish(*done, std::move(made), folder);
    if (!report) return base::forward(report);
    return Evaluation{std::move(*report), std::move(done->verdict)};
}

}  // namespace hopscope::pipeline
