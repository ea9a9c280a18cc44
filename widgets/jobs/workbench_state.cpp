#include "jobs/workbench_state.h"

#include <QThreadPool>

#include "models/runner.h"

namespace hopscope::jobs {

void WorkbenchState::fail(const QString& what, const base::Error& error) const
{
    QString sentence = QString::fromStdString(error.message);
    if (!error.where.empty()) sentence += QStringLiteral(" (%1)").arg(QString::fromStdString(error.where));
    emit bench.failed(what, sentence, QString::fromStdString(error.hint));
}

EngineClient::Answer readingPlan(const WorkbenchState& state, QObject* context, Workbench::WhatIf answer)
{
    return [model = state.document.model(), context, answer = std::move(answer)](base::Result<json::Value> result) {
        if (!result) return answer(base::forward(result));
        models::runAside(
            *QThreadPool::globalInstance(), context,
            [result = std::move(*result), model] { return protocol::readPlanResult(result, *model); }, answer);
    };
}

std::vector<std::string> texts(const QStringList& list)
{
    std::vector<std::string> all;
    for (const QString& text : list) all.push_back(text.toStdString());
    return all;
}

bool isCancelled(const base::Error& error) { return error.code == base::ErrorCode::Cancelled; }

}  // namespace hopscope::jobs
