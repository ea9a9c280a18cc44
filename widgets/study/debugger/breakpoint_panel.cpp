#include "study/debugger/breakpoint_panel.h"

#include <QBoxLayout>

#include "models/labels.h"
#include "models/run_log.h"
#include "study/common/controls.h"

namespace hopscope::study {

using models::BreakOn;
using models::Breakpoint;
using models::Target;

BreakpointPanel::BreakpointPanel(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("breakpoints"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    m_state = new panels::LinkLabel(QStringLiteral("breakState"), m_context.selection, this);
    layout->addWidget(m_state);
    setupSteps(*layout);
    setupList(*layout);
    layout->addWidget(setupCondition());
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    showList();
    showState();
}

void BreakpointPanel::setupSteps(QBoxLayout& layout)
{
    m_operator = button("breakStepOperator", tr("Step &operator"),
                        tr("Compute one more operator, or start with the first"), this);
    m_batch =
        button("breakStepBatch", tr("Step &batch"), tr("Compute the rest of this batch, or the first batch"), this);
    m_goOn = button("breakGoOn", tr("&Continue"), tr("Run to the next breakpoint, or to the end"), this);
    auto* row = new QHBoxLayout;
    for (QPushButton* each : {m_operator, m_batch, m_goOn}) row->addWidget(each);
    row->addStretch(1);
    layout.addLayout(row);
}

void BreakpointPanel::setupList(QBoxLayout& layout)
{
    m_list = new QListWidget(this);
    m_list->setObjectName(QStringLiteral("breakList"));
    m_list->setAccessibleName(tr("Breakpoints"));
    m_list->setMinimumHeight(90);
    m_add = button("breakAdd", tr("&Add"),
                   tr("Stop after the selected operator, or after each operator of the selected stage"), this);
    m_remove = button("breakRemove", tr("&Remove"), tr("Remove this breakpoint"), this);
    auto* row = new QHBoxLayout;
    row->addWidget(panels::heading(tr("Breakpoints"), this), 1);
    row->addWidget(m_add);
    row->addWidget(m_remove);
    layout.addLayout(row);
    layout.addWidget(m_list, 1);
}

QWidget* BreakpointPanel::setupCondition()
{
    m_edit = new QWidget(this);
    m_condition = new QComboBox(m_edit);
    m_condition->setObjectName(QStringLiteral("breakCondition"));
    m_condition->setAccessibleName(tr("Condition of the breakpoint"));
    m_condition->addItem(tr("Always"), static_cast<int>(BreakOn::Always));
    m_condition->addItem(tr("On NaN or infinity"), static_cast<int>(BreakOn::NotFinite));
    m_condition->addItem(tr("Outside a range"), static_cast<int>(BreakOn::OutsideRange));
    m_condition->addItem(tr("In the batch of a node"), static_cast<int>(BreakOn::Node));
    m_least = field("breakLeast", tr("Smallest allowed number"), m_edit);
    m_most = field("breakMost", tr("Largest allowed number"), m_edit);
    m_node = field("breakNode", tr("Row number of the node in the data"), m_edit);
    for (QLineEdit* each : {m_least, m_most, m_node}) each->setMaximumWidth(120);
    auto* row = new QHBoxLayout(m_edit);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(new QLabel(tr("Stop"), m_edit));
    row->addWidget(m_condition);
    for (QLineEdit* each : {m_least, m_most, m_node}) row->addWidget(each, 1);
    row->addStretch(1);
    return m_edit;
}

void BreakpointPanel::connectParts()
{
    models::Document& document = m_context.document;
    jobs::Workbench* bench = &m_context.workbench;
    connect(&document, &models::Document::settingsChanged, this, &BreakpointPanel::showList);
    connect(&document, &models::Document::planChanged, this, &BreakpointPanel::showState);
    connect(bench, &jobs::Workbench::runStateChanged, this, &BreakpointPanel::showState);
    connect(&document, &models::Document::runChanged, this, [this] {
        if (const auto& log = m_context.document.runLog())
            connect(log.get(), &models::RunLog::stopped, this, &BreakpointPanel::showState);
    });
    connect(&m_context.selection, &models::Selection::changed, this, &BreakpointPanel::showState);
    connect(m_list, &QListWidget::currentRowChanged, this, &BreakpointPanel::showCondition);
    connect(m_list, &QListWidget::itemActivated, this, [this] {
        if (const Breakpoint* chosen = current()) m_context.selection.reveal(chosen->place);
    });
    connect(m_add, &QPushButton::clicked, this, &BreakpointPanel::addSelected);
    connect(m_remove, &QPushButton::clicked, this, &BreakpointPanel::removeCurrent);
    connect(m_condition, &QComboBox::currentIndexChanged, this, &BreakpointPanel::takeCondition);
    for (QLineEdit* each : {m_least, m_most, m_node})
        connect(each, &QLineEdit::editingFinished, this, &BreakpointPanel::takeNumbers);
    connect(m_operator, &QPushButton::clicked, bench, [bench] { bench->step(protocol::RunStep::Operator); });
    connect(m_batch, &QPushButton::clicked, bench, [bench] { bench->step(protocol::RunStep::Batch); });
    connect(m_goOn, &QPushButton::clicked, bench, [this, bench] {
        if (bench->running()) bench->resume();
        else bench->startRun();
    });
}

const Breakpoint* BreakpointPanel::current() const
{
    const auto& all = m_context.document.settings().breakpoints;
    const int row = m_list->currentRow();
    return row >= 0 && row < static_cast<int>(all.size()) ? &all[static_cast<std::size_t>(row)] : nullptr;
}

void BreakpointPanel::addSelected()
{
    const Target place = models::breakPlace(*m_context.document.model(), m_context.selection.current());
    std::vector<Breakpoint> all = m_context.document.settings().breakpoints;
    if (place.kind == Target::Kind::None || models::breakpointAt(all, place) != nullptr) return;
    all.push_back({.place = place});
    set(std::move(all));
    m_list->setCurrentRow(m_list->count() - 1);
}

void BreakpointPanel::removeCurrent()
{
    if (const Breakpoint* chosen = current())
        set(models::toggled(m_context.document.settings().breakpoints, chosen->place));
}

void BreakpointPanel::set(std::vector<Breakpoint> breakpoints)
{
    models::Settings settings = m_context.document.settings();
    settings.breakpoints = std::move(breakpoints);
    m_context.workbench.setRunSettings(settings);
}

void BreakpointPanel::change(const Breakpoint& breakpoint)
{
    std::vector<Breakpoint> all = m_context.document.settings().breakpoints;
    all[static_cast<std::size_t>(m_list->currentRow())] = breakpoint;
    set(std::move(all));
}

void BreakpointPanel::takeCondition()
{
    if (m_filling || current() == nullptr) return;
    Breakpoint changed = *current();
    changed.condition = static_cast<BreakOn>(m_condition->currentData().toInt());
    change(changed);
}

// Text that is not a number is reset.
void BreakpointPanel::takeNumbers()
{
    if (m_filling || current() == nullptr) return;
    Breakpoint changed = *current();
    bool least = false, most = false, node = false;
    const double from = m_least->text().toDouble(&least), to = m_most->text().toDouble(&most);
    const qint64 number = m_node->text().toLongLong(&node);
    if (least) changed.least = from;
    if (most) changed.most = to;
    if (node && number >= 0) changed.node = number;
    change(changed);
    showCondition();
}

void BreakpointPanel::showList()
{
    const int row = m_list->currentRow();
    const auto& all = m_context.document.settings().breakpoints;
    m_filling = true;
    m_list->clear();
    for (const Breakpoint& each : m_context.document.model() ? all : std::vector<Breakpoint>()) {
        const QString place = models::placeText(*m_context.document.model(), each.place);
        const QString condition = models::conditionText(each);
        m_list->addItem(condition.isEmpty() ? place : tr("%1, %2").arg(place, condition));
    }
    if (m_list->count() > 0) m_list->setCurrentRow(std::clamp(row, 0, m_list->count() - 1));
    m_filling = false;
    showCondition();
    showState();
}

void BreakpointPanel::showCondition()
{
    const Breakpoint* chosen = current();
    m_edit->setVisible(chosen != nullptr);
    m_remove->setEnabled(chosen != nullptr);
    if (chosen == nullptr) return;
    m_filling = true;
    m_condition->setCurrentIndex(m_condition->findData(static_cast<int>(chosen->condition)));
    m_least->setText(QString::number(chosen->least));
    m_most->setText(QString::number(chosen->most));
    m_node->setText(QString::number(chosen->node));
    for (QLineEdit* each : {m_least, m_most}) each->setVisible(chosen->condition == BreakOn::OutsideRange);
    m_node->setVisible(chosen->condition == BreakOn::Node);
    m_filling = false;
}

QString BreakpointPanel::stateText() const
{
    const models::Document& document = m_context.document;
    if (!document.model()) return tr("No model is open.");
    if (document.data().isEmpty()) return tr("Open the model with its graph to run it.");
    const auto& log = document.runLog();
    if (m_context.workbench.running() && log && log->stop()) {
        const protocol::StopEvent& stop = *log->stop();
        const protocol::ValueId value = document.model()->findValue(stop.value);
        if (!value.valid()) return tr("Stopped.");
        const QString name = models::valueLabel(*document.model(), value);
        return tr("%1 after %2, in batch %3 of stage %4. The panel Tensor shows its result.")
            .arg(stop.breakpoint ? tr("Stopped") : tr("Stepped to"), panels::link(Target::value(value), name))
            .arg(stop.batch)
            .arg(stop.stage.number);
    }
    if (m_context.workbench.running()) return tr("A run is in progress.");
    if (document.settings().breakpoints.empty())
        return tr(
            "Select an operator or a stage and press F7: runs stop after the operator, or after each operator of the "
            "stage. Without breakpoints, runs are not slowed down.");
    return tr("The next run stops at these breakpoints. It runs on the CPU, one operator at a time.");
}

void BreakpointPanel::showState()
{
    const models::Document& document = m_context.document;
    const auto& log = document.runLog();
    const bool running = m_context.workbench.running();
    const bool paused = running && log && log->state() == protocol::RunState::Paused;
    const bool can = document.plan() && !document.data().isEmpty() && (!running || paused);
    m_state->setText(stateText());
    for (QPushButton* each : {m_operator, m_batch, m_goOn}) each->setEnabled(can);
    m_add->setEnabled(document.model() &&
                      models::breakPlace(*document.model(), m_context.selection.current()).kind != Target::Kind::None);
}

panels::Panel* makeBreakpoints(const panels::Context& context, QWidget* parent)
{
    return new BreakpointPanel(context, parent);
}

}  // namespace hopscope::study
