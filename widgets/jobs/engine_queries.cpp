#include "jobs/engine_queries.h"

#include "jobs/run_control.h"
#include "json/optional.h"

namespace hopscope::jobs {

namespace {

json::Value texts(const QStringList& list)
{
    json::Value array = json::Value::array();
    for (const QString& text : list) array.push(text.toStdString());
    return array;
}

// What is open, where it runs, and a folder.
json::Value fileParams(const WorkbenchState& state, const QString& folder)
{
    const models::Settings& settings = state.document.settings();
    json::Value params = json::Value::object();
    params["model"] = state.document.modelPath().toStdString();
    params["data"] = texts(state.document.data());
    params["roles"] = texts(state.document.roles());
    params["device"] = settings.device.toStdString();
    params["memory"] = json::orNull(settings.memory);
    params["batch"] = json::orNull(settings.batch);
    params["folder"] = folder.toStdString();
    return params;
}

}  // namespace

void EngineQueries::source(protocol::OpId op, QObject* context, EngineClient::Answer answer)
{
    json::Value params = documentParams(m_state);
    params["op"] = m_state.document.model()->ops.at(op).id;
    m_state.engine.request("model/source", std::move(params), context, std::move(answer));
}

void EngineQueries::peek(const QString& value, qint64 begin, qint64 end, QObject* context, EngineClient::Answer answer)
{
    json::Value params = documentParams(m_state);
    params["run"] = json::orNull(m_runs.latest());
    params["value"] = value.toStdString();
    params["begin"] = begin;
    params["end"] = end;
    m_state.engine.request("tensor/peek", std::move(params), context, std::move(answer));
}

std::int64_t EngineQueries::machine(const QString& method, QObject* context, Machine answer)
{
    json::Value params = json::Value::object();
    params["device"] = m_state.document.settings().device.toStdString();
    return m_state.engine.request(method, std::move(params), context,
                                  [answer = std::move(answer)](const base::Result<json::Value>& result) {
                                      answer(result ? protocol::readMachineRates(*result)
                                                    : base::Result<protocol::MachineRates>(base::forward(result)));
                                  });
}

void EngineQueries::exportPreview(QObject* context, EngineClient::Answer answer)
{
    json::Value params = documentParams(m_state);
    params["plan"] = m_state.document.plan()->document;
    m_state.engine.request("export/preview", std::move(params), context, std::move(answer));
}

std::int64_t EngineQueries::exportTo(const QString& folder, QObject* context, EngineClient::Answer answer)
{
    json::Value params = fileParams(m_state, folder);
    params["plan"] = m_state.document.plan()->document;
    return m_state.engine.request("export/write", std::move(params), context, std::move(answer));
}

std::int64_t EngineQueries::exportRecord(const QString& folder, QObject* context, EngineClient::Answer answer)
{
    json::Value params = json::Value::object();
    params["folder"] = folder.toStdString();
    return m_state.engine.request("export/read", std::move(params), context, std::move(answer));
}

std::int64_t EngineQueries::exportCheck(const QString& folder, QObject* context, EngineClient::Answer answer)
{
    return m_state.engine.request("export/check", fileParams(m_state, folder), context, std::move(answer));
}

void EngineQueries::cancel(std::int64_t request) { m_state.engine.cancel(request); }

}  // namespace hopscope::jobs
