#pragma once

// Runs plans, each on a thread of its own while requests are answered.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "debugger/stepping.h"
#include "pipeline/files/output_folder.h"
#include "pipeline/running/execute.h"
#include "pipeline/running/run_journal.h"
#include "server/documents.h"
#include "server/events.h"
#include "server/gate.h"

namespace hopscope::engine {

using Notify = std::function<void(const std::string& method, json::Value params)>;

struct RunRequest {
    pipeline::ExecutionRequest execution;
    pipeline::ChosenPlan plan;
    std::string output;  // empty: a folder of the engine's own
    bool paused = false;
    // If set, the run can be stopped at operators. Otherwise no debugger reads its values.
    std::optional<std::vector<debugger::Breakpoint>> breakpoints;
    bool last = false;  // no plan is made for the document afterwards, and the stores are not read again
};

// One run, from its start until its results are no longer needed.
class ServedRun;

class Run {
public:
    // The document must outlive the run. A run of a given plan does not change the document.
    Run(std::int64_t id, Document& document, RunRequest request, pipeline::OutputFolder folder, Notify notify,
        base::ProgressFn progress);
    ~Run();  // cancels and waits

    void begin();

    [[nodiscard]] std::int64_t id() const { return m_id; }
    [[nodiscard]] std::int64_t document() const { return m_document.id; }
    [[nodiscard]] bool finished() const { return m_finished; }
    RunGate& gate() { return m_gate; }
    void cancel() { m_stop.request_stop(); }
    // Returns true if the run can be stopped at operators.
    [[nodiscard]] bool seesOperators() const { return m_request.breakpoints.has_value(); }
    // Returns the result at which the run is stopped; null if it is not stopped.
    [[nodiscard]] std::shared_ptr<const debugger::Stopped> stopped();
    // Replaces the breakpoints. Fails with Usage if the run was started without any, or if a breakpoint names no
    // operator.
    base::Status setBreakpoints(const std::vector<debugger::Breakpoint>& breakpoints);

private:
    base::Status prepareStepping(ServedRun& observer);
    void stop(debugger::Stopped stopped, ServedRun& observer);
    void body();
    base::Result<schema::Report> carryOut(pipeline::OutputFolder folder, EventFeed& feed);
    base::Result<std::vector<std::string>> prepareNotes();
    base::Result<std::unique_ptr<pipeline::RunJournal>> journalIn(pipeline::OutputFolder& folder);
    schema::Report describe(const pipeline::Execution& execution, std::vector<std::string> notes, const ServedRun& run);

    std::int64_t m_id;
    Document& m_document;
    RunRequest m_request;
    pipeline::OutputFolder m_output;
    std::string m_folder, m_dataHash;
    Notify m_notify;
    base::ProgressFn m_progress;
    RunGate m_gate;
    std::stop_source m_stop;
    std::atomic<bool> m_finished = false;
    std::mutex m_mutex;
    std::unique_ptr<debugger::Stepping> m_stepping;  // for a run that can be stopped at operators
    std::shared_ptr<const debugger::Stopped> m_stopped;
    std::thread m_thread;
};

// Returns the error of a request that needs a run with breakpoints.
base::Error startedWithout();

class Runs {
public:
    Runs(std::string folder, std::int64_t first, Notify notify)
        : m_folder(std::move(folder)),
          m_notify(std::move(notify)),
          m_next(first)
    {}
    ~Runs();

    // Called on the thread that answers requests. The run sends nothing before begin(), so that the answer comes first.
    Outcome start(Document& document, const protocol::StartRun& query, base::ProgressFn progress);
    void begin();
    [[nodiscard]] bool busyWith(std::int64_t document);
    void forget(std::int64_t document);  // drops its results
    // Returns null if the run is not the last one, or not a run of this document.
    Run* find(std::int64_t run, std::int64_t document);

    // Executes the request immediately; may be called from any thread.
    Outcome control(const protocol::RunQuery& query);

private:
    void replace(std::unique_ptr<Run> run);

    std::string m_folder;
    Notify m_notify;
    std::mutex m_mutex;
    std::unique_ptr<Run> m_run;  // the last one
    std::string m_own;           // its folder, if that belongs to the engine
    std::int64_t m_next;
};

// Answers debug/stopped with the tensor at which the run is stopped.
Outcome stoppedTensor(Document& document, Run& run);

}  // namespace hopscope::engine
