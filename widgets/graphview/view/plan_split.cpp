#include "graphview/view/plan_split.h"

#include <QVBoxLayout>

#include "models/front.h"
#include "models/labels.h"

namespace hopscope::graphview {

namespace {

QLabel* caption(const char* name, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(QLatin1String(name));
    label->setContentsMargins(12, 6, 12, 6);
    return label;
}

}  // namespace

PlanSplit::PlanSplit(const GraphParts& parts, ColourModes& colours)
    : m_parts(parts),
      m_colours(colours),
      m_splitter(new QSplitter(Qt::Horizontal, &parts.panel)),
      m_ownName(caption("graphOwnPlan", m_splitter)),
      m_otherName(caption("graphOtherPlan", m_splitter)),
      m_other(new GraphView(m_splitter))
{
    m_splitter->setObjectName(QStringLiteral("graphSplit"));
    m_splitter->setChildrenCollapsible(false);
    m_other->setObjectName(QStringLiteral("graphOther"));
    m_other->setAccessibleName(tr("Graph with the other plan"));
    m_other->drag().forbid();
    m_ownName->setText(tr("Your plan"));
    side(parts.view, *m_ownName);
    m_otherSide = side(*m_other, *m_otherName);
    m_otherSide->raise();  // a splitter puts later widgets first among its children
    compareWith(std::nullopt);
}

QWidget* PlanSplit::side(GraphView& view, QLabel& name)
{
    auto* made = new QWidget(m_splitter);
    auto* column = new QVBoxLayout(made);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(&name);
    column->addWidget(&view, 1);
    m_splitter->addWidget(made);
    return made;
}

void PlanSplit::setTheme(const style::Theme& theme) { m_other->setTheme(theme); }

void PlanSplit::compareWith(std::optional<base::Strategy> strategy)
{
    m_with = strategy;
    m_illustrated = nullptr;
    if (strategy) m_otherName->setText(models::capitalised(models::strategyLabel(*strategy)));
    open();
}

void PlanSplit::illustrate(const QString& name, const models::PlanPtr& plan)
{
    if (!plan) return m_illustrated ? compareWith(m_with) : void();
    m_illustrated = plan;
    m_otherName->setText(name);
    if (m_otherSide->isVisible()) refresh();
    else open();
}

void PlanSplit::open()
{
    m_ownName->setVisible(isOpen());
    m_otherSide->setVisible(isOpen());
    if (!isOpen()) return m_other->setScene(nullptr);
    const int half = m_splitter->width() / 2;
    m_splitter->setSizes({half, half});
    refresh();
}

void PlanSplit::refresh()
{
    if (!isOpen()) return;
    const models::PlanPtr plan = m_illustrated ? m_illustrated : m_parts.document.reference(*m_with);
    if (!plan || !m_parts.view.scene()) {
        m_other->setMessage(tr("This plan is not available."));
        return m_other->setScene(nullptr);
    }
    if (!m_illustrated) m_otherName->setText(models::capitalised(models::planLabel(*plan)));
    m_parts.maker.buildPreview(plan, [this, plan](const ScenePtr& scene) { show(scene, plan); });
}

void PlanSplit::show(const ScenePtr& scene, const models::PlanPtr& plan)
{
    if (!isOpen()) return;
    m_following = true;
    m_other->setScene(scene);
    m_other->setColouring(m_illustrated ? m_colours.byStage(*scene, plan) : m_colours.colouring(*scene, plan));
    m_following = false;
    followCamera(m_parts.view);
}

void PlanSplit::followCamera(const GraphView& moved)
{
    if (!isOpen() || !m_other->scene() || m_following) return;
    GraphView& follows = &moved == m_other ? m_parts.view : *m_other;
    m_following = true;
    follows.viewport().setCamera(moved.camera());
    m_following = false;
}

}  // namespace hopscope::graphview
