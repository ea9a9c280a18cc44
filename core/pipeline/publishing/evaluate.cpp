#include "pipeline/publishing/evaluate.h"

#include <algorithm>
#include <filesystem>

#include "pipeline/files/text_file.h"
#include "pipeline/publishing/publish.h"
#include "pipeline/running/records.h"
#include "pipeline/running/shard_journal.h"

namespace hopscope::pipeline {

base::Result<schema::Report> reportIn(const OutputFolder& folder)
{
    const std::string file = folder.path() + "/report.json";
    const base::Result<std::string> text = readText(file);
    if (!text) return base::forward(text);
    return schema::readReport(*text, file);
}

namespace {

base::Result<Evaluation> evaluationOf(base::Result<schema::Report> report)
{
    if (!report) return base::forward(report);
    Evaluation evaluation;
    evaluation.verdict = report->verify;
    evaluation.report = std::move(*report);
    return evaluation;
}

// The results of another process that was killed while it published them.
base::Result<Evaluation> completed(const OutputFolder& folder, Reporter& reporter)
{
    reporter.note("this run had already finished; only its files had not been renamed yet");
    return evaluationOf(reportIn(folder));
}

// The results of the same run, for a shard that is repeated after all shards have ended.
std::optional<schema::Report> finishedBefore(const OutputFolder& folder, const Conditions& conditions)
{
    base::Result<schema::Report> report = reportIn(folder);
    if (!report || !report->shard || report->shard->run != nameOfRun(conditions)) return std::nullopt;
    for (const schema::OutputRecord& output : report->outputs)
        if (!std::filesystem::exists(folder.path() + "/" + output.file)) return std::nullopt;
    return std::move(*report);
}

base::Result<std::unique_ptr<RunJournal>> openJournal(const Conditions& conditions, const EvaluationRequest& request,
                                                      OutputFolder& folder, Reporter& reporter,
                                                      const std::stop_token& stop)
{
    if (!request.shard) return RunJournal::open(folder, conditions);
    return ShardJournal::open(folder, conditions, *request.shard, reporter, stop);
}

std::string ownFolder(const OutputFolder& folder)
{
    if (!folder.share()) return {};
    const std::string path = folder.journal() + "/work-" + std::to_string(folder.share()->index);
    std::error_code ignored;
    std::filesystem::create_directories(path, ignored);
    return path;
}

// The number of processes with records in the journal.
int processesIn(const OutputFolder& folder)
{
    std::error_code problem;
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.journal(), problem))
        count += entry.path().filename().string().starts_with(std::string(chunksName) + "-") ? 1 : 0;
    return std::max(count, 1);
}

schema::ShardRecord recordOf(const executor::ShardReport& shard, const Conditions& conditions,
                             const OutputFolder& folder)
{
    const int count = shard.share.count == 0 ? processesIn(folder) : shard.share.count;
    return {shard.share.index, count, shard.waited, shard.computed, shard.complete, nameOfRun(conditions)};
}

// For a run that was cancelled or stopped by a full disk: the same command resumes it.
base::Error withWayOn(base::Error error, const OutputFolder& folder)
{
    if (folder.keepsJournal() && error.hint.empty())
        error.hint =
            "finished work stays in the folder: " + std::string(folder.share() ? "the same command" : "--resume") +
            " continues from there";
    return error;
}

}  // namespace

base::Result<OutputFolder> openFolder(const EvaluationRequest& request, const std::string& path,
                                      const std::stop_token& stop)
{
    if (request.shard) return OutputFolder::openShared(path, {request.shard->index, request.shard->count}, stop);
    return OutputFolder::open(path, request.settings.resume ? Unfinished::Continue : Unfinished::Refuse);
}

namespace {

base::Result<Prepared> prepareRun(const EvaluationRequest& request, Reporter& reporter)
{
    base::Result<Prepared> prepared = openModel(request.model, reporter);
    if (!prepared) return prepared;
    if (const base::Status walked = walkModel(*prepared, reporter); !walked) return base::forward(walked);
    analyseModel(*prepared, reporter);
    noteReassociations(*prepared);
    if (const base::Status finite = examineInputs(*prepared, request.settings.nan, reporter); !finite)
        return base::forward(finite);
    tellNotes(*prepared, reporter);
    return prepared;
}

schema::Report reportOf(const EvaluationRequest& request, const Prepared& prepared, const Execution& done,
                        const Conditions& conditions, const OutputFolder& folder)
{
    schema::Report made = toReport(prepared, done.plan, done.run, request.settings, done.forecast);
    if (done.run.shard) made.shard = recordOf(*done.run.shard, conditions, folder);
    return made;
}

// `conditions`: of a run with a journal.
base::Result<Evaluation> runAndPublish(const EvaluationRequest& request, Prepared& prepared, RunJournal* journal,
                                       const Conditions& conditions, OutputFolder& folder, executor::Observer& observer,
                                       Reporter& reporter, const std::stop_token& stop)
{
    // The pages of a dropped store are reused: getting fresh pages costs more than writing to them.
    const ExecutionRequest execution{.plan = request.plan,
                                     .settings = request.settings,
                                     .folder = folder.journal(),
                                     .ownFolder = ownFolder(folder),
                                     .keepStores = request.settings.verify != verify::Mode::None,
                                     .journal = journal};
    base::Result<Execution> done = planAndRun(prepared, execution, observer, reporter, stop);
    if (!done) return tl::unexpected(withWayOn(done.error(), folder));
    if (done->run.shard && !done->run.shard->complete)
        return Evaluation{schema::bounded(reportOf(request, prepared, *done, conditions, folder)), std::nullopt};
    if (const base::Status verified = verifyRun(*done, prepared, execution, reporter, stop); !verified)
        return base::forward(verified);
    base::Result<schema::Report> report =
        publish(*done, reportOf(request, prepared, *done, conditions, folder), folder);
    if (!report) return base::forward(report);
    return Evaluation{std::move(*report), std::move(done->verdict)};
}

}  // namespace

base::Result<Evaluation> evaluate(const EvaluationRequest& request, OutputFolder& folder, executor::Observer& observer,
                                  Reporter& reporter, const std::stop_token& stop)
{
    folder.showLife();
    const bool keeps = request.settings.resume || request.shard;
    if (keeps && folder.completed()) return completed(folder, reporter);
    base::Result<Prepared> prepared = prepareRun(request, reporter);
    if (!prepared) return base::forward(prepared);
    if (!keeps) return runAndPublish(request, *prepared, nullptr, {}, folder, observer, reporter, stop);
    const base::Result<std::string> device = deviceOf(*prepared, request.plan, request.settings);
    if (!device) return base::forward(device);
    const base::Result<Conditions> conditions = conditionsOf(*prepared, request.plan, request.settings, *device);
    if (!conditions) return base::forward(conditions);
    if (request.shard)
        if (std::optional<schema::Report> before = finishedBefore(folder, *conditions)) {
            reporter.note("this run had already finished");
            return evaluationOf(std::move(*before));
        }
    const base::Result<std::unique_ptr<RunJournal>> journal = openJournal(*conditions, request, folder, reporter, stop);
    if (!journal) return base::forward(journal);
    EvaluationRequest settled = request;  // a run that is resumed must not choose another device
    settled.settings.device = *device;
    return runAndPublish(settled, *prepared, journal->get(), *conditions, folder, observer, reporter, stop);
}

}  // namespace hopscope::pipeline
