#include "panels/plan_panel.h"

#include <QMenu>

#include "base/rules.h"
#include "models/front.h"
#include "models/labels.h"
#include "models/problem_model.h"
#include "models/run_log.h"
#include "panels/reasons.h"
#include "style/icon.h"

namespace hopscope::panels {

namespace {

using models::formatBytes;
using models::Target;

QString stores(const protocol::PlanRecord& plan)
{
    const auto count = std::ranges::count_if(plan.checkpoints, [](const auto& each) { return !each.output; });
    const auto stages = plan.stages.size();
    return (count == 1 ? PlanPanel::tr("1 value stored") : PlanPanel::tr("%1 values stored").arg(count)) +
           QStringLiteral(" · ") + (stages == 1 ? PlanPanel::tr("1 stage") : PlanPanel::tr("%1 stages").arg(stages));
}

// "moves 7.0 % less than the depth rule"; empty if it is the same plan or unknown.
QString againstDepth(const models::Document& document)
{
    const models::PlanPtr reference = document.reference(base::Strategy::Depth);
    const auto own = movedBytes(*document.plan());
    const auto other = reference ? movedBytes(*reference) : std::nullopt;
    if (!own || !other || *other == 0 || *own == *other) return {};
    const double change = 100.0 * static_cast<double>(*own - *other) / static_cast<double>(*other);
    const QString size = QString::number(std::abs(change), 'f', 1);
    return change > 0 ? PlanPanel::tr("moves %1 % more than the depth rule").arg(size)
                      : PlanPanel::tr("moves %1 % less than the depth rule").arg(size);
}

// The entries of the strategy box, in order.
constexpr auto offered = [] {
    std::array<std::pair<base::Strategy, base::Objective>, 2 + base::rules.size()> all{
        {{base::Strategy::Optimal, base::Objective::Time}, {base::Strategy::Optimal, base::Objective::Bytes}}};
    for (std::size_t i = 0; i < base::rules.size(); ++i) all.at(2 + i) = {base::rules.at(i), base::Objective::Time};
    return all;
}();

QString objectiveLabel(const protocol::PlanRecord& plan)
{
    return plan.objective == base::Objective::Bytes ? PlanPanel::tr("bytes") : PlanPanel::tr("time");
}

QString percent(double part) { return QStringLiteral("%1 %").arg(100 * part, 0, 'f', part < 0.1 ? 1 : 0); }

}  // namespace

QString planHeadline(const protocol::PlanRecord* plan)
{
    if (plan == nullptr) return PlanPanel::tr("No plan");
    const auto moved = movedBytes(*plan);
    if (!moved) return stores(*plan);
    const QString bytes = formatBytes(static_cast<double>(*moved));
    if (!plan->predicted->seconds) return PlanPanel::tr("Moves %1").arg(bytes);
    return PlanPanel::tr("About %1, moves %2").arg(models::formatSeconds(*plan->predicted->seconds), bytes);
}

namespace {

QString foundQuality(const models::Document& document)
{
    const models::PlanPtr& plan = document.plan();
    if (!plan || !plan->cost || *plan->cost <= 0) return {};
    if (models::isProven(*plan))
        return plan->pins.empty() ? PlanPanel::tr("Proven optimal in %1").arg(objectiveLabel(*plan))
                                  : PlanPanel::tr("Proven optimal in %1 with these pins").arg(objectiveLabel(*plan));
    if (plan->lowerBound && *plan->cost < 2 * *plan->lowerBound)
        return PlanPanel::tr("Within %1 of the optimum in %2")
            .arg(percent(*plan->cost / *plan->lowerBound - 1), objectiveLabel(*plan));
    const models::PlanPtr best = document.reference(base::Strategy::Optimal);
    if (!best || !best->cost || best->objective != plan->objective || *best->cost <= 0) return {};
    const double above = *plan->cost / *best->cost - 1;
    const bool same = above < models::provenGap, proven = models::isProven(*best);
    const QString words =
        proven ? (same ? PlanPanel::tr("Same cost as the optimum in %1") : PlanPanel::tr("%2 above the optimum in %1"))
               : (same ? PlanPanel::tr("The best plan found, in %1")
                       : PlanPanel::tr("%2 above the best plan found, in %1"));
    return same ? words.arg(objectiveLabel(*plan)) : words.arg(objectiveLabel(*plan), percent(above));
}

}  // namespace

QString planQuality(const models::Document& document)
{
    const QString quality = foundQuality(document);
    return quality.isEmpty() || !document.searching() ? quality : PlanPanel::tr("%1 so far").arg(quality);
}

QString planDetail(const models::Document& document)
{
    const models::PlanPtr& plan = document.plan();
    if (!plan && !document.model()) return {};
    if (!plan && !document.model()->splittable)
        return PlanPanel::tr("%1: see Problems.").arg(models::refusalTitle(*document.model()));
    if (!plan) return PlanPanel::tr("Looking for a plan…");
    if (!plan->predicted) return PlanPanel::tr("Open the model with its graph to see bytes and memory.");
    const protocol::Prediction& predicted = *plan->predicted;
    QStringList parts{
        PlanPanel::tr("%1 written, %2 read")
            .arg(formatBytes(static_cast<double>(predicted.d2h)), formatBytes(static_cast<double>(predicted.h2d)))};
    if (const int again = recomputedOps(*plan); again > 0)
        parts << (again == 1 ? PlanPanel::tr("1 operator recomputed")
                             : PlanPanel::tr("%1 operators recomputed").arg(again));
    parts << PlanPanel::tr("peak memory %1").arg(formatBytes(static_cast<double>(predicted.peakMemory)));
    parts << againstDepth(document);
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

PlanPanel::PlanPanel(const Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("plan"));
    QVBoxLayout* const layout = makeColumn(this, 6);
    setupHeader(*layout);
    setupTables(*layout);
    layout->addStretch(1);
    fillWith(this, layout->parentWidget());
    setupUndo();
    setupConnections();
    refresh();
    refreshSettings();
}

void PlanPanel::setupHeader(QBoxLayout& layout)
{
    m_headline = title(QStringLiteral("planHeadline"), this);
    m_quality = wrapped(QStringLiteral("planQuality"), this);
    m_detail = wrapped(QStringLiteral("planDetail"), this);
    m_detail->setProperty("muted", true);
    m_strategy = new QComboBox(this);
    m_strategy->setObjectName(QStringLiteral("strategy"));
    m_strategy->setAccessibleName(tr("Strategy"));
    m_strategy->setToolTip(tr("How cuts are chosen; a new choice removes your pins"));
    m_strategy->addItems({tr("Optimal time"), tr("Optimal bytes")});
    for (const base::Strategy rule : base::rules) m_strategy->addItem(models::capitalised(models::strategyLabel(rule)));
    const auto tool = [this](const char* name, const QString& label) {
        auto* button = new QToolButton(this);
        button->setObjectName(QString::fromLatin1(name));
        button->setText(label);
        button->setAccessibleName(label);
        return button;
    };
    m_optimum = tool("optimum", tr("Optimise"));
    m_optimum->setToolTip(tr("Find the cheapest plan that respects your pins"));
    m_undo = tool("undo", tr("Undo"));
    m_redo = tool("redo", tr("Redo"));
    m_clear = tool("clearPins", tr("Clear pins"));
    auto* row = new QHBoxLayout;  // below the strategy: side by side they are wider than the panel
    for (QToolButton* button : {m_undo, m_redo, m_clear, m_optimum}) row->addWidget(button);
    row->addStretch(1);
    m_barsHeading = heading({}, this);
    m_barsHeading->setObjectName(QStringLiteral("barsHeading"));
    m_bars = new CompareBars(this);
    layout.addWidget(m_headline);
    layout.addWidget(m_quality);
    layout.addWidget(m_detail);
    layout.addWidget(m_strategy);
    layout.addLayout(row);
    layout.addWidget(m_barsHeading);
    layout.addWidget(m_bars);
}

void PlanPanel::setupTables(QBoxLayout& layout)
{
    m_checkpointTable = makeTable(QStringLiteral("checkpoints"), &m_checkpoints, this);
    m_checkpointTable->setAccessibleName(tr("Stored values"));
    m_checkpointTable->setContextMenuPolicy(Qt::CustomContextMenu);
    m_stageTable = makeTable(QStringLiteral("stages"), &m_stages, this);
    m_stageTable->setAccessibleName(tr("Stages"));
    m_checkpointsHeading = heading(tr("Stored between stages"), this);
    m_stagesHeading = heading(tr("Stages"), this);
    layout.addWidget(new PinList(m_context, this));
    layout.addSpacing(4);
    layout.addWidget(m_checkpointsHeading);
    layout.addWidget(m_checkpointTable);
    layout.addSpacing(4);
    layout.addWidget(m_stagesHeading);
    layout.addWidget(m_stageTable);
    for (QTableView* table : {m_checkpointTable, m_stageTable}) {
        fitColumns(*table);
        table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    }
    // The inspector shows the reads and writes of a stage: the panel is narrow.
    for (const models::StageColumn column :
         {models::StageColumn::Reads, models::StageColumn::Writes, models::StageColumn::Ops})
        m_stageTable->setColumnHidden(static_cast<int>(column), true);
}

void PlanPanel::setupUndo()
{
    QUndoStack& stack = m_context.workbench.undoStack();
    m_undo->setEnabled(stack.canUndo());
    m_redo->setEnabled(stack.canRedo());
    connect(&stack, &QUndoStack::canUndoChanged, m_undo, &QWidget::setEnabled);
    connect(&stack, &QUndoStack::canRedoChanged, m_redo, &QWidget::setEnabled);
    connect(&stack, &QUndoStack::undoTextChanged, m_undo,
            [this](const QString& what) { m_undo->setToolTip(tr("Undo %1").arg(what)); });
    connect(&stack, &QUndoStack::redoTextChanged, m_redo,
            [this](const QString& what) { m_redo->setToolTip(tr("Redo %1").arg(what)); });
    connect(m_undo, &QToolButton::clicked, &stack, &QUndoStack::undo);
    connect(m_redo, &QToolButton::clicked, &stack, &QUndoStack::redo);
    connect(m_clear, &QToolButton::clicked, &m_context.workbench, &jobs::Workbench::clearPins);
    connect(m_optimum, &QToolButton::clicked, &m_context.workbench, &jobs::Workbench::optimiseAroundPins);
}

void PlanPanel::setupConnections()
{
    models::Document& document = m_context.document;
    connect(&document, &models::Document::planChanged, this, &PlanPanel::refresh);
    connect(&document, &models::Document::runsChanged, this, &PlanPanel::refreshStages);
    connect(&document, &models::Document::settingsChanged, this, &PlanPanel::refreshSettings);
    connect(&m_context.selection, &models::Selection::changed, this, &PlanPanel::follow);
    connect(m_strategy, &QComboBox::activated, this, [this] {
        const auto& [strategy, objective] = offered.at(static_cast<std::size_t>(m_strategy->currentIndex()));
        m_context.workbench.setStrategy(strategy, objective);
    });
    connect(m_checkpointTable, &QWidget::customContextMenuRequested, this, &PlanPanel::showMenu);
    for (QTableView* table : {m_checkpointTable, m_stageTable})
        connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &PlanPanel::selectRow);
}

void PlanPanel::setTheme(const style::Theme& theme)
{
    m_bars->setTheme(theme);
    m_undo->setIcon(style::icon(QStringLiteral("undo"), theme));
    m_redo->setIcon(style::icon(QStringLiteral("redo"), theme));
}

void PlanPanel::refresh()
{
    const models::ModelPtr& model = m_context.document.model();
    const models::PlanPtr& plan = m_context.document.plan();
    m_headline->setText(planHeadline(plan.get()));
    m_quality->setText(planQuality(m_context.document));
    m_quality->setVisible(!m_quality->text().isEmpty());
    m_detail->setText(planDetail(m_context.document));
    showBars();
    m_checkpoints.setRows(model && plan ? models::checkpointRows(*model, *plan) : std::vector<models::CheckpointRow>());
    fitTable(*m_checkpointTable);
    const bool pinned = std::ranges::any_of(m_checkpoints.rows(), &models::CheckpointRow::pinned);
    m_checkpointTable->setColumnHidden(static_cast<int>(models::CheckpointColumn::Pin), !pinned);
    refreshStages();
    m_clear->setEnabled(plan && !plan->pins.empty());
    for (QWidget* part : {static_cast<QWidget*>(m_checkpointTable), static_cast<QWidget*>(m_stageTable),
                          static_cast<QWidget*>(m_checkpointsHeading), static_cast<QWidget*>(m_stagesHeading)})
        part->setVisible(plan != nullptr);
    m_strategy->setEnabled(model != nullptr);
    refreshSettings();
    follow(m_context.selection.current());
}

// The lengths of bars match the numbers next to them.
void PlanPanel::showBars()
{
    const std::vector<PlanBar> bars = planBars(m_context.document);
    const bool costs = !bars.empty() && bars.front().cost;
    m_barsHeading->setText(costs ? tr("Plans by cost") : tr("Plans by bytes moved"));
    m_barsHeading->setToolTip(costs ? tr("Plans are ranked by the part of the time for writing, reading and computing "
                                         "that depends on the cuts. The predicted time covers the whole run.")
                                    : QString());
    m_barsHeading->setVisible(!bars.empty());
    m_bars->setBars(bars);
}

void PlanPanel::refreshStages()
{
    const models::PlanPtr& plan = m_context.document.plan();
    const models::RunLog* log = m_context.document.runLog().get();
    m_stages.setRows(plan ? models::stageRows(*plan, log, m_context.document.lastReport())
                          : std::vector<models::StageRow>());
    const bool again = std::ranges::any_of(m_stages.rows(), [](const auto& row) { return row.recomputed > 0; });
    m_stageTable->setColumnHidden(static_cast<int>(models::StageColumn::Recomputed), !again);
    fitTable(*m_stageTable);
}

// As high as its rows: the panel scrolls instead of the table.
void PlanPanel::fitTable(QTableView& table) const
{
    const int rows = table.model()->rowCount() * table.verticalHeader()->defaultSectionSize();
    table.setFixedHeight(table.horizontalHeader()->sizeHint().height() + 2 * table.frameWidth() + 2 + rows);
}

void PlanPanel::refreshSettings()
{
    const models::Settings& settings = m_context.document.settings();
    const bool optimal = settings.strategy == base::Strategy::Optimal;
    const std::pair wanted{settings.strategy, optimal ? settings.objective : base::Objective::Time};
    const auto* const found = std::ranges::find(offered, wanted);
    m_strategy->setCurrentIndex(found == offered.end() ? 0 : static_cast<int>(found - offered.begin()));
    m_optimum->setEnabled(m_context.document.model() != nullptr && !optimal);
}

void PlanPanel::follow(const Target& target)
{
    Target value = target;
    const models::ModelPtr& model = m_context.document.model();
    if (model && model->ops.contains(target.opId())) {
        const std::vector<protocol::ValueId>& outputs = model->ops[target.opId()].outputs;
        value = outputs.empty() ? Target() : Target::value(outputs.front());
    }
    selectTarget(*m_checkpointTable, value);
    selectTarget(*m_stageTable, target);
}

void PlanPanel::selectRow(const QModelIndex& index)
{
    const QVariant target = index.data(models::TargetRole);
    if (target.isValid()) m_context.selection.reveal(target.value<Target>());
}

const models::CheckpointRow* PlanPanel::currentCheckpoint() const
{
    const QModelIndex index = m_checkpointTable->currentIndex();
    return index.isValid() ? &m_checkpoints.at(index.row()) : nullptr;
}

void PlanPanel::showMenu(const QPoint& at)
{
    const models::CheckpointRow* row = currentCheckpoint();
    if (row == nullptr) return;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("checkpointMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillPinMenu(*menu, m_context, row->value);
    menu->popup(m_checkpointTable->viewport()->mapToGlobal(at));
}

Panel* makePlanPanel(const Context& context, QWidget* parent) { return new PlanPanel(context, parent); }

}  // namespace hopscope::panels
