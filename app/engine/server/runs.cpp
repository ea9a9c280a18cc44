#include "server/runs.h"

#include <filesystem>

#include "pipeline/machine.h"
#include "protocol/settings.h"
#include "schema/documents.h"
#include "json/names.h"

namespace hopscope::engine {

namespace {

RunRequest requestOf(const json::Reader& params)
{
    RunRequest request;
    request.execution.settings = protocol::readSettings(params, base::Task::Run);
    request.output = textOr(params, "output", "");
    if (request.execution.settings.resume && request.output.empty())
        params.child("resume").refuse("needs 'output', the folder that keeps the journal");
    request.paused = params.maybe<bool>("paused").value_or(false);
    request.last = params.maybe<bool>("last").value_or(false);
    if (params.has("breakpoints")) request.breakpoints = breakpointsOf(params);
    if (request.execution.settings.resume && request.breakpoints)
        params.child("resume").refuse("is not for runs that stop at operators");
    request.execution.keepStores = request.execution.settings.verify != verify::Mode::None;
    request.execution.transientFiles =
        params.maybe<std::vector<std::string>>("transient").value_or(std::vector<std::string>());
    const bool mayEmpty = request.last && !request.execution.keepStores && !request.execution.settings.resume;
    if (!request.execution.transientFiles.empty() && !mayEmpty)
        params.child("transient").refuse("needs 'last', 'verify' none, and no 'resume'");
    if (!params.child("plan").value().isObject()) params.child("plan").refuse("must be a plan");
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
base::Result<pipeline::ChosenPlan> planOf(Document& document, const json::Reader& params,
                                          const base::Settings& settings)
{
    const pipeline::Prepared& prepared = document.prepared;
    if (prepared.analysis.refusal) return tl::unexpected<base::Error>(*prepared.analysis.refusal);
    base::Result<plan::Plan> plan =
        schema::planFrom(params.child("plan").value(), prepared.analysis, "plan", prepared.hashes);
    if (!plan) return base::forward(plan);
    pipeline::ChosenPlan chosen{.plan = std::move(*plan)};
    if (const base::Status fits = pipeline::fitPlan(chosen.plan, settings, chosen.notes); !fits)
        return base::forward(fits);
    if (params.has("breakpoints"))
        if (const base::Status can = stopAtOperators(chosen.plan); !can) return base::forward(can);
    const base::Status fits =
        pipeline::lookAhead(chosen, prepared, document.predictor, settings, pipeline::Learning::Yes, {});
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

Outcome Runs::start(Document& document, const json::Reader& params, base::ProgressFn progress)
{
    RunRequest request = requestOf(params);
    request.execution.settings.cache = document.cache;
    if (!params.ok()) return invalid(params);
    if (m_run && !m_run->finished()) return invalid("another run is in progress");
    if (!document.prepared.hasData())
        return failed({.code = base::ErrorCode::Usage,
                       .message = "there is no data to run on",
                       .hint = "open the model with its data",
                       .where = {}});
    base::Result<pipeline::ChosenPlan> plan = planOf(document, params, request.execution.settings);
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
    json::Value result;
    result["run"] = id;
    result["folder"] = folder->path();
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

RunControl runControlOf(const std::string& method, const json::Reader& params)
{
    RunControl wanted{.run = params.get<std::int64_t>("run")};
    if (method == "run/step") wanted.unit = json::named<protocol::RunStep>(params, "unit");
    wanted.breakpoints = breakpointsOf(params);
    return wanted;
}

Outcome Runs::control(const std::string& method, const json::Reader& params)
{
    const auto [id, unit, breakpoints] = runControlOf(method, params);
    if (!params.ok()) return invalid(params);
    const std::lock_guard lock(m_mutex);
    if (!m_run || m_run->id() != id || m_run->finished()) return invalid("no such run is in progress");
    if (method == "run/pause") m_run->gate().pause();
    else if (method == "run/resume") m_run->gate().resume();
    else if (method == "run/cancel") m_run->cancel();
    else if (method == "run/breakpoints") {
        if (const base::Status set = m_run->setBreakpoints(breakpoints); !set) return failed(set.error());
    } else if (unit == protocol::RunStep::Operator && !m_run->seesOperators()) {
        return failed(startedWithout());
    } else {
        m_run->gate().step(unit);
    }
    return json::Value();
}

}  // namespace hopscope::engine
