#include "server/runs.h"

#include <filesystem>

namespace hopscope::engine {

namespace {

RunRequest requestOf(const protocol::StartRun& query)
{
    RunRequest request;
    request.output = query.output;
    request.paused = query.paused;
    request.last = query.last;
    request.execution.settings = base::forTask(query.settings, base::Task::Run);
    if (query.breakpoints) request.breakpoints = breakpointsOf(*query.breakpoints);
    request.execution.keepStores = request.execution.settings.verify != verify::Mode::None;
    request.execution.transientFiles = query.transient;
    return request;
}

constexpr std::int64_t usualBatch = 1 << 16;  // the default size for stopping at operators, which needs batches

base::Status stopAtOperators(plan::Plan& plan)
{
    if (plan.device != "cpu")
        return base::fail(base::ErrorCode::Usage, "a run on " + plan.device + " cannot be stopped at operators",
                          "remove the breakpoints, or choose the CPU");
    if (!plan.batch) plan.batch = usualBatch;
    return {};
}

// The plan as it was sent, for the requested device and batch.
base::Result<pipeline::ChosenPlan> chosenPlan(Document& document, const protocol::StartRun& query,
                                              const base::Settings& settings)
{
    base::Result<plan::Plan> plan = planOf(document, query.plan);
    if (!plan) return base::forward(plan);
    pipeline::ChosenPlan chosen{.plan = std::move(*plan)};
    if (const base::Status fits = pipeline::fitPlan(chosen.plan, settings, chosen.notes); !fits)
        return base::forward(fits);
    if (query.breakpoints)
        if (const base::Status can = stopAtOperators(chosen.plan); !can) return base::forward(can);
    const base::Status fits =
        pipeline::lookAhead(chosen, document.prepared, document.predictor, settings, pipeline::Learning::Yes, {});
    if (!fits) return base::forward(fits);
    return chosen;
}

// Passes the graph structure from planning to the run. With a memory limit the run makes it again, in files.
void handOver(RunRequest& request, Document& document)
{
    std::shared_ptr<executor::Structure> structure = document.predictor.takeStructure();
    if (!request.execution.settings.memory) request.plan.structure = std::move(structure);
}

void removeFolder(const std::string& folder)
{
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
}

}  // namespace

Runs::~Runs() { replace(nullptr); }

void Runs::replace(std::unique_ptr<Run> run)
{
    std::unique_ptr<Run> before;
    {
        const std::lock_guard lock(m_mutex);
        before = std::exchange(m_run, std::move(run));
    }
    before.reset();  // waits for its end, without the lock
}

bool Runs::busyWith(std::int64_t document)
{
    const std::lock_guard lock(m_mutex);
    return m_run && !m_run->finished() && m_run->document() == document;
}

void Runs::forget(std::int64_t document)
{
    if (!m_run || m_run->document() != document) return;
    replace(nullptr);
    removeFolder(std::exchange(m_own, {}));
}

Run* Runs::find(std::int64_t run, std::int64_t document)
{
    const bool named = m_run && m_run->id() == run && m_run->document() == document;
    return named ? m_run.get() : nullptr;
}

Outcome Runs::start(Document& document, const protocol::StartRun& query, base::ProgressFn progress)
{
    RunRequest request = requestOf(query);
    request.execution.settings.cache = document.cache;
    if (m_run && !m_run->finished()) return invalid("another run is in progress");
    if (!document.prepared.hasData())
        return failed({.code = base::ErrorCode::Usage,
                       .message = "there is no data to run on",
                       .hint = "open the model with its data",
                       .where = {}});
    base::Result<pipeline::ChosenPlan> plan = chosenPlan(document, query, request.execution.settings);
    if (!plan) return failed(plan.error());
    request.plan = std::move(*plan);
    if (request.last) handOver(request, document);
    replace(nullptr);
    removeFolder(std::exchange(m_own, {}));
    const std::int64_t id = m_next++;
    if (request.output.empty()) m_own = m_folder + "/run-" + std::to_string(id);
    using pipeline::Unfinished;
    const Unfinished unfinished = request.execution.settings.resume ? Unfinished::Continue : Unfinished::Refuse;
    base::Result<pipeline::OutputFolder> folder =
        pipeline::OutputFolder::open(request.output.empty() ? m_own : request.output, unfinished);
    if (!folder) return failed(folder.error());
    folder->showLife();
    document.spent = !request.execution.transientFiles.empty();
    json::Value result = protocol::answerValue(protocol::StartedRun{.run = id, .folder = folder->path()});
    auto run =
        std::make_unique<Run>(id, document, std::move(request), std::move(*folder), m_notify, std::move(progress));
    replace(std::move(run));
    return result;
}

void Runs::begin()
{
    if (m_run) m_run->begin();
}

Outcome stoppedTensor(Document& document, Run& run)
{
    const std::shared_ptr<const debugger::Stopped> stopped = run.stopped();
    if (!stopped) return invalid("the run is not stopped at an operator");
    return keepTensor(document, stopped->tensor);
}

namespace {

base::Status obey(Run& run, const protocol::PauseRun&)
{
    run.gate().pause();
    return {};
}

base::Status obey(Run& run, const protocol::ResumeRun&)
{
    run.gate().resume();
    return {};
}

base::Status obey(Run& run, const protocol::CancelRun&)
{
    run.cancel();
    return {};
}

base::Status obey(Run& run, const protocol::SetBreakpoints& query)
{
    return run.setBreakpoints(breakpointsOf(query.breakpoints));
}

base::Status obey(Run& run, const protocol::StepRun& query)
{
    if (query.unit == protocol::RunStep::Operator && !run.seesOperators()) return tl::unexpected(startedWithout());
    run.gate().step(query.unit);
    return {};
}

}  // namespace

Outcome Runs::control(const protocol::RunQuery& query)
{
    const std::lock_guard lock(m_mutex);
    if (!m_run || m_run->id() != protocol::runOf(query) || m_run->finished())
        return invalid("no such run is in progress");
    const base::Status obeyed = std::visit([&](const auto& each) { return obey(*m_run, each); }, query);
    if (!obeyed) return failed(obeyed.error());
    return json::Value();
}

}  // namespace hopscope::engine
