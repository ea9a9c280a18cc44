#include "study/rules/rules_panel.h"

#include <QBoxLayout>
#include <algorithm>

#include "base/rules.h"
#include "models/labels.h"
#include "models/problem_model.h"

namespace hopscope::study {

using panels::heading;
using panels::wrapped;

QVariant SummaryModel::cell(const WaySummary& row, SummaryColumn column, int role) const
{
    if (role == Qt::ToolTipRole) return row.values;
    if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
    switch (column) {
    case SummaryColumn::Name: return row.name;
    case SummaryColumn::Stages: return row.stages;
    case SummaryColumn::Stores: return row.stores;
    case SummaryColumn::Moved: return row.moved;
    case SummaryColumn::Again: return row.again;
    case SummaryColumn::Count: break;
    }
    return {};
}

QVariant SummaryModel::header(SummaryColumn column, int role) const
{
    const bool tip = role == Qt::ToolTipRole;
    if (role != Qt::DisplayRole && !tip) return {};
    switch (column) {
    case SummaryColumn::Name: return tip ? tr("How cuts are chosen") : tr("Plan");
    case SummaryColumn::Stages: return tr("Stages");
    case SummaryColumn::Stores: return tip ? tr("Values stored between stages") : tr("Stores");
    case SummaryColumn::Moved:
        return tip ? tr("Bytes written to stores, and read from stores and inputs") : tr("Moves");
    case SummaryColumn::Again:
        return tip ? tr("Operators that a stage recomputes, because their values are not stored") : tr("Recomputes");
    case SummaryColumn::Count: break;
    }
    return {};
}

Rules::Rules(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("rules"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    m_state = wrapped(QStringLiteral("rulesState"), this);
    m_state->setProperty("muted", true);
    m_found = makeContent();
    layout->addWidget(m_state);
    layout->addWidget(m_found);
    layout->addStretch(1);
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    forget();
}

QPushButton* Rules::button(const char* name, const QString& text, const QString& spoken, const QString& tip)
{
    auto* made = new QPushButton(text, this);
    made->setObjectName(QLatin1String(name));
    made->setAccessibleName(spoken);
    made->setToolTip(tip);
    return made;
}

QLayout* Rules::makeChoice()
{
    auto* row = new QHBoxLayout;
    auto* label = new QLabel(tr("&How"), this);
    m_choice = new QComboBox(this);
    m_choice->setObjectName(QStringLiteral("rulesWay"));
    m_choice->setAccessibleName(tr("Strategy whose steps are shown"));
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    label->setBuddy(m_choice);
    m_count = new QLabel(this);
    m_count->setObjectName(QStringLiteral("rulesStep"));
    row->addWidget(label);
    row->addWidget(m_choice);
    row->addStretch(1);
    row->addWidget(m_count);
    return row;
}

QLayout* Rules::makeButtons()
{
    auto* row = new QHBoxLayout;
    m_first = button("rulesFirst", tr("&First"), tr("First step"), tr("Start over"));
    m_back = button("rulesBack", tr("&Back"), tr("Step back"), tr("One step back"));
    m_next = button("rulesNext", tr("&Next"), tr("Next step"), tr("One step forward"));
    m_last = button("rulesLast", tr("&Last"), tr("Last step"), tr("Go to the last step"));
    for (QPushButton* each : {m_first, m_back, m_next, m_last}) row->addWidget(each);
    row->addStretch(1);
    return row;
}

QWidget* Rules::makeContent()
{
    auto* found = new QWidget(this);
    auto* column = new QVBoxLayout(found);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    m_caption = wrapped(QStringLiteral("rulesCaption"), found);
    m_moves = wrapped(QStringLiteral("rulesMoves"), found);
    m_moves->setProperty("muted", true);
    m_table = panels::makeTable(QStringLiteral("rulesTable"), &m_summaries, found);
    m_table->setAccessibleName(tr("Stages, stores, bytes moved and recomputed operators of the plans"));
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    panels::fitColumns(*m_table);
    m_values = wrapped(QStringLiteral("rulesValues"), found);
    column->addLayout(makeChoice());
    column->addLayout(makeButtons());
    column->addWidget(m_caption);
    column->addWidget(m_moves);
    column->addSpacing(8);
    column->addWidget(heading(tr("Side by side"), found));
    column->addWidget(m_table);
    column->addWidget(m_values);
    return found;
}

void Rules::connectParts()
{
    connect(&m_context.document, &models::Document::modelChanged, this, &Rules::forget);
    connect(&m_context.document, &models::Document::planChanged, this, [this] {
        if (m_asked != ends()) forget();
    });
    connect(&m_context.workbench, &jobs::Workbench::engineLost, this, &Rules::forget);
    connect(&m_context.workbench, &jobs::Workbench::engineBack, this, [this] { update(); });
    connect(m_choice, &QComboBox::activated, this, &Rules::chooseWay);
    connect(m_first, &QPushButton::clicked, this, [this] { go(0); });
    connect(m_back, &QPushButton::clicked, this, [this] { go(m_step - 1); });
    connect(m_next, &QPushButton::clicked, this, [this] { go(m_step + 1); });
    connect(m_last, &QPushButton::clicked, this, [this] { go(m_ways[static_cast<std::size_t>(m_way)].steps - 1); });
}

Rules::Ends Rules::ends() const
{
    Ends found;
    for (const base::Strategy strategy : base::references) found.push_back(m_context.document.reference(strategy));
    return found;
}

// True once the plans to compare with are there: the query for the steps follows theirs, so none is computed twice.
bool Rules::mayAsk() const
{
    const models::ModelPtr& model = m_context.document.model();
    return model && model->splittable && m_context.document.plan() && m_context.document.reference(base::rules.back());
}

QString Rules::stateLine() const
{
    const models::ModelPtr& model = m_context.document.model();
    if (!model) return tr("No model is open.");
    if (!model->splittable) return tr("%1: no strategy has a plan for it.").arg(models::refusalTitle(*model));
    if (!m_problem.isEmpty()) return m_problem;
    return m_all ? QString() : tr("Following the strategies…");
}

void Rules::forget()
{
    ++m_number;
    if (const std::int64_t request = std::exchange(m_request, 0)) m_context.workbench.queries().cancel(request);
    m_asked = {};
    m_all.reset();
    m_ways.clear();
    m_problem.clear();
    m_way = m_step = 0;
    m_found->hide();
    m_state->setText(stateLine());
    m_state->show();
    showNothing();
    update();
}

// A panel behind another one's tab is visible all the same, but not painted.
void Rules::paintEvent(QPaintEvent* event)
{
    Panel::paintEvent(event);
    if (mayAsk() && m_asked != ends()) QMetaObject::invokeMethod(this, &Rules::ask, Qt::QueuedConnection);
}

void Rules::setSeen(bool seen)
{
    m_seen = seen;
    if (seen) go(m_step);
    else showNothing();
}

void Rules::showNothing()
{
    m_picture = nullptr;
    emit stepShown({}, nullptr);
}

void Rules::ask()
{
    if (!mayAsk() || m_asked == ends()) return;
    m_asked = ends();
    m_request = m_context.workbench.queries().planSteps(this, [this, number = m_number](const auto& all) {
        if (number == m_number) answered(all);
    });
}

void Rules::answered(const base::Result<plan::Walkthroughs>& all)
{
    m_request = 0;
    if (all) m_all = *all;
    else m_problem = models::sentence(all.error().message);
    m_state->setText(stateLine());
    m_state->setVisible(!m_state->text().isEmpty());
    if (!m_all) return;
    m_ways = waysOf(*m_all);
    m_choice->clear();
    for (const Way& way : m_ways) m_choice->addItem(way.name);
    m_summaries.setRows(summaries(*m_all, m_context.document));
    const int rows = m_summaries.rowCount() * m_table->verticalHeader()->defaultSectionSize();
    m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() + 2 * m_table->frameWidth() + 2 + rows);
    m_found->setVisible(!m_ways.empty());
    if (!m_ways.empty()) chooseWay(0);
}

void Rules::chooseWay(int way)
{
    m_way = way;
    go(0);
}

void Rules::go(int step)
{
    if (!m_all || m_ways.empty()) return;
    const Way& way = m_ways[static_cast<std::size_t>(m_way)];
    m_step = std::clamp(step, 0, way.steps - 1);
    showWords(way);
    if (!m_seen) return;
    m_picture = planAfter(*m_all, way, m_step, *m_context.document.model());
    emit stepShown(tr("%1, step %2 of %3, coloured by stage").arg(way.name).arg(m_step + 1).arg(way.steps), m_picture);
}

void Rules::showWords(const Way& way)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_count->setText(tr("Step %1 of %2").arg(m_step + 1).arg(way.steps));
    m_caption->setText(captionOf(*m_all, way, m_step, model));
    m_moves->setText(movesOf(*m_all, way, m_step, model).join(u'\n'));
    m_moves->setVisible(!m_moves->text().isEmpty());
    const QString values = m_summaries.at(m_way).values;
    m_values->setText(values.isEmpty() ? tr("%1: nothing is stored between stages.").arg(way.name)
                                       : tr("%1: these values are stored: %2.").arg(way.name, values));
    m_table->selectRow(m_way);
    for (QPushButton* each : {m_first, m_back}) each->setEnabled(m_step > 0);
    for (QPushButton* each : {m_next, m_last}) each->setEnabled(m_step + 1 < way.steps);
}

panels::Panel* makeRules(const panels::Context& context, QWidget* parent) { return new Rules(context, parent); }

}  // namespace hopscope::study
