#include "pipeline/evaluate.h"

#include "pipeline/publish.h"
#include "pipeline/records.h"
#include "pipeline/run_journal.h"
#include "pipeline/text_file.h"

namespace hopscope::pipeline {

namespace {

// What another process has computed and published but for its last moments.
base::Result<Evaluation> completed(const OutputFolder& folder, Reporter& reporter)
{
    const std::string file = folder.path() + "/report.json";
    const base::Result<std::string> text = readText(file);
    if (!text) return base::forward(text);
    base::Result<schema::Report> report = schema::readReport(*text, file);
    if (!report) return base::forward(report);
    reporter.note("this run was finished before, but for the names of its files");
    Evaluation evaluation;
    evaluation.verdict = report->verify;
    evaluation.report = std::move(*report);
    return evaluation;
}

base::Result<std::unique_ptr<RunJournal>> openJournal(const Prepared& prepared, const EvaluationRequest& request,
                                                      OutputFolder& folder)
{
    if (!request.resume) return std::unique_ptr<RunJournal>();
    const base::Result<Conditions> conditions = conditionsOf(prepared, request.plan, request.device);
    if (!conditions) return base::forward(conditions);
    return RunJournal::open(folder, *conditions);
}

// Cancelled or stopped by a full disk: the same command goes on.
base::Error withWayOn(base::Error error, const OutputFolder& folder)
{
    if (folder.keepsJournal() && error.hint.empty())
        error.hint = "what is finished stays in the folder: --resume goes on with it";
    return error;
}

}  // namespace

base::Result<Evaluation> evaluate(const EvaluationRequest& request, OutputFolder& folder, executor::Observer& observer,
                                  Reporter& reporter, const std::stop_token& stop)
{
    if (request.resume && folder.completed()) return completed(folder, reporter);
    base::Result<Prepared> prepared = openModel(request.model, reporter);
    if (!prepared) return base::forward(prepared);
    if (const base::Status walked = walkModel(*prepared, reporter); !walked) return base::forward(walked);
    analyseModel(*prepared, reporter);
    if (const base::Status finite = checkFinite(*prepared, request.nan); !finite) return base::forward(finite);
    hashInputs(*prepared, reporter);
    tellNotes(*prepared, reporter);
    const base::Result<std::unique_ptr<RunJournal>> journal = openJournal(*prepared, request, folder);
    if (!journal) return base::forward(journal);

    // The pages of a store that is dropped are used again: fresh ones cost more than what is written to them.
    const bool keepStores = request.verify != verify::Mode::None;
    const ExecutionRequest execution{.plan = request.plan,
                                     .device = request.device,
                                     .verify = request.verify,
                                     .folder = folder.journal(),
                                     .keepStores = keepStores,
                                     .journal = journal->get()};
    base::Result<Execution> done = planAndRun(*prepared, execution, observer, reporter, stop);
    if (!done) return tl::unexpected(withWayOn(done.error(), folder));
    if (const base::Status verified = verifyRun(*done, *prepared, execution, reporter, stop); !verified)
        return base::forward(verified);

    schema::Report made = toReport(*prepared, done->plan, done->run, request.device, done->forecast);
    base::Result<schema::Report> report = publish(*done, std::move(made), folder);
    if (!report) return base::forward(report);
    return Evaluation{std::move(*report), std::move(done->verdict)};
}

}  // namespace hopscope::pipeline
