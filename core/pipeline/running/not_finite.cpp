#include "pipeline/running/not_finite.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "base/units.h"
#include "graph/dataset.h"
#include "pipeline/debugging/debugging.h"
#include "pipeline/opening/labels.h"
#include "verify/verify.h"

namespace hopscope::pipeline {

namespace {

constexpr double leastSeconds = 20, mostSeconds = 60;  // that a search may take
constexpr std::int64_t mostDestinations = 1 << 16;     // of a batch of the search
constexpr std::size_t mostNamed = 4;                   // inputs and parameters in a sentence

// Stops when the time is over, or with the other token.
class Deadline {
public:
    Deadline(double seconds, const std::stop_token& stop)
        : m_link(stop, [this] { m_stop.request_stop(); }),
          m_watch([this, seconds](const std::stop_token& ended) { wait(seconds, ended); })
    {}
    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }

private:
    void wait(double seconds, const std::stop_token& ended)
    {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        never.wait_for(lock, ended, std::chrono::duration<double>(seconds), [] { return false; });
        m_stop.request_stop();
    }

    std::stop_source m_stop;
    std::stop_callback<std::function<void()>> m_link;
    std::jthread m_watch;
};

std::vector<schema::LostNumbers> count(const executor::RunReport& run)
{
    std::vector<schema::LostNumbers> lost;
    for (const executor::StoredTensor& output : run.outputs) {
        const graph::NotFinite found = graph::countNotFinite(output.tensor);
        if (found.numbers > 0) lost.push_back({.output = output.name, .numbers = found.numbers, .of = found.of});
    }
    return lost;
}

// Batches no larger than those of the run, which are known to fit.
std::int64_t batchOf(const executor::RunReport& run)
{
    std::int64_t most = 1;
    for (const executor::StageReport& stage : run.stages) most = std::max(most, stage.largestBatch);
    return std::min(most, mostDestinations);
}

// A scratch folder that the destructor removes.
class SearchFolder {
public:
    explicit SearchFolder(const std::string& parent) : m_path(parent + "/not-finite")
    {
        std::error_code ignored;
        std::filesystem::create_directories(m_path, ignored);
    }
    SearchFolder(const SearchFolder&) = delete;
    SearchFolder& operator=(const SearchFolder&) = delete;
    ~SearchFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

std::string operatorText(const schema::OperatorRecord& place)
{
    std::string text = place.kind;
    if (!place.module.empty()) text += " in " + place.module;
    if (!place.source.empty()) text += " (" + place.source + ")";
    return text;
}

std::string firstText(const schema::NonFiniteRecord& first)
{
    std::string text = "first made by " + operatorText(first.place);
    text += first.stage ? ", stage " + std::to_string(first.stage->number) : ", before the first stage";
    if (!first.shown.empty()) text += ", for " + first.shown[0].table + " " + std::to_string(first.shown[0].row);
    return text;
}

std::string givenText(const std::vector<std::string>& given)
{
    const std::size_t count = std::min(given.size(), mostNamed);
    std::vector<std::string> named(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(count));
    if (given.size() > count) named.push_back(std::to_string(given.size() - count) + " more");
    return join(named, ", ") + (given.size() == 1 ? " holds" : " hold") + " such numbers from the start";
}

// False if it does not say where the numbers of the outputs come from.
bool take(const base::Result<schema::NonFiniteReport>& found, schema::NotFiniteRecord& record)
{
    if (!found || found->outputs.empty()) return false;
    record.given = found->inputs;
    if (!record.given.empty()) record.origin = givenText(record.given);
    const auto first = std::ranges::find_if(found->makers, &schema::NonFiniteRecord::reachesOutput);
    if (first == found->makers.end()) return !record.given.empty();
    record.first = first->place;
    record.stage = first->stage;
    record.origin += (record.given.empty() ? "" : "; others are ") + firstText(*first);
    return true;
}

class Search {
public:
    Search(const Execution& execution, const Prepared& prepared, const ExecutionRequest& request, Reporter& reporter)
        : m_execution(execution),
          m_prepared(prepared),
          m_folder(request.ownFolder.empty() ? request.folder : request.ownFolder),
          m_emptied(!request.transientFiles.empty()),
          m_given(request.notFinite),
          m_reporter(reporter)
    {}

    void run(schema::NotFiniteRecord& record, const std::stop_token& stop)
    {
        m_reporter.progress({"looking for the origin of NaN and infinities", 0, 0});
        bool found = !m_emptied && take(hunt(m_prepared.inputs, stop), record);
        if (!found && !stop.stop_requested()) found = takeKnown(record) || takeSample(record, stop);
        if (!found) record.origin = verify::notFiniteHint;
        m_reporter.progressEnded();
    }

private:
    // Fills the record where no search is needed.
    bool takeKnown(schema::NotFiniteRecord& record) const
    {
        record.given = m_given;
        if (!m_emptied && m_given.empty())
            for (const auto& [name, input] : m_prepared.inputs)
                if (graph::countNotFinite(input).numbers > 0) record.given.push_back(name);
        for (const loader::Parameter& parameter : m_prepared.model.info().parameters)
            if (parameter.notFinite > 0) record.given.push_back(parameter.name);
        if (!record.given.empty()) record.origin = givenText(record.given);
        return !record.given.empty();
    }

    bool takeSample(schema::NotFiniteRecord& record, const std::stop_token& stop)
    {
        const bool emptied = m_emptied && std::ranges::any_of(m_prepared.sample, [&](const auto& item) {
                                 const auto input = m_prepared.inputs.find(item.first);
                                 return input != m_prepared.inputs.end() && input->second.data == item.second.data;
                             });
        record.onSample = !emptied && take(hunt(m_prepared.sample, stop), record);
        if (record.onSample) record.origin = "on a sample of the graph: " + record.origin;
        return record.onSample;
    }

    base::Result<schema::NonFiniteReport> hunt(const base::TensorMap& inputs, const std::stop_token& stop)
    {
        const Deadline deadline(std::clamp(2 * m_execution.run.seconds, leastSeconds, mostSeconds), stop);
        debugger::Subject subject = subjectOf(m_prepared);
        subject.inputs = &inputs;
        const debugger::Settings settings{.tolerance = {},
                                          .folder = m_folder.path(),
                                          .batch = batchOf(m_execution.run),
                                          .progress = progressOf(m_reporter)};
        return debugger::huntNonFinite(subject, m_execution.plan, settings, deadline.token());
    }

    const Execution& m_execution;
    const Prepared& m_prepared;
    SearchFolder m_folder;
    bool m_emptied;  // the inputs are gone
    const std::vector<std::string>& m_given;
    Reporter& m_reporter;
};

}  // namespace

base::Result<std::optional<schema::NotFiniteRecord>> examineOutputs(const Execution& execution,
                                                                    const Prepared& prepared,
                                                                    const ExecutionRequest& request, Reporter& reporter,
                                                                    const std::stop_token& stop)
{
    schema::NotFiniteRecord record;
    record.outputs = count(execution.run);
    if (record.outputs.empty()) return std::nullopt;
    Search(execution, prepared, request, reporter).run(record, stop);
    if (stop.stop_requested()) return base::fail(base::ErrorCode::Cancelled, "the run was cancelled");
    return record;
}

}  // namespace hopscope::pipeline
