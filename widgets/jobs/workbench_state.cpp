#include "jobs/workbench_state.h"

#include <QThreadPool>

#include "jobs/cuts.h"
#include "models/runner.h"
#include "protocol/settings.h"
#include "schema/pins.h"

namespace hopscope::jobs {

void WorkbenchState::fail(const QString& what, const base::Error& error) const
{
    QString sentence = QString::fromStdString(error.message);
    if (!error.where.empty()) sentence += QStringLiteral(" (%1)").arg(QString::fromStdString(error.where));
    emit bench.failed(what, sentence, QString::fromStdString(error.hint));
}

json::Value documentParams(const WorkbenchState& state)
{
    json::Value params = json::Value::object();
    params["document"] = state.engineDocument.value_or(0);
    return params;
}

json::Value settingParams(const WorkbenchState& state, const base::Settings& settings)
{
    json::Value params = protocol::settingsValue(settings);
    params["document"] = state.engineDocument.value_or(0);
    return params;
}

json::Value planParams(const WorkbenchState& state, const models::Settings& settings, bool near)
{
    json::Value params = settingParams(state, settings);
    params["pins"] = schema::writePins(settings.pins);
    if (near && !base::isRule(settings.strategy)) params["near"] = true;
    return params;
}

std::int64_t requestPlan(const WorkbenchState& state, const QString& method, json::Value params, QObject* context,
                         Workbench::WhatIf answer)
{
    auto read = [model = state.document.model(), context,
                 answer = std::move(answer)](base::Result<json::Value> result) {
        if (!result) return answer(base::forward(result));
        models::runAside(
            *QThreadPool::globalInstance(), context,
            [result = std::move(*result), model] { return protocol::readPlanResult(result, *model); }, answer);
    };
    return state.engine.request(method, std::move(params), context, std::move(read));
}

bool isCancelled(const base::Error& error) { return error.code == base::ErrorCode::Cancelled; }

}  // namespace hopscope::jobs
