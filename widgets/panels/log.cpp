#include <QTime>

#include "models/labels.h"
#include "models/run_log.h"
#include "panels/lists.h"

namespace hopscope::panels {

Log::Log(const Context& context, QWidget* parent) : Panel(parent), m_context(context), m_text(new QPlainTextEdit(this))
{
    setObjectName(QStringLiteral("log"));
    m_text->setObjectName(QStringLiteral("logText"));
    m_text->setAccessibleName(tr("Log"));
    m_text->setReadOnly(true);
    m_text->setMaximumBlockCount(lineLimit);
    m_text->setPlaceholderText(tr("Messages of the engine appear here."));
    m_text->setFrameShape(QFrame::NoFrame);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_text);
    setupConnections();
}

void Log::setTheme(const style::Theme&) { m_text->setFont(style::monoFont()); }

void Log::setupConnections()
{
    const jobs::Workbench& workbench = m_context.workbench;
    connect(&workbench, &jobs::Workbench::failed, this,
            [this](const QString& what, const QString& sentence, const QString& hint) {
                append(hint.isEmpty() ? tr("%1: %2").arg(what, sentence) : tr("%1: %2; %3").arg(what, sentence, hint));
            });
    connect(&workbench, &jobs::Workbench::engineLost, this,
            [this](const QString& reason) { append(tr("Engine lost: %1").arg(reason)); });
    connect(&workbench, &jobs::Workbench::engineBack, this, [this] { append(tr("The engine is back.")); });
    connect(&m_context.document, &models::Document::modelChanged, this, [this] {
        if (const models::ModelPtr& model = m_context.document.model())
            append(tr("Opened %1").arg(models::text(model->path)));
    });
    connect(&m_context.document, &models::Document::runChanged, this, &Log::watchRun);
}

void Log::append(const QString& line)
{
    const QString shown = line.size() > longestLine ? line.left(longestLine) + u'\u2026' : line;
    m_text->appendPlainText(QTime::currentTime().toString(QStringLiteral("HH:mm:ss  ")) + shown);
}

void Log::watchRun()
{
    disconnect(m_notes);
    m_shownNotes = 0;
    const std::shared_ptr<models::RunLog>& log = m_context.document.runLog();
    if (!log) return;
    m_notes = connect(log.get(), &models::RunLog::updated, this, &Log::appendNotes);
    appendNotes();
}

void Log::appendNotes()
{
    const std::shared_ptr<models::RunLog>& log = m_context.document.runLog();
    if (!log) return;
    for (; m_shownNotes < log->notes().size(); ++m_shownNotes) append(log->notes().at(m_shownNotes));
}

Panel* makeLog(const Context& context, QWidget* parent) { return new Log(context, parent); }

}  // namespace hopscope::panels
