#include "status_line.h"

#include <QLabel>
#include <QProgressBar>

#include "command_line.h"
#include "models/labels.h"
#include "models/problem_model.h"

namespace hopscope::window {

namespace {

constexpr int barSteps = 1000;
constexpr int mostActivity = 420;  // pixels: file names may be long

QLabel* label(const char* name, const QString& accessible, QWidget* parent)
{
    auto* result = new QLabel(parent);
    result->setObjectName(QLatin1String(name));
    result->setAccessibleName(accessible);
    return result;
}

QString rowsOf(const std::string& table, std::int64_t rows)
{
    QString name = models::text(table);
    if (table == "node") name = StatusLine::tr("nodes");
    if (table == "edge_index") name = StatusLine::tr("edges");
    return QStringLiteral("%1 %2").arg(models::formatCount(static_cast<double>(rows)), name);
}

// Tables that the model derives from others: "edge_index[v9]", "(edge_index[v9] + node)".
bool isDerived(const std::string& table) { return table.find_first_of("[(") != std::string::npos; }

// Nodes come first: the other tables refer to them.
QStringList tableSizes(const protocol::ModelRecord& model)
{
    QStringList sizes;
    for (const auto& [table, rows] : model.sizes) {
        if (table == "node") sizes.prepend(rowsOf(table, rows));
        else if (!isDerived(table)) sizes.append(rowsOf(table, rows));
    }
    return sizes.isEmpty() ? QStringList{StatusLine::tr("no data")} : sizes;
}

QString depthText(const protocol::ModelRecord& model)
{
    if (models::depthKnown(model)) return StatusLine::tr("depth %1").arg(model.depth);
    return models::isUntrusted(model) ? StatusLine::tr("not run") : StatusLine::tr("cannot be split");
}

}  // namespace

QString modelSummary(const protocol::ModelRecord& model)
{
    const auto operators =
        std::count_if(model.ops.begin(), model.ops.end(), [](const protocol::OpRecord& op) { return op.computes(); });
    const QString form = model.exported ? StatusLine::tr("%1, exported program")
                         : model.traced ? StatusLine::tr("%1, TorchScript traced")
                                        : StatusLine::tr("%1, TorchScript scripted");
    QStringList parts{form.arg(models::text(model.className)),
                      StatusLine::tr("%1 ops").arg(models::formatCount(static_cast<double>(operators))),
                      depthText(model)};
    parts.append(tableSizes(model));
    return parts.join(QStringLiteral(" · "));
}

QString engineWhere(const QString& command)
{
    const QStringList words = splitCommand(command);
    if (words.isEmpty()) return StatusLine::tr("local");
    if (!words.first().endsWith(u"ssh")) return words.first().section(u'/', -1);
    for (const QString& word : words.mid(1))
        if (!word.startsWith(u'-')) return word.section(u'@', -1);
    return words.first();
}

QString engineSummary(const EngineSummary& engine)
{
    using jobs::EngineState;
    QString state = StatusLine::tr("idle");
    if (engine.state == EngineState::Failed) state = StatusLine::tr("not available");
    else if (engine.state != EngineState::Ready) state = StatusLine::tr("starting");
    else if (engine.paused) state = StatusLine::tr("paused");
    else if (engine.running) state = StatusLine::tr("running");
    else if (engine.busy) state = StatusLine::tr("working");
    const QString device = engine.device == u"cpu" ? QStringLiteral("CPU") : engine.device;
    const QString text = StatusLine::tr("engine: %1, %2 · %3").arg(engine.where, device, state);
    if (engine.confinement.isEmpty() || engine.state != EngineState::Ready) return text;
    return StatusLine::tr("%1 · %2").arg(text, engine.confinement.section(u':', 0, 0));
}

QString confinementText(const QString& confinement)
{
    if (confinement.isEmpty()) return {};
    if (confinement == u"confined")
        return StatusLine::tr(
            "Of your files, the process that opens a model can reach only those that you choose, and Hopscope's own.");
    return StatusLine::tr(
               "The process that opens a model has all of your permissions (%1): open only files that you trust.")
        .arg(confinement.section(u':', 1).trimmed());
}

StatusLine::StatusLine(QWidget* parent) : QStatusBar(parent)
{
    setObjectName(QStringLiteral("status"));
    setSizeGripEnabled(false);
    m_model = new panels::ElidedLabel(QStringLiteral("status.model"), this);
    m_what = label("status.progress", tr("Current activity"), this);
    m_what->setMaximumWidth(mostActivity);
    m_engine = label("status.engine", tr("Engine"), this);
    m_bar = new QProgressBar(this);
    m_bar->setObjectName(QStringLiteral("status.bar"));
    m_bar->setAccessibleName(tr("Progress"));
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(140);
    addWidget(m_model, 1);  // text that does not fit is clipped: a long sentence must not widen the window
    addWidget(m_what);
    addWidget(m_bar);
    m_result = new panels::ElidedLabel(QStringLiteral("status.result"), this);
    addPermanentWidget(m_result, 1);
    addPermanentWidget(m_engine);
    setResult({});
    setProgress({}, 1);
}

void StatusLine::setModel(const models::ModelPtr& model)
{
    m_model->setFullText(model ? modelSummary(*model) : tr("No model open"));
}

void StatusLine::setEngine(const EngineSummary& engine)
{
    m_engine->setText(engineSummary(engine));
    m_engine->setToolTip(confinementText(engine.confinement));
}

void StatusLine::setResult(const QString& text, const QString& tone)
{
    m_result->setVisible(!text.isEmpty());
    m_result->setFullText(text);
    m_result->setProperty("tone", tone);
    style()->unpolish(m_result);
    style()->polish(m_result);
}

void StatusLine::setProgress(const QString& what, double fraction)
{
    m_what->setText(what);
    m_what->setVisible(!what.isEmpty());
    m_bar->setVisible(!what.isEmpty());
    m_bar->setRange(0, fraction < 0 ? 0 : barSteps);
    if (fraction >= 0) m_bar->setValue(static_cast<int>(fraction * barSteps));
}

}  // namespace hopscope::window
