#include "jobs/engine_queries.h"

#include <QThreadPool>

#include "jobs/run_control.h"
#include "models/runner.h"
#include "protocol/model.h"
#include "schema/walkthrough.h"

namespace hopscope::jobs {

namespace {

protocol::ModelFiles filesOf(const models::Document& document)
{
    return {
        .model = document.modelPath().toStdString(), .data = texts(document.data()), .roles = texts(document.roles())};
}

// The current plan, with the batch size that the user has chosen.
template <class Members>
Members inBatches(const WorkbenchState& state)
{
    Members members = ofPlan<Members>(state);
    members.batch = state.document.settings().batch;
    return members;
}

protocol::Tolerances tolerancesOf(const schema::ToleranceRecord& tolerance)
{
    return {.absolute = tolerance.absolute, .relative = tolerance.relative};
}

template <class Answer, class Read>
EngineClient::Answer readAs(Read read, Answer answer)
{
    return [read, answer = std::move(answer)](const base::Result<json::Value>& result) {
        if (!result) return answer(base::forward(result));
        answer(read(*result, "the engine's answer"));
    };
}

// The same on another thread.
template <class Answer, class Read>
EngineClient::Answer readAside(QObject* context, Read read, Answer answer)
{
    return [context, read, answer = std::move(answer)](base::Result<json::Value> result) {
        if (!result) return answer(base::forward(result));
        models::runAside(
            *QThreadPool::globalInstance(), context, [document = std::move(*result), read] { return read(document); },
            answer);
    };
}

template <class T>
EngineClient::Answer readAnswer(std::function<void(base::Result<T>)> answer)
{
    return [answer = std::move(answer)](const base::Result<json::Value>& result) {
        answer(result ? protocol::readAnswer<T>(*result) : base::Result<T>(base::forward(result)));
    };
}

}  // namespace

void EngineQueries::trustModel(bool folder, QObject* context, std::function<void()> done)
{
    auto query = ofModel<protocol::TrustModel>(m_state);
    query.folder = folder;
    m_state.engine.ask(query, context,
                       [state = &m_state, done = std::move(done)](const base::Result<json::Value>& agreed) {
                           if (agreed) done();
                           else state->fail(Workbench::tr("Agreeing to the model's code"), agreed.error());
                       });
}

void EngineQueries::source(protocol::OpId op, QObject* context, Source answer)
{
    auto query = ofModel<protocol::ShowSource>(m_state);
    query.op = m_state.document.model()->ops.at(op).id;
    m_state.engine.ask(query, context, readAnswer(std::move(answer)));
}

std::int64_t EngineQueries::machine(const QString& method, QObject* context, Machine answer)
{
    protocol::ReadRates query;  // the others have the same members
    query.device = m_state.document.settings().device;
    return m_state.engine.request(method, protocol::paramsOf(query), context,
                                  readAs(schema::machineRatesFrom, std::move(answer)));
}

void EngineQueries::exportPreview(QObject* context, Preview answer)
{
    m_state.engine.ask(ofPlan<protocol::PreviewExport>(m_state), context, readAnswer(std::move(answer)));
}

std::int64_t EngineQueries::exportTo(const QString& folder, QObject* context, Record answer)
{
    const protocol::WriteExport query{.files = filesOf(m_state.document),
                                      .plan = {m_state.document.plan()->document},
                                      .folder = folder.toStdString(),
                                      .settings = m_state.document.settings()};
    return m_state.engine.ask(query, context, readAnswer(std::move(answer)));
}

std::int64_t EngineQueries::exportRecord(const QString& folder, QObject* context, Record answer)
{
    return m_state.engine.ask(protocol::ReadExport{folder.toStdString()}, context, readAnswer(std::move(answer)));
}

std::int64_t EngineQueries::exportCheck(const QString& folder, QObject* context, Verdict answer)
{
    const protocol::CheckExport query{
        .files = filesOf(m_state.document), .folder = folder.toStdString(), .settings = m_state.document.settings()};
    return m_state.engine.ask(query, context, readAnswer(std::move(answer)));
}

std::int64_t EngineQueries::receptiveField(const FieldQuestion& question, QObject* context, Field answer)
{
    auto query = ofModel<protocol::FindReceptiveField>(m_state);
    query.table = question.table.toStdString();
    query.node = question.node;
    query.seed = question.seed;
    query.average = question.average;
    const auto read = [](const json::Value& document) {
        return schema::receptiveFieldFrom(document, "receptive field");
    };
    return m_state.engine.ask(query, context, readAside(context, read, std::move(answer)));
}

std::int64_t EngineQueries::planSteps(QObject* context, Steps answer)
{
    const auto read = [model = m_state.document.model()](const json::Value& document) {
        return schema::walkthroughsFrom(document, "steps", protocol::modelNames(*model));
    };
    return m_state.engine.ask(forPlan<protocol::ListSteps>(m_state, m_state.document.settings()), context,
                              readAside(context, read, std::move(answer)));
}

std::int64_t EngineQueries::compareStaged(const schema::ToleranceRecord& tolerance, QObject* context, Divergence answer)
{
    auto query = inBatches<protocol::CompareStaged>(m_state);
    query.tolerances = tolerancesOf(tolerance);
    return m_state.engine.ask(query, context, readAs(schema::divergenceFrom, std::move(answer)));
}

std::int64_t EngineQueries::compareWith(const QString& model, const schema::ToleranceRecord& tolerance,
                                        QObject* context, Divergence answer)
{
    auto query = ofModel<protocol::CompareModels>(m_state);
    query.against = model.toStdString();
    query.roles = texts(m_state.document.roles());
    query.tolerances = tolerancesOf(tolerance);
    return m_state.engine.ask(query, context, readAs(schema::divergenceFrom, std::move(answer)));
}

std::int64_t EngineQueries::huntNonFinite(QObject* context, NonFinite answer)
{
    return m_state.engine.ask(inBatches<protocol::FindNonFinite>(m_state), context,
                              readAs(schema::nonFiniteFrom, std::move(answer)));
}

std::int64_t EngineQueries::watch(const WatchQuestion& question, QObject* context, Watched answer)
{
    auto query = inBatches<protocol::WatchValues>(m_state);
    query.nodes = question.nodes;
    query.values = texts(question.values);
    query.aggregations = texts(question.aggregations);
    return m_state.engine.ask(query, context, readAs(schema::watchFrom, std::move(answer)));
}

std::int64_t EngineQueries::planGraph(std::optional<qint64> node, qint64 seed, QObject* context, Part answer)
{
    auto query = ofPlan<protocol::DrawGraph>(m_state);
    query.node = node;
    query.seed = seed;
    return m_state.engine.ask(query, context, readAs(schema::graphPartFrom, std::move(answer)));
}

std::int64_t EngineQueries::stageMemory(plan::StageId stage, QObject* context, Memory answer)
{
    auto query = ofPlan<protocol::ShowMemory>(m_state);
    query.stage = stage.number;
    query.settings = m_state.document.settings();
    return m_state.engine.ask(query, context, readAs(schema::stageMemoryFrom, std::move(answer)));
}

std::int64_t EngineQueries::tensor(const TensorQuestion& question, QObject* context, Tensor answer)
{
    auto query = inBatches<protocol::SeeTensor>(m_state);
    query.value = question.value.toStdString();
    if (!question.nodes.empty()) query.nodes = question.nodes;
    query.batchOf = question.batchOf;
    return m_state.engine.ask(query, context, readAs(schema::tensorFrom, std::move(answer)));
}

std::int64_t EngineQueries::stoppedTensor(QObject* context, Tensor answer)
{
    auto query = ofModel<protocol::SeeStopped>(m_state);
    query.run = m_runs.latest().value_or(0);
    return m_state.engine.ask(query, context, readAs(schema::tensorFrom, std::move(answer)));
}

void EngineQueries::tensorRows(std::int64_t tensor, qint64 begin, qint64 end, QObject* context, Rows answer)
{
    auto query = ofModel<protocol::ReadRows>(m_state);
    query.tensor = tensor;
    query.begin = begin;
    query.end = end;
    const auto read = [](const json::Value& rows, const char*) { return protocol::readTensorRows(rows); };
    m_state.engine.ask(query, context, readAs(read, std::move(answer)));
}

void EngineQueries::saveTensor(std::int64_t tensor, const QString& file, QObject* context, EngineClient::Answer answer)
{
    auto query = ofModel<protocol::SaveTensor>(m_state);
    query.tensor = tensor;
    query.file = file.toStdString();
    m_state.engine.ask(query, context, std::move(answer));
}

void EngineQueries::cancel(std::int64_t request) { m_state.engine.cancel(request); }

}  // namespace hopscope::jobs
