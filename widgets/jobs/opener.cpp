#include "jobs/opener.h"

#include <QThreadPool>

#include "models/runner.h"
#include "json/reader.h"

namespace hopscope::jobs {

namespace {

constexpr int fatalTries = 2;  // a file that has ended the engine this often is not reopened automatically

protocol::OpenModel openingOf(const SourceFiles& files, const models::Settings& settings)
{
    protocol::OpenModel query{
        .files = {.model = files.model.toStdString(), .data = texts(files.data), .roles = texts(files.roles)},
        .settings = settings};
    if (!settings.output.isEmpty()) query.writes = {settings.output.toStdString()};
    return query;
}

QString whatIsOpened(const SourceFiles& files)
{
    return Workbench::tr("Opening %1").arg(files.model.section(u'/', -1));
}

// Whether nothing has changed that a plan, a pin or a view refers to.
bool sameModel(const protocol::ModelRecord& a, const protocol::ModelRecord& b)
{
    return a.hashes == b.hashes && a.sizes == b.sizes && a.opsById == b.opsById && a.valuesById == b.valuesById;
}

// May run on any thread.
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

}  // namespace

Opener::Opener(WorkbenchState& state, Planner& planner, PlanQuestions& questions, RunControl& runs)
    : m_state(state),
      m_planner(planner),
      m_questions(questions),
      m_runs(runs)
{}

void Opener::open(const SourceFiles& files, Opening kind)
{
    if (kind == Opening::New) {
        m_restored.reset();
        m_lost = 0;
    }
    m_runs.stop();
    start(files, kind);
}

void Opener::restoreLater(const models::Settings& settings)
{
    m_restored = settings;
    if (base::renewedBy(m_attempt->settings, settings) == base::Renews::Model) start(m_attempt->files, m_attempt->kind);
}

void Opener::close()
{
    m_runs.stop();
    closeInEngine();
    ++m_number;
    m_planner.giveUp();
    m_questions.endPreview();
    m_attempt.reset();
    m_planner.begin({});
    m_state.document.setSource({}, {}, {});
    m_state.document.setModel(nullptr);
}

void Opener::start(const SourceFiles& files, Opening kind)
{
    const std::int64_t number = ++m_number;
    const models::Settings settings = m_restored.value_or(m_state.document.settings());
    m_attempt = Attempt{.files = files, .kind = kind, .request = 0, .settings = settings};
    emit m_state.bench.progressed(whatIsOpened(files), -1);
    m_attempt->request =
        m_state.engine.ask(openingOf(files, settings), &m_state.bench,
                           [this, number](base::Result<json::Value> result) { answered(number, std::move(result)); });
}

void Opener::answered(std::int64_t number, base::Result<json::Value> result)
{
    if (number != m_number) return;
    if (!result) return failed(result.error());
    models::runAside(
        *QThreadPool::globalInstance(), &m_state.bench, [result = std::move(*result)] { return readOpened(result); },
        [this, number](base::Result<OpenedModel> what) {
            if (number != m_number) return;
            if (!what) return failed(what.error());
            opened(std::move(*what));
        });
}

void Opener::failed(const base::Error& error)
{
    if (error.code == base::ErrorCode::Internal && m_state.engine.state() != EngineState::Ready)
        return;  // the engine has died; engineDied() decides whether to try again
    const QString what = whatIsOpened(m_attempt->files);
    m_attempt.reset();
    m_restored.reset();
    emit m_state.bench.progressed({}, 1);
    m_state.fail(what, error);
}

void Opener::opened(OpenedModel what)
{
    const Attempt attempt = *std::exchange(m_attempt, std::nullopt);
    m_lost = 0;
    emit m_state.bench.progressed({}, 1);
    const models::ModelPtr& before = m_state.document.model();
    if (attempt.kind == Opening::Recover && before && sameModel(*before, *what.model)) recovered(what);
    else show(attempt, std::move(what));
}

void Opener::show(const Attempt& attempt, OpenedModel what)
{
    models::Document& document = m_state.document;
    closeInEngine();
    m_state.engineDocument = what.document;
    models::Settings settings = m_restored.value_or(document.settings());
    if (attempt.kind == Opening::New && !m_restored) settings.pins.clear();
    m_restored.reset();
    const models::ModelPtr before = document.model();
    if (attempt.kind == Opening::New || !before || !sameModel(*before, *what.model))
        settings.breakpoints.clear();  // they refer to the other model
    settings.pins = fittingPins(settings.pins, *what.model);
    m_planner.begin(settings);
    document.setSource(attempt.files.model, attempt.files.data, attempt.files.roles);
    document.setModel(what.model, what.parts);
    document.setSettings(settings);
    emit m_state.bench.opened();
    if (attempt.kind == Opening::Recover) emit m_state.bench.engineBack();
    m_planner.planAgain();
}

// The same model in a new engine: the window keeps its contents.
void Opener::recovered(const OpenedModel& what)
{
    m_state.engineDocument = what.document;
    emit m_state.bench.engineBack();
    m_planner.recover();
}

void Opener::closeInEngine()
{
    if (!m_state.engineDocument) return;
    const auto query = ofModel<protocol::CloseModel>(m_state);
    m_state.engineDocument.reset();
    m_state.engine.ask(query, &m_state.bench, [](const base::Result<json::Value>&) {});
}

void Opener::engineDied(const QString& reason)
{
    const models::Document& document = m_state.document;
    const bool hadDocument = m_state.engineDocument.has_value() || opening();
    const std::optional<Attempt> attempt = m_attempt;
    m_state.engineDocument.reset();
    m_planner.engineDied();
    m_questions.endPreview();
    ++m_number;
    m_runs.engineDied(reason);
    emit m_state.bench.engineLost(reason);
    const bool over = m_state.engine.state() == EngineState::Failed;
    if (attempt && (++m_lost >= fatalTries || over)) {
        m_attempt.reset();
        emit m_state.bench.progressed({}, 1);
        m_state.fail(whatIsOpened(attempt->files),
                     {.code = base::ErrorCode::Internal, .message = reason.toStdString(), .hint = "", .where = ""});
    } else if (attempt) start(attempt->files, attempt->kind);
    else if (hadDocument && document.model())
        start({.model = document.modelPath(), .data = document.data(), .roles = document.roles()}, Opening::Recover);
    if (m_state.engine.state() != EngineState::Failed) m_state.engine.restart();
}

void Opener::engineState(EngineState state)
{
    if (state == EngineState::Ready && !m_state.document.model() && !opening()) emit m_state.bench.engineBack();
}

}  // namespace hopscope::jobs
