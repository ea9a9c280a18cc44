#include "jobs/engine_queries.h"

#include <QThreadPool>

#include "jobs/run_control.h"
#include "models/runner.h"
#include "protocol/model.h"
#include "protocol/settings.h"
#include "schema/walkthrough.h"
#include "json/optional.h"

namespace hopscope::jobs {

namespace {

json::Value texts(const QStringList& list)
{
    json::Value array = json::Value::array();
    for (const QString& text : list) array.push(text.toStdString());
    return array;
}

// The open files, the settings, and a folder.
json::Value fileParams(const WorkbenchState& state, const QString& folder)
{
    const models::Settings& settings = state.document.settings();
    json::Value params = protocol::settingsValue(settings);
    params["model"] = state.document.modelPath().toStdString();
    params["data"] = texts(state.document.data());
    params["roles"] = texts(state.document.roles());
    params["folder"] = folder.toStdString();
    return params;
}

// The current plan, with the batch size that the user has chosen.
json::Value debugParams(const WorkbenchState& state)
{
    json::Value params = documentParams(state);
    params["plan"] = state.document.plan()->document;
    params["batch"] = json::orNull(state.document.settings().batch);
    return params;
}

void setTolerance(json::Value& params, const schema::ToleranceRecord& tolerance)
{
    params["absolute"] = tolerance.absolute;
    params["relative"] = tolerance.relative;
}

template <class Answer, class Read>
EngineClient::Answer readAs(Read read, Answer answer)
{
    return [read, answer = std::move(answer)](const base::Result<json::Value>& result) {
        if (!result) return answer(base::forward(result));
        answer(read(*result, "the engine's answer"));
    };
}

}  // namespace

void EngineQueries::trustModel(bool folder, QObject* context, std::function<void()> done)
{
    json::Value params = documentParams(m_state);
    params["folder"] = folder;
    const auto answered = [state = &m_state, done = std::move(done)](const base::Result<json::Value>& agreed) {
        if (agreed) done();
        else state->fail(Workbench::tr("Agreeing to the model's code"), agreed.error());
    };
    m_state.engine.request("model/trust", std::move(params), context, answered);
}

void EngineQueries::source(protocol::OpId op, QObject* context, EngineClient::Answer answer)
{
    json::Value params = documentParams(m_state);
    params["op"] = m_state.document.model()->ops.at(op).id;
    m_state.engine.request("model/source", std::move(params), context, std::move(answer));
}

std::int64_t EngineQueries::machine(const QString& method, QObject* context, Machine answer)
{
    json::Value params = json::Value::object();
    params["device"] = m_state.document.settings().device;
    return m_state.engine.request(method, std::move(params), context,
                                  readAs(schema::machineRatesFrom, std::move(answer)));
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

std::int64_t EngineQueries::receptiveField(const FieldQuestion& question, QObject* context, Field answer)
{
    json::Value params = documentParams(m_state);
    if (!question.table.isEmpty()) params["table"] = question.table.toStdString();
    if (question.node) params["node"] = *question.node;
    params["seed"] = question.seed;
    params["average"] = question.average;
    return m_state.engine.request(
        "model/receptiveField", std::move(params), context,
        [context, answer = std::move(answer)](base::Result<json::Value> result) {
            if (!result) return answer(base::forward(result));
            models::runAside(
                *QThreadPool::globalInstance(), context,
                [document = std::move(*result)] { return schema::receptiveFieldFrom(document, "receptive field"); },
                answer);
        });
}

std::int64_t EngineQueries::planSteps(QObject* context, Steps answer)
{
    return m_state.engine.request(
        "plan/steps", planParams(m_state, m_state.document.settings()), context,
        [context, model = m_state.document.model(), answer = std::move(answer)](base::Result<json::Value> result) {
            if (!result) return answer(base::forward(result));
            models::runAside(
                *QThreadPool::globalInstance(), context,
                [document = std::move(*result), model] {
                    return schema::walkthroughsFrom(document, "steps", protocol::modelNames(*model));
                },
                answer);
        });
}

std::int64_t EngineQueries::compareStaged(const schema::ToleranceRecord& tolerance, QObject* context, Divergence answer)
{
    json::Value params = debugParams(m_state);
    setTolerance(params, tolerance);
    return m_state.engine.request("debug/staged", std::move(params), context,
                                  readAs(schema::divergenceFrom, std::move(answer)));
}

std::int64_t EngineQueries::compareWith(const QString& model, const schema::ToleranceRecord& tolerance,
                                        QObject* context, Divergence answer)
{
    json::Value params = documentParams(m_state);
    params["against"] = model.toStdString();
    params["roles"] = texts(m_state.document.roles());
    setTolerance(params, tolerance);
    return m_state.engine.request("debug/against", std::move(params), context,
                                  readAs(schema::divergenceFrom, std::move(answer)));
}

std::int64_t EngineQueries::huntNonFinite(QObject* context, NonFinite answer)
{
    return m_state.engine.request("debug/nan", debugParams(m_state), context,
                                  readAs(schema::nonFiniteFrom, std::move(answer)));
}

std::int64_t EngineQueries::watch(const WatchQuestion& question, QObject* context, Watched answer)
{
    json::Value params = debugParams(m_state);
    params["nodes"] = json::Value(question.nodes);
    params[question.messages ? "aggregations" : "values"] = texts({question.op});
    return m_state.engine.request("debug/watch", std::move(params), context,
                                  readAs(schema::watchFrom, std::move(answer)));
}

std::int64_t EngineQueries::follow(const FollowQuestion& question, QObject* context, Watched answer)
{
    json::Value params = debugParams(m_state);
    params["nodes"] = json::Value(std::vector<std::int64_t>{question.node});
    params["values"] = texts(question.values);
    params["aggregations"] = texts(question.aggregations);
    return m_state.engine.request("debug/watch", std::move(params), context,
                                  readAs(schema::watchFrom, std::move(answer)));
}

std::int64_t EngineQueries::planGraph(std::optional<qint64> node, qint64 seed, QObject* context, Part answer)
{
    json::Value params = documentParams(m_state);
    params["plan"] = m_state.document.plan()->document;
    if (node) params["node"] = *node;
    params["seed"] = seed;
    return m_state.engine.request("plan/graph", std::move(params), context,
                                  readAs(schema::graphPartFrom, std::move(answer)));
}

std::int64_t EngineQueries::stageMemory(plan::StageId stage, QObject* context, Memory answer)
{
    json::Value params = settingParams(m_state, m_state.document.settings());
    params["plan"] = m_state.document.plan()->document;
    params["stage"] = stage.number;
    return m_state.engine.request("plan/memory", std::move(params), context,
                                  readAs(schema::stageMemoryFrom, std::move(answer)));
}

std::int64_t EngineQueries::tensor(const TensorQuestion& question, QObject* context, Tensor answer)
{
    json::Value params = debugParams(m_state);
    params["value"] = question.value.toStdString();
    if (!question.nodes.empty()) params["nodes"] = json::Value(question.nodes);
    params["batch_of"] = json::orNull(question.batchOf);
    return m_state.engine.request("debug/tensor", std::move(params), context,
                                  readAs(schema::tensorFrom, std::move(answer)));
}

std::int64_t EngineQueries::stoppedTensor(QObject* context, Tensor answer)
{
    json::Value params = documentParams(m_state);
    params["run"] = json::orNull(m_runs.latest());
    return m_state.engine.request("debug/stopped", std::move(params), context,
                                  readAs(schema::tensorFrom, std::move(answer)));
}

void EngineQueries::tensorRows(std::int64_t tensor, qint64 begin, qint64 end, QObject* context, Rows answer)
{
    json::Value params = documentParams(m_state);
    params["tensor"] = tensor;
    params["begin"] = begin;
    params["end"] = end;
    m_state.engine.request("debug/rows", std::move(params), context,
                           [answer = std::move(answer)](const base::Result<json::Value>& result) {
                               answer(result ? protocol::readTensorRows(*result)
                                             : base::Result<protocol::NumberRows>(base::forward(result)));
                           });
}

void EngineQueries::saveTensor(std::int64_t tensor, const QString& file, QObject* context, EngineClient::Answer answer)
{
    json::Value params = documentParams(m_state);
    params["tensor"] = tensor;
    params["file"] = file.toStdString();
    m_state.engine.request("debug/save", std::move(params), context, std::move(answer));
}

void EngineQueries::cancel(std::int64_t request) { m_state.engine.cancel(request); }

}  // namespace hopscope::jobs
