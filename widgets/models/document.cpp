#include "models/document.h"

#include "models/run_log.h"

namespace hopscope::models {

Document::Document(QObject* parent) : QObject(parent) {}

Document::~Document() = default;

PlanPtr Document::reference(base::Strategy strategy) const
{
    const auto found = m_references.find(strategy);
    return found == m_references.end() ? nullptr : found->second;
}

void Document::setSource(QString model, QStringList data, QStringList roles)
{
    m_modelPath = std::move(model);
    m_data = std::move(data);
    m_roles = std::move(roles);
}

void Document::setModel(ModelPtr model, PartsPtr parts)
{
    if (model && !parts) parts = std::make_shared<const ModelParts>(partsOf(*model));
    m_model = std::move(model);
    m_parts = std::move(parts);
    m_plan.reset();
    m_search = Search::Over;
    m_references.clear();
    m_runLog.reset();
    m_runs.clear();
    m_refusal.clear();
    m_repairs.clear();
    setPreview({});
    setExplained({});
    setFront({});
    emit modelChanged();
    emit planChanged();
    emit runChanged();
    emit runsChanged();
    emit refusalChanged(m_refusal);
}

void Document::setPlan(PlanPtr plan, Search search)
{
    m_plan = std::move(plan);
    m_search = search;
    setExplained({});
    emit planChanged();
}

void Document::setReference(base::Strategy strategy, PlanPtr plan)
{
    m_references.insert_or_assign(strategy, std::move(plan));
    emit planChanged();
}

void Document::setSettings(const Settings& settings)
{
    if (settings == m_settings) return;
    m_settings = settings;
    emit settingsChanged();
}

void Document::setRefusal(const QString& sentence)
{
    if (sentence == m_refusal && m_repairs.empty()) return;
    m_refusal = sentence;
    m_repairs.clear();
    emit refusalChanged(m_refusal);
}

void Document::setRepairs(std::vector<Repair> repairs)
{
    if (repairs == m_repairs) return;
    m_repairs = std::move(repairs);
    emit refusalChanged(m_refusal);
}

void Document::setPreview(const Preview& preview)
{
    if (preview == m_preview) return;
    m_preview = preview;
    emit previewChanged();
}

void Document::setExplained(const Explained& explained)
{
    const bool nothing = !explained.explanation && explained.problem.isEmpty();
    if (nothing && !m_explained.explanation && m_explained.problem.isEmpty()) return;
    m_explained = explained;
    emit explainedChanged();
}

void Document::setFront(const Front& front)
{
    if (front.points.empty() && m_front.points.empty() && front.complete == m_front.complete) return;
    m_front = front;
    emit frontChanged();
}

void Document::setRunLog(std::shared_ptr<RunLog> log)
{
    m_runLog = std::move(log);
    emit runChanged();
}

void Document::addRun(FinishedRun run)
{
    m_runs.push_back(std::move(run));
    emit runsChanged();
}

}  // namespace hopscope::models
