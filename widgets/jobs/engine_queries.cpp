#include "jobs/engine_queries.h"

#include "jobs/run_control.h"
#include "json/optional.h"

namespace hopscope::jobs {

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

void EngineQueries::cancel(std::int64_t request) { m_state.engine.cancel(request); }

}  // namespace hopscope::jobs
