#include "notices.h"

#include <utility>

#include "jobs/cuts.h"
#include "models/labels.h"
#include "models/pins.h"
#include "models/run_log.h"
#include "panels/run_panel.h"
#include "protocol/rpc.h"

namespace hopscope::window {

namespace {

constexpr int maxFixes = 2;  // as buttons

QString repairText(const protocol::ModelRecord& model, const models::Repair& repair)
{
    if (!repair.dropped) return Notices::tr("Use %1 stages").arg(repair.wanted.stages.value_or(0));
    const QString value = models::valueLabel(model, repair.dropped->value);
    if (repair.dropped->kind == base::PinKind::Checkpoint) return Notices::tr("Cut here and unpin %1").arg(value);
    if (repair.dropped->kind == base::PinKind::NoCheckpoint)
        return Notices::tr("Cut here and allow storing %1").arg(value);
    return Notices::tr("Cut here without this pin: %1").arg(models::pinLabel(model, *repair.dropped));
}

}  // namespace

Notices::Notices(const WindowParts& parts) : m_parts(parts)
{
    connect(&parts.workbench, &jobs::Workbench::failed, this, &Notices::sayFailure);
    connect(&parts.workbench, &jobs::Workbench::engineLost, this, &Notices::engineLost);
    connect(&parts.workbench, &jobs::Workbench::engineBack, this, &Notices::engineBack);
    connect(&parts.document, &models::Document::refusalChanged, this, &Notices::refusalChanged);
    connect(&parts.document, &models::Document::planChanged, this, &Notices::forget);
    connect(&parts.document, &models::Document::runsChanged, this, &Notices::forget);
    connect(&parts.document, &models::Document::runChanged, this, &Notices::tellRun);
    connect(&parts.workbench, &jobs::Workbench::runFinished, this, &Notices::tellRun);
}

void Notices::sayFailure(const QString& what, const QString& sentence, const QString& hint)
{
    // "Opening a.pt: cannot read /models/a.pt" would name it twice.
    const bool named = sentence.contains(what.section(u' ', -1));
    const QString text = named ? sentence.left(1).toUpper() + sentence.mid(1) : tr("%1: %2").arg(what, sentence);
    QVector<BannerButton> ways;
    const bool lacksData = m_parts.document.model() && m_parts.document.data().isEmpty();
    if (lacksData && what == jobs::runningTopic()) ways.append({tr("Choose data…"), [this] { emit dataWanted(); }});
    const std::optional<qint64> limit = models::memoryHint(hint);
    if (limit) ways.append(limitButton(*limit));
    const bool lost = hint == QLatin1String(protocol::openAgain);
    if (lost) ways.append({tr("Open Again"), [this] { emit reloadWanted(); }});
    const bool told = hint.isEmpty() || limit || lost;
    m_parts.banner.say(QStringLiteral("open"), told ? text : tr("%1. %2").arg(text, hint), ways);
}

BannerButton Notices::limitButton(qint64 bytes)
{
    return {tr("Set the limit to %1").arg(models::formatBytes(static_cast<double>(bytes))), [this, bytes] {
                models::Settings settings = m_parts.document.settings();
                settings.memory = bytes;
                m_parts.workbench.setRunSettings(settings);
            }};
}

// Drops old failures, which another plan or a finished run has resolved.
void Notices::forget()
{
    for (const QString& topic : {QStringLiteral("open"), QStringLiteral("drop")}) m_parts.banner.dismiss(topic);
}

// Reports the end of a run whichever panels are visible, until the next one begins.
void Notices::tellRun()
{
    const std::shared_ptr<models::RunLog>& log = m_parts.document.runLog();
    if (!log || log->state() != protocol::RunState::Finished) return m_parts.status.setResult({});
    if (log->end() != models::RunEnd::Completed)
        return m_parts.status.setResult(panels::progressText(*log), QStringLiteral("warning"));
    const models::FinishedRun& run = m_parts.document.runs().back();
    m_parts.status.setResult(panels::resultText(run), panels::toneOf(panels::verdictOf(*run.report)));
}

void Notices::engineLost(const QString& reason)
{
    m_lost = true;
    const bool over = m_parts.engine.state() == jobs::EngineState::Failed;
    const QString then = over ? tr("It will not be restarted automatically.") : tr("Restarting it.");
    m_parts.banner.say(QStringLiteral("engine"),
                       tr("Engine failure: %1. %2 Your cuts, settings and finished runs are kept.").arg(reason, then),
                       {{tr("Restart now"), [this] { m_parts.engine.restart(); }}});
}

void Notices::engineBack()
{
    if (!std::exchange(m_lost, false)) return;
    m_parts.banner.say(QStringLiteral("engine"), tr("The engine has been restarted; your work has been restored."));
}

void Notices::refusalChanged(const QString& sentence)
{
    if (sentence.isEmpty()) return m_parts.banner.dismiss(QStringLiteral("refusal"));
    m_parts.banner.say(QStringLiteral("refusal"),
                       tr("This change is not possible: %1").arg(models::withoutOptions(sentence)), suggestedFixes(),
                       [this] { m_parts.document.setRefusal({}); });
}

void Notices::offerPlace(const QString& why, const graphview::DropOffer& offer)
{
    m_parts.banner.say(QStringLiteral("drop"), why);
    tryPlace(why, offer, 0);
}

void Notices::tryPlace(const QString& why, const graphview::DropOffer& offer, std::size_t number)
{
    if (number == offer.places.size()) return;
    const protocol::ValueId from = offer.from, to = offer.places[number];
    const auto answered = [this, why, offer, number, from, to](const base::Result<protocol::PlanRecord>& plan) {
        if (m_parts.banner.sentence() != why) return;
        if (!plan) return tryPlace(why, offer, number + 1);
        const QString name = models::valueLabel(*m_parts.document.model(), to);
        const BannerButton store{tr("Store %1 instead").arg(name),
                                 [this, from, to] { m_parts.workbench.movePin(from, to); }};
        m_parts.banner.say(QStringLiteral("drop"), why, {store});
    };
    const models::Settings& now = m_parts.document.settings();
    const jobs::Cuts cuts{.strategy = now.strategy, .objective = now.objective, .pins = now.pins};
    m_parts.workbench.whatIf(jobs::withMove(cuts, from, to).pins, this, answered);
}

// Buttons for the change that has just been refused.
QVector<BannerButton> Notices::suggestedFixes()
{
    QVector<BannerButton> buttons;
    if (const std::optional<qint64> limit = models::memoryHint(m_parts.document.refusal()))
        buttons.append(limitButton(*limit));
    for (const models::Repair& repair : m_parts.document.repairs()) {
        if (buttons.size() == maxFixes) break;
        const QString text = repairText(*m_parts.document.model(), repair);
        buttons.append({text, [this, repair, text] { m_parts.workbench.repair(text, repair); }});
    }
    return buttons;
}

}  // namespace hopscope::window
