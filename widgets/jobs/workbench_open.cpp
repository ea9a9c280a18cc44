#include <QThreadPool>

#include "jobs/workbench_state.h"
#include "models/runner.h"
#include "json/reader.h"

namespace hopscope::jobs {

namespace {

constexpr int fatalTries = 2;  // a file that has ended the engine so often is not opened again by itself

json::Value textList(const QStringList& texts)
{
    json::Value list = json::Value::array();
    for (const QString& text : texts) list.push(text.toStdString());
    return list;
}

json::Value openParams(const SourceFiles& files)
{
    json::Value params = json::Value::object();
    params["model"] = files.model.toStdString();
    params["data"] = textList(files.data);
    params["roles"] = textList(files.roles);
    return params;
}

// Nothing that a plan, a pin or a view refers to has changed.
bool sameModel(const protocol::ModelRecord& a, const protocol::ModelRecord& b)
{
    return a.hashes == b.hashes && a.sizes == b.sizes && a.opsById == b.opsById && a.valuesById == b.valuesById;
}

}  // namespace

base::Result<OpenedModel> readOpened(const json::Value& result)
{
    const json::Reader reader(result, "model/open");
    OpenedModel opened;
    opened.document = reader.get<std::int64_t>("document");
    const json::Reader inspect = reader.child("inspect");
    if (!reader.ok()) return base::forward(reader.status());
    auto model = protocol::readModel(inspect.value());
    if (!model) return base::forward(model);
    opened.parts = models::releasedAside(std::make_shared<const models::ModelParts>(models::partsOf(*model)));
    opened.model = models::releasedAside(std::make_shared<const protocol::ModelRecord>(std::move(*model)));
    return opened;
}

void Workbench::Impl::open(SourceFiles files, Opening kind)
{
    const std::int64_t number = ++openNumber;
    opening = true;
    openingKind = kind;
    openingFiles = files;
    emit bench.progressed(Workbench::tr("Opening %1").arg(files.model.section(u'/', -1)), -1);
    openRequest = engine.request("model/open", openParams(files), &bench,
                                 [this, number, files, kind](base::Result<json::Value> result) {
                                     openAnswered(number, files, kind, std::move(result));
                                 });
}

void Workbench::Impl::openAnswered(std::int64_t number, SourceFiles files, Opening kind,
                                   base::Result<json::Value> result)
{
    if (number != openNumber) return;
    if (!result) return openFailed(result.error());
    models::runAside(
        *QThreadPool::globalInstance(), &bench, [result = std::move(*result)] { return readOpened(result); },
        [this, number, files = std::move(files), kind](base::Result<OpenedModel> what) {
            if (number != openNumber) return;
            if (!what) return openFailed(what.error());
            opened(files, kind, std::move(*what));
        });
}

void Workbench::Impl::openFailed(const base::Error& error)
{
    if (error.code == base::ErrorCode::Internal && engine.state() != EngineState::Ready)
        return;  // the engine has died; engineDied() decides whether to try again
    opening = false;
    restored.reset();
    emit bench.progressed({}, 1);
    fail(Workbench::tr("Opening %1").arg(openingFiles.model.section(u'/', -1)), error);
}

void Workbench::Impl::opened(SourceFiles files, Opening kind, OpenedModel what)
{
    opening = false;
    lostWhileOpening = 0;
    emit bench.progressed({}, 1);
    if (kind == Opening::Recover && document.model() && sameModel(*document.model(), *what.model))
        return recovered(std::move(what));
    closeInEngine();
    engineDocument = what.document;
    models::Settings settings = restored.value_or(document.settings());
    if (kind == Opening::New && !restored) settings.pins.clear();
    restored.reset();
    settings.pins = fittingPins(settings.pins, *what.model);
    exact.reset();
    newest = nullptr;
    bench.m_undo.clear();
    accepted = settings;
    document.setSource(files.model, files.data, files.roles);
    document.setModel(what.model, what.parts);
    document.setSettings(settings);
    emit bench.opened();
    if (kind == Opening::Recover) emit bench.engineBack();
    plan();
    references();
}

// The same model in a new engine: everything that is shown stays.
void Workbench::Impl::recovered(OpenedModel what)
{
    engineDocument = what.document;
    emit bench.engineBack();
    if (exact && document.settings() == accepted) return;
    plan();
    references();
}

void Workbench::Impl::closeInEngine()
{
    if (!engineDocument) return;
    json::Value params = json::Value::object();
    params["document"] = *engineDocument;
    engineDocument.reset();
    engine.request("model/close", std::move(params), &bench, [](const base::Result<json::Value>&) {});
}

void Workbench::Impl::engineDied(const QString& reason)
{
    const bool hadDocument = engineDocument.has_value() || opening;
    engineDocument.reset();
    giveUpPlan();  // answers that are being read belong to a document that is gone
    forgetPreview();
    ++openNumber;
    newest = nullptr;
    runEnded();
    emit bench.engineLost(reason);
    if (opening && (++lostWhileOpening >= fatalTries || engine.state() == EngineState::Failed)) {
        opening = false;
        emit bench.progressed({}, 1);
        fail(Workbench::tr("Opening %1").arg(openingFiles.model.section(u'/', -1)),
             {base::ErrorCode::Internal, reason.toStdString(), "", ""});
    } else if (opening) open(openingFiles, openingKind);
    else if (hadDocument && document.model())
        open({document.modelPath(), document.data(), document.roles()}, Opening::Recover);
    if (engine.state() != EngineState::Failed) engine.restart();
}

void Workbench::Impl::engineState(EngineState state)
{
    if (state == EngineState::Ready && !document.model() && !opening) emit bench.engineBack();
}

}  // namespace hopscope::jobs
