#include "study/debugger/debug_panel.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QIntValidator>

#include "models/labels.h"
#include "models/op_names.h"
#include "models/roles.h"
#include "study/common/controls.h"

namespace hopscope::study {

namespace {

using models::Target;
using models::text;

QWidget* part(QWidget* parent, const QString& label, std::initializer_list<QWidget*> widgets)
{
    auto* made = new QWidget(parent);
    auto* row = new QHBoxLayout(made);
    row->setContentsMargins(0, 0, 0, 0);
    if (!label.isEmpty()) row->addWidget(new QLabel(label, made));
    for (QWidget* widget : widgets) row->addWidget(widget, qobject_cast<QLineEdit*>(widget) ? 1 : 0);
    return made;
}

}  // namespace

Debugger::Debugger(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("debugger"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    setupChoice(*layout);
    layout->addWidget(setupOptions());
    m_inquiry->addLine(*layout);
    layout->addWidget(setupFindings(), 1);
    layout->addStretch();  // before there are findings
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    forget();
}

void Debugger::setupChoice(QBoxLayout& layout)
{
    m_what = new QComboBox(this);
    m_what->setObjectName(QStringLiteral("debugWhat"));
    m_what->setAccessibleName(tr("Kind of search"));
    m_what->addItem(tr("First difference: this plan and the unsplit model"), static_cast<int>(Hunt::Staged));
    m_what->addItem(tr("First difference: this model and another"), static_cast<int>(Hunt::Against));
    m_what->addItem(tr("Origin of NaN and infinity"), static_cast<int>(Hunt::NonFinite));
    m_what->addItem(tr("Rows of nodes at the selected operator"), static_cast<int>(Hunt::Rows));
    m_what->addItem(tr("Messages into nodes at the selected aggregation"), static_cast<int>(Hunt::Messages));
    m_what->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_what->setMinimumContentsLength(24);
    m_start = button("debugStart", tr("&Search"), {}, this);
    auto* cancel = button("debugCancel", tr("&Cancel"), {}, this);
    m_inquiry = new Inquiry(m_context, QStringLiteral("debug"), tr("Progress of the debugger"), m_start, cancel, this);
    auto* row = new QHBoxLayout;
    row->addWidget(m_what, 1);
    row->addWidget(m_start);
    row->addWidget(cancel);
    layout.addLayout(row);
}

QWidget* Debugger::setupOptions()
{
    m_other = field("debugOther", tr("The other model, a TorchScript file or exported program"), this);
    m_other->setPlaceholderText(tr("The other model (.pt, .pt2)"));
    m_browse = button("debugBrowse", tr("Choose…"), {}, this);
    m_absolute = field("debugAbsolute", tr("Absolute tolerance"), this);
    m_absolute->setText(QStringLiteral("1e-5"));
    m_relative = field("debugRelative", tr("Relative tolerance"), this);
    m_relative->setText(QStringLiteral("1e-4"));
    for (QLineEdit* edit : {m_absolute, m_relative}) edit->setMaximumWidth(110);
    m_nodes = field("debugNodes", tr("Row numbers in the data, separated by commas"), this);
    m_nodes->setPlaceholderText(QStringLiteral("0, 17"));
    m_selected = new panels::ElidedLabel(QStringLiteral("debugSelected"), this);
    auto* options = new QWidget(this);
    auto* column = new QVBoxLayout(options);
    column->setContentsMargins(0, 0, 0, 0);
    m_otherPart = part(options, {}, {m_other, m_browse});
    auto* times = new QLabel(tr("+ relative"), options);
    m_tolerancePart = part(options, tr("Tolerance: absolute"), {m_absolute, times, m_relative});
    static_cast<QHBoxLayout*>(m_tolerancePart->layout())->addStretch(1);
    m_nodesPart = part(options, tr("Nodes"), {m_nodes});
    for (QWidget* each : {m_otherPart, m_tolerancePart, m_nodesPart}) column->addWidget(each);
    column->addWidget(m_selected);
    return options;
}

QWidget* Debugger::setupFindings()
{
    m_found = new QWidget(this);
    m_sentences = new panels::LinkLabel(QStringLiteral("debugSentences"), m_context.selection, m_found);
    m_tableTitle = panels::heading({}, m_found);
    m_tableTitle->setObjectName(QStringLiteral("debugTableTitle"));
    m_tableTitle->setWordWrap(true);
    m_table = panels::makeTable(QStringLiteral("debugFindings"), &m_findings, m_found);
    m_table->setAccessibleName(tr("Findings"));
    m_table->setMinimumHeight(110);
    m_plot = new GrowthPlot(m_found);
    auto* column = new QVBoxLayout(m_found);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(m_sentences);
    column->addWidget(m_plot);
    column->addWidget(m_tableTitle);
    column->addWidget(m_table, 1);
    return m_found;
}

void Debugger::connectParts()
{
    models::Document& document = m_context.document;
    connect(&document, &models::Document::modelChanged, this, &Debugger::forget);
    connect(&document, &models::Document::planChanged, this, &Debugger::refresh);
    connect(&m_context.workbench, &jobs::Workbench::runStateChanged, this, &Debugger::refresh);
    connect(&m_context.workbench, &jobs::Workbench::engineLost, m_inquiry, &Inquiry::cancel);
    connect(&m_context.selection, &models::Selection::changed, this, &Debugger::follow);
    connect(m_what, &QComboBox::currentIndexChanged, this, &Debugger::refresh);
    for (QLineEdit* edit : {m_other, m_absolute, m_relative, m_nodes}) {
        connect(edit, &QLineEdit::textChanged, this, &Debugger::refresh);
        connect(edit, &QLineEdit::returnPressed, this, &Debugger::start);
    }
    connect(m_browse, &QPushButton::clicked, this, &Debugger::otherModelWanted);
    connect(m_start, &QPushButton::clicked, this, &Debugger::start);
    connect(m_inquiry, &Inquiry::changed, this, &Debugger::refresh);
    connect(m_inquiry, &Inquiry::finished, this, &Debugger::finished);
    connect(m_plot, &GrowthPlot::chosen, this,
            [this](protocol::OpId op) { m_context.selection.reveal(Target::op(op)); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        const QVariant target = index.data(models::TargetRole);
        if (target.isValid()) m_context.selection.reveal(target.value<Target>());
    });
}

void Debugger::prepare(Hunt hunt) { m_what->setCurrentIndex(m_what->findData(static_cast<int>(hunt))); }

void Debugger::setNodes(const QString& list) { m_nodes->setText(list); }

void Debugger::setOther(const QString& file) { m_other->setText(file); }

Hunt Debugger::hunt() const { return static_cast<Hunt>(m_what->currentData().toInt()); }

std::optional<schema::ToleranceRecord> Debugger::tolerance() const
{
    bool absolute = false, relative = false;
    schema::ToleranceRecord made;
    made.absolute = m_absolute->text().toDouble(&absolute);
    made.relative = m_relative->text().toDouble(&relative);
    const bool fine = absolute && relative && made.absolute >= 0 && made.relative >= 0;
    return fine ? std::optional(made) : std::nullopt;
}

const protocol::OpRecord* Debugger::selectedOp() const
{
    const models::ModelPtr& model = m_context.document.model();
    if (!model) return nullptr;
    const Target& target = m_context.selection.current();
    protocol::OpId op = target.opId();
    if (model->values.contains(target.valueId())) op = model->values[target.valueId()].producer;
    return model->ops.contains(op) && model->ops[op].computes() ? &model->ops[op] : nullptr;
}

QString Debugger::missing() const
{
    const models::Document& document = m_context.document;
    if (!document.model()) return tr("No model is open.");
    if (document.data().isEmpty()) return tr("Open the model with its graph to find where numbers go wrong.");
    const Hunt wanted = hunt();
    if (wanted != Hunt::Against && !document.plan()) return tr("There is no plan to run.");
    if (m_context.workbench.running()) return tr("A run is in progress.");
    if (wanted == Hunt::Against && m_other->text().trimmed().isEmpty()) return tr("Choose the model to compare with.");
    if ((wanted == Hunt::Against || wanted == Hunt::Staged) && !tolerance())
        return tr("A tolerance is a number that is not negative, such as 1e-5.");
    if (wanted != Hunt::Rows && wanted != Hunt::Messages) return {};
    const protocol::OpRecord* op = selectedOp();
    if (op == nullptr) return tr("Select an operator in the graph.");
    if (wanted == Hunt::Messages && op->kind != protocol::NodeKind::Aggregate)
        return tr("Select an aggregation in the graph.");
    return rowNumbers(m_nodes->text()).empty() ? tr("Enter row numbers of nodes, such as 0, 17.") : QString();
}

QString Debugger::whatItDoes() const
{
    switch (hunt()) {
    case Hunt::Staged:
        return tr("Runs the plan and the same operators on the whole graph, and compares value by value.");
    case Hunt::Against: return tr("Runs both models on these data and compares them operator by operator.");
    case Hunt::NonFinite: return tr("Runs the plan and checks every result for NaN and infinity.");
    case Hunt::Rows: return tr("Runs the plan and shows the rows that the operator computes for these nodes.");
    case Hunt::Messages: break;
    }
    return tr("Runs the plan and shows the contribution of each neighbour to these nodes.");
}

void Debugger::start()
{
    if (busy() || !missing().isEmpty()) return;
    m_found->hide();
    m_inquiry->begin(ask(), whatItDoes());
}

std::int64_t Debugger::ask()
{
    jobs::EngineQueries& queries = m_context.workbench.queries();
    const auto answer = m_inquiry->taking([this](const auto& found) {
        m_found->show();
        show(found);
    });
    switch (hunt()) {
    case Hunt::Staged: return queries.compareStaged(*tolerance(), m_inquiry, answer);
    case Hunt::Against: return queries.compareWith(m_other->text().trimmed(), *tolerance(), m_inquiry, answer);
    case Hunt::NonFinite: return queries.huntNonFinite(m_inquiry, answer);
    case Hunt::Rows:
    case Hunt::Messages: break;
    }
    jobs::WatchQuestion question{.nodes = rowNumbers(m_nodes->text())};
    (hunt() == Hunt::Messages ? question.aggregations : question.values).append(text(selectedOp()->id));
    return queries.watch(question, m_inquiry, answer);
}

void Debugger::show(const schema::DivergenceRecord& found)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_divergence = found;
    m_sentences->setText(sentencesOf(model, found));
    m_plot->display(growthOf(model, found));
    m_plot->setVisible(!found.growth.empty());
    showTable(tableOf(model, found));
    emit compared(found);
    if (found.divergence) revealFirst(found.divergence->place.op);
    else if (found.nodes) revealFirst(found.nodes->place.op);
}

void Debugger::show(const schema::NonFiniteReport& found)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_sentences->setText(sentencesOf(model, found));
    m_plot->hide();
    showTable(tableOf(model, found));
    const auto harmful = std::ranges::find_if(found.makers, &schema::NonFiniteRecord::reachesOutput);
    if (harmful != found.makers.end()) revealFirst(harmful->place.op);
}

void Debugger::show(const schema::WatchReport& found)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_sentences->setText(sentencesOf(model, found));
    m_plot->hide();
    showTable(tableOf(model, found));
}

void Debugger::showTable(FindingTable table)
{
    m_findings.setTable(std::move(table));
    const FindingTable& shown = m_findings.table();
    m_tableTitle->setText(shown.title);
    m_tableTitle->setVisible(!shown.lines.empty());
    m_table->setVisible(!shown.lines.empty());
    m_table->resizeColumnsToContents();
    // The first column, with the names, takes the room that the others leave; otherwise the table scrolls.
    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::Interactive);
    const bool fits = header->length() <= m_table->viewport()->width();
    if (!shown.headers.isEmpty() && fits) header->setSectionResizeMode(0, QHeaderView::Stretch);
}

void Debugger::revealFirst(ir::OpId op)
{
    const protocol::OpId found = m_context.document.model()->findOp(op);
    if (found.valid()) m_context.selection.reveal(Target::op(found));
}

void Debugger::forget()
{
    m_divergence.reset();
    m_found->hide();
    m_findings.setTable({});
    m_plot->display({});
    m_inquiry->forget();
}

void Debugger::refresh()
{
    const Hunt wanted = hunt();
    const bool compares = wanted == Hunt::Staged || wanted == Hunt::Against;
    const bool follows = wanted == Hunt::Rows || wanted == Hunt::Messages;
    m_otherPart->setVisible(wanted == Hunt::Against);
    m_tolerancePart->setVisible(compares);
    m_nodesPart->setVisible(follows);
    m_selected->setVisible(follows && selectedOp() != nullptr);
    if (const protocol::OpRecord* op = selectedOp(); op != nullptr) {
        const protocol::ModelRecord& model = *m_context.document.model();
        m_selected->setFullText(tr("Selected: %1").arg(models::opName(model, model.findOp(op->id))));
    }
    m_inquiry->refresh(missing(), whatItDoes());
}

void Debugger::follow(const Target& target)
{
    m_plot->select(target.opId());
    refresh();
}

panels::Panel* makeDebugger(const panels::Context& context, QWidget* parent) { return new Debugger(context, parent); }

}  // namespace hopscope::study
