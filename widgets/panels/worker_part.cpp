#include "panels/worker_part.h"

#include <QVBoxLayout>

#include "models/worker_text.h"

namespace hopscope::panels {

namespace {

constexpr int tickMilliseconds = 250;

}  // namespace

WorkerPart::WorkerPart(QWidget* parent)
    : QWidget(parent),
      m_summary(new ElidedLabel(QStringLiteral("workersSummary"), this)),
      m_waits(new ElidedLabel(QStringLiteral("workersWait"), this)),
      m_choice(new ElidedLabel(QStringLiteral("workersChoice"), this)),
      m_legend(new plots::Legend(this)),
      m_lanes(new plots::WorkerLanes(this))
{
    setObjectName(QStringLiteral("workers"));
    auto* title = new QHBoxLayout;
    title->addWidget(heading(tr("Workers"), this));
    title->addWidget(m_waits, 1);
    m_summary->setProperty("muted", true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addLayout(title);
    column->addWidget(m_lanes);
    column->addWidget(m_summary);
    column->addWidget(m_choice);
    column->addWidget(m_legend);
    m_choice->hide();
    column->addStretch(1);
    m_timer.setInterval(tickMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &WorkerPart::tick);
    connect(m_lanes, &plots::WorkerLanes::choiceChanged, this, &WorkerPart::sayChoice);
}

void WorkerPart::display(const std::shared_ptr<const models::RunLog>& log)
{
    if (log != m_log || log->elapsed() != m_told) m_since.start();
    m_log = log;
    m_told = log->elapsed();
    tick();
    m_summary->setFullText(models::workersSummary(*log->workers()));
    m_waits->setFullText(models::waitSentence(*log));
    sayChoice(m_lanes->chosenText());
    std::vector<plots::LegendItem> items = m_lanes->legendItems();
    if (items == m_items) return;
    m_items = std::move(items);
    m_legend->setItems(m_items);
}

void WorkerPart::tick()
{
    const bool finished = m_log->state() == protocol::RunState::Finished;
    m_lanes->display(m_log, finished ? m_told : m_told + static_cast<double>(m_since.elapsed()) / 1000);
    if (finished || !isVisible()) m_timer.stop();
    else if (!m_timer.isActive()) m_timer.start();
}

void WorkerPart::setTheme(const style::Theme& theme)
{
    m_lanes->setTheme(theme);
    m_legend->setColour(theme.textMuted);
    m_legend->setItems(m_lanes->legendItems());
}

void WorkerPart::sayChoice(const QString& text)
{
    m_choice->setVisible(!text.isEmpty());
    m_choice->setFullText(QString(text).replace(u'\n', QStringLiteral(" · ")));
}

}  // namespace hopscope::panels
