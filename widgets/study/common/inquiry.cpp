#include "study/common/inquiry.h"

#include "jobs/engine_queries.h"
#include "models/labels.h"
#include "panels/parts.h"

namespace hopscope::study {

Inquiry::Inquiry(const panels::Context& context, const QString& name, const QString& progressTitle, QPushButton* start,
                 QPushButton* cancel, QWidget* panel)
    : QObject(panel),
      m_context(context),
      m_start(start),
      m_cancel(cancel),
      m_state(panels::wrapped(name + QStringLiteral("State"), panel)),
      m_progress(new QProgressBar(panel))
{
    m_start->setProperty("primary", true);
    m_state->setProperty("muted", true);
    m_progress->setObjectName(name + QStringLiteral("Progress"));
    m_progress->setAccessibleName(progressTitle);
    m_progress->setTextVisible(false);
    connect(m_cancel, &QPushButton::clicked, this, &Inquiry::cancel);
    if (m_context.engine != nullptr)
        connect(m_context.engine, &jobs::EngineClient::progressed, this, &Inquiry::showProgress);
}

Inquiry::~Inquiry() { giveUp(); }

void Inquiry::addLine(QBoxLayout& layout)
{
    layout.addWidget(m_state);
    layout.addWidget(m_progress);
}

void Inquiry::begin(std::int64_t request, const QString& underWay)
{
    m_request = request;
    m_underWay = underWay;
    m_said.clear();
    m_progress->setRange(0, 0);
    emit changed();
}

void Inquiry::say(const QString& sentence)
{
    m_said = sentence;
    emit changed();
}

void Inquiry::fail(const base::Error& error)
{
    m_said = models::sentence(error.message);
    if (!error.hint.empty()) m_said += u' ' + models::sentence(error.hint);
}

void Inquiry::giveUp()
{
    if (!busy()) return;
    m_context.workbench.queries().cancel(std::exchange(m_request, 0));
    ++m_number;
}

void Inquiry::cancel()
{
    if (!busy()) return;
    giveUp();
    say(tr("Cancelled."));
}

void Inquiry::forget()
{
    giveUp();
    say({});
}

void Inquiry::refresh(const QString& lacking, const QString& idle)
{
    m_start->setEnabled(!busy() && lacking.isEmpty());
    m_cancel->setVisible(busy());
    m_progress->setVisible(busy());
    m_state->setText(busy() ? m_underWay : !m_said.isEmpty() ? m_said : lacking.isEmpty() ? idle : lacking);
    m_state->setVisible(!m_state->text().isEmpty());
}

void Inquiry::showProgress(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total)
{
    if (!busy() || request != m_request) return;
    m_progress->setRange(0, static_cast<int>(total));
    m_progress->setValue(static_cast<int>(done));
    m_underWay = what;
    emit changed();
}

}  // namespace hopscope::study
