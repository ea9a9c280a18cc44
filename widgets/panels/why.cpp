#include "panels/why.h"

#include "models/labels.h"

namespace hopscope::panels {

namespace {

using models::formatBytes;
using models::formatCost;
using models::Target;

QString whatText(const schema::Decision& decision)
{
    const QString stages = models::stageList(decision.stages);
    switch (decision.kind) {
    case base::DecisionKind::Stored: return Why::tr("Stored");
    case base::DecisionKind::Recomputed: return Why::tr("Recomputed in stages %1").arg(stages);
    case base::DecisionKind::Delayed: break;
    }
    return Why::tr("Delayed to stage %1").arg(stages);
}

// As high as its rows: the panel scrolls instead of the table.
void fitHeight(QTableView& table)
{
    const int rows = table.model()->rowCount() * table.verticalHeader()->defaultSectionSize();
    table.setFixedHeight(table.horizontalHeader()->sizeHint().height() + 2 * table.frameWidth() + 2 + rows);
}

QWidget* part(QWidget* parent, const QString& title, std::initializer_list<QWidget*> widgets)
{
    auto* made = new QWidget(parent);
    auto* column = new QVBoxLayout(made);
    column->setContentsMargins(0, 0, 0, 6);
    column->addWidget(heading(title, made));
    for (QWidget* widget : widgets) column->addWidget(widget);
    return made;
}

}  // namespace

QString decisionLine(const schema::Explanation& explanation, protocol::ValueId value)
{
    const schema::Decision* decision = explanation.decisionOn(value);
    if (decision == nullptr) return {};
    const base::Unit unit = explanation.unit;
    const QString costs = Why::tr("%1: costs %2").arg(whatText(*decision), formatCost(decision->cost(), unit));
    if (!decision->possible)
        return Why::tr("%1; every plan with this number of stages and these pins makes this decision.").arg(costs);
    if (!decision->saves) return costs + u'.';
    return Why::tr("%1; the best plan found with the opposite decision costs %2 more.")
        .arg(costs, formatCost(*decision->saves, unit));
}

QString comparisonLine(const schema::Explanation& explanation, const schema::PlanComparison& comparison)
{
    const base::Unit unit = explanation.unit;
    const QString rule = models::strategyLabel(comparison.strategy);
    QStringList sentences;
    if (comparison.cost)
        sentences << Why::tr("The %1 costs %2, this plan %3.")
                         .arg(rule, formatCost(*comparison.cost, unit), formatCost(explanation.cost, unit));
    sentences << Why::tr("The %1 writes %2 and reads %3.")
                     .arg(rule, formatBytes(static_cast<double>(comparison.bytes.d2h)),
                          formatBytes(static_cast<double>(comparison.bytes.h2d)));
    if (comparison.values.empty()) sentences << Why::tr("Both make the same decisions for all values.");
    else sentences << Why::tr("Each row shows this plan first, then the %1.").arg(rule);
    return sentences.join(u' ');
}

Why::Why(const Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("why"));
    QVBoxLayout* const layout = makeColumn(this, 6);
    m_state = wrapped(QStringLiteral("whyState"), this);
    m_state->setProperty("muted", true);
    layout->addWidget(m_state);
    setupTables(*layout);
    layout->addStretch(1);
    fillWith(this, layout->parentWidget());
    setupConnections();
    refresh();
}

void Why::setupTables(QBoxLayout& layout)
{
    m_decisionTable = makeTable(QStringLiteral("decisions"), &m_decisions, this);
    m_decisionTable->setAccessibleName(tr("Decisions of the plan"));
    m_differenceTable = makeTable(QStringLiteral("differences"), &m_differences, this);
    m_differenceTable->setAccessibleName(tr("Differences from the rule"));
    m_differenceTable->verticalHeader()->setDefaultSectionSize(2 * fontMetrics().height() + 8);
    m_rule = new QComboBox(this);
    m_rule->setObjectName(QStringLiteral("whyRule"));
    m_rule->setAccessibleName(tr("Rule to compare with"));
    m_comparisonText = wrapped(QStringLiteral("comparisonText"), this);
    m_decisionPart = part(this, tr("Decisions"), {m_decisionTable});
    m_comparisonPart = part(this, tr("Compared with"), {m_rule, m_comparisonText, m_differenceTable});
    layout.addWidget(m_decisionPart);
    layout.addWidget(m_comparisonPart);
    for (QTableView* table : {m_decisionTable, m_differenceTable}) {
        fitColumns(*table);
        table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    }
}

void Why::setupConnections()
{
    models::Document& document = m_context.document;
    connect(&document, &models::Document::explainedChanged, this, &Why::refresh);
    connect(&document, &models::Document::planChanged, this, &Why::refresh);
    connect(&m_context.selection, &models::Selection::changed, this, &Why::follow);
    connect(m_rule, &QComboBox::activated, this, &Why::showComparison);
    for (QTableView* table : {m_decisionTable, m_differenceTable})
        connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &Why::selectRow);
}

// A panel that is painted is visible.
void Why::paintEvent(QPaintEvent* event)
{
    Panel::paintEvent(event);
    QMetaObject::invokeMethod(&m_context.workbench, &jobs::Workbench::explain, Qt::QueuedConnection);
}

QString Why::stateLine() const
{
    const models::Document& document = m_context.document;
    if (!document.plan()) return tr("No plan");
    if (!document.explained().problem.isEmpty()) return document.explained().problem;
    if (!document.explained().explanation) return tr("Evaluating the saving of each decision…");
    return tr("Otherwise: the additional cost of the best plan found with the opposite decision.");
}

void Why::refresh()
{
    const models::ExplanationPtr& explanation = m_context.document.explained().explanation;
    const models::ModelPtr& model = m_context.document.model();
    m_state->setText(stateLine());
    const bool shown = explanation && model;
    m_decisions.setRows(shown ? models::decisionRows(*model, *explanation) : std::vector<models::DecisionRow>());
    fitHeight(*m_decisionTable);
    const int rule = std::max(0, m_rule->currentIndex());
    m_rule->clear();
    if (shown)
        for (const schema::PlanComparison& each : explanation->against)
            m_rule->addItem(models::strategyLabel(each.strategy));
    m_rule->setCurrentIndex(std::min(rule, m_rule->count() - 1));
    m_decisionPart->setVisible(!m_decisions.rows().empty());
    m_comparisonPart->setVisible(m_rule->count() > 0);
    showComparison();
    follow(m_context.selection.current());
    update();
}

void Why::showComparison()
{
    const models::ExplanationPtr& explanation = m_context.document.explained().explanation;
    const int rule = m_rule->currentIndex();
    if (!explanation || rule < 0) return m_differences.setRows({});
    const schema::PlanComparison& comparison = explanation->against.at(static_cast<std::size_t>(rule));
    m_comparisonText->setText(comparisonLine(*explanation, comparison));
    m_differences.setRows(models::differenceRows(*m_context.document.model(), comparison, explanation->unit));
    fitHeight(*m_differenceTable);
    m_differenceTable->setVisible(!m_differences.rows().empty());
}

void Why::follow(const Target& target)
{
    Target value = target;
    const models::ModelPtr& model = m_context.document.model();
    if (model && model->ops.contains(target.opId())) {
        const std::vector<protocol::ValueId>& outputs = model->ops[target.opId()].outputs;
        value = outputs.empty() ? Target() : Target::value(outputs.front());
    }
    selectTarget(*m_decisionTable, value);
    selectTarget(*m_differenceTable, value);
}

void Why::selectRow(const QModelIndex& index)
{
    const QVariant target = index.data(models::TargetRole);
    if (target.isValid()) m_context.selection.reveal(target.value<Target>());
}

Panel* makeWhy(const Context& context, QWidget* parent) { return new Why(context, parent); }

}  // namespace hopscope::panels
