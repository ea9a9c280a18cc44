// Questions about plans that change nothing: what a drag would give, why the plan is as it is, how fast the machine is.

#include <QThreadPool>

#include "jobs/workbench_state.h"
#include "models/runner.h"

namespace hopscope::jobs {

namespace {

constexpr int previewPauseMilliseconds = 40;  // between two questions while a checkpoint is dragged

bool isCancelled(const base::Error& error) { return error.code == base::ErrorCode::Cancelled; }

}  // namespace

void Workbench::Impl::setupPreview()
{
    previewPause.setSingleShot(true);
    previewPause.setInterval(previewPauseMilliseconds);
    QObject::connect(&previewPause, &QTimer::timeout, &bench, [this] { preview(); });
}

// At most one question is under way: its answer, or the end of the pause, asks the next.
void Workbench::Impl::preview()
{
    if (!wanted || wanted == asked || !engineDocument) return;
    if (previewRequest != 0) return engine.cancel(previewRequest);
    if (previewPause.isActive()) return;
    previewPause.start();
    postponeExplanation();
    asked = wanted;
    models::Settings settings = document.settings();
    settings.strategy = asked->strategy;
    settings.pins = asked->pins;
    previewRequest = requestPlan("plan/make", planParams(settings, true), &bench,
                                 [this](const base::Result<protocol::PlanRecord>& plan) { previewAnswered(plan); });
}

void Workbench::Impl::previewAnswered(const base::Result<protocol::PlanRecord>& plan)
{
    previewRequest = 0;
    if (!plan && isCancelled(plan.error())) asked.reset();
    if (!wanted || wanted != asked) return preview();
    if (plan) document.setPreview({std::make_shared<const protocol::PlanRecord>(*plan), {}});
    else document.setPreview({nullptr, QString::fromStdString(plan.error().message)});
}

void Workbench::Impl::forgetPreview()
{
    wanted.reset();
    asked.reset();
    if (previewRequest != 0) engine.cancel(previewRequest);
    document.setPreview({});
    resumeExplanation();
}

// Asked once for a plan that is final; what is under way for an earlier one has been given up.
void Workbench::Impl::explain()
{
    const models::Explained& known = document.explained();
    if (!document.plan() || !engineDocument || planning || explainRequest != 0) return;
    if (known.explanation || !known.problem.isEmpty()) return;
    if (exact) return document.setExplained({nullptr, Workbench::tr("A plan from a file is not explained.")});
    explainRequest = engine.request(
        "plan/explain", planParams(document.settings()), &bench,
        [this, model = document.model(), plan = document.plan()](base::Result<json::Value> result) {
            const bool cancelled = !result && isCancelled(result.error());
            if (cancelled || plan != document.plan()) return;
            if (!result) return explainAnswered(base::forward(result));
            models::runAside(
                *QThreadPool::globalInstance(), &bench,
                [result = std::move(*result), model] { return protocol::readExplanation(result, *model); },
                [this, plan](const base::Result<protocol::Explanation>& read) {
                    if (plan == document.plan()) explainAnswered(read);
                });
        });
}

void Workbench::Impl::explainAnswered(const base::Result<protocol::Explanation>& explanation)
{
    explainRequest = 0;
    if (explanation) return document.setExplained({std::make_shared<const protocol::Explanation>(*explanation), {}});
    if (engine.state() != EngineState::Ready) return;
    document.setExplained({nullptr, QString::fromStdString(explanation.error().message)});
}

void Workbench::Impl::forgetExplanation()
{
    if (explainRequest != 0) engine.cancel(explainRequest);
    explainRequest = 0;
    explainAgain = false;
}

// The engine does one thing at a time: what somebody is waiting for goes first.
void Workbench::Impl::postponeExplanation()
{
    const bool again = explainAgain || explainRequest != 0;
    forgetExplanation();
    explainAgain = again;
}

void Workbench::Impl::resumeExplanation()
{
    if (std::exchange(explainAgain, false)) explain();
}

void Workbench::previewMove(protocol::ValueId from, protocol::ValueId to)
{
    m_impl->wanted = withMove(m_impl->cuts(), from, to);
    m_impl->preview();
}

void Workbench::endPreview() { m_impl->forgetPreview(); }

void Workbench::explain() { m_impl->explain(); }

std::int64_t Workbench::requestMachine(const QString& method, QObject* context, Machine answer)
{
    json::Value params = json::Value::object();
    params["device"] = m_impl->document.settings().device.toStdString();
    return m_impl->engine.request(method, std::move(params), context,
                                  [answer](const base::Result<json::Value>& result) {
                                      answer(result ? protocol::readMachineRates(*result)
                                                    : base::Result<protocol::MachineRates>(base::forward(result)));
                                  });
}

void Workbench::cancel(std::int64_t request) { m_impl->engine.cancel(request); }

void Workbench::planAgain()
{
    if (m_impl->exact) return;
    m_impl->plan();
    m_impl->references();
}

}  // namespace hopscope::jobs
