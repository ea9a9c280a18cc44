#include "study/receptive/receptive_panel.h"

#include <QBoxLayout>
#include <limits>

#include "models/labels.h"
#include "models/problem_model.h"
#include "panels/column_fold.h"
#include "study/receptive/field_text.h"

namespace hopscope::study {

namespace {

using panels::heading;
using panels::wrapped;

// Tables that outputs of the model have rows of.
QStringList outputTables(const protocol::ModelRecord& model)
{
    QStringList tables;
    for (const protocol::OpRecord& op : model.ops) {
        if (op.kind != protocol::NodeKind::Output) continue;
        for (const protocol::ValueId value : op.inputs)
            for (const std::optional<std::string>& space : model.values[value].spaces)
                if (space && !tables.contains(models::text(*space))) tables << models::text(*space);
    }
    return tables;
}

void fitHeight(QTableView& table)
{
    const int rows = table.model()->rowCount() * table.verticalHeader()->defaultSectionSize();
    table.setFixedHeight(table.horizontalHeader()->sizeHint().height() + 2 * table.frameWidth() + 2 + rows);
}

}  // namespace

Receptive::Receptive(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("receptive"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    layout->addLayout(makeChoice());
    m_state = wrapped(QStringLiteral("fieldState"), this);
    m_state->setProperty("muted", true);
    layout->addWidget(m_state);
    m_found = makeContent();
    layout->addWidget(m_found);
    layout->addStretch(1);
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    modelChanged();
}

QLayout* Receptive::makeChoice()
{
    auto* row = new QHBoxLayout;
    auto* label = new QLabel(tr("&Node"), this);
    m_node = new QSpinBox(this);
    m_node->setObjectName(QStringLiteral("fieldNode"));
    m_node->setAccessibleName(tr("Number of the node"));
    m_node->setToolTip(tr("Row number in the data, from 0; Enter looks it up"));
    m_node->setKeyboardTracking(false);
    m_node->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("100000000")) + 40);
    label->setBuddy(m_node);
    m_table = new QComboBox(this);
    m_table->setObjectName(QStringLiteral("fieldTable"));
    m_table->setAccessibleName(tr("Table of the node"));
    m_random = new QPushButton(tr("&Random node"), this);
    m_random->setObjectName(QStringLiteral("fieldRandom"));
    m_random->setAccessibleName(tr("Random node"));
    m_random->setToolTip(tr("Choose another node at random"));
    row->addWidget(label);
    row->addWidget(m_node);
    row->addWidget(m_table);
    row->addWidget(m_random);
    row->addStretch(1);
    return row;
}

QWidget* Receptive::makeContent()
{
    auto* found = new QWidget(this);
    auto* column = new QVBoxLayout(found);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    m_meaning = wrapped(QStringLiteral("fieldMeaning"), found);
    m_flow = new FieldFlow(found);
    m_rounds = panels::makeTable(QStringLiteral("fieldRounds"), &m_rows, found);
    m_rounds->setAccessibleName(tr("Hops of the receptive field"));
    m_rounds->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    panels::fitColumns(*m_rounds);
    new panels::ColumnFold(*m_rounds, {static_cast<int>(FieldColumn::Share), static_cast<int>(FieldColumn::Bytes)});
    m_levelTitle = heading({}, found);
    m_levelTitle->setObjectName(QStringLiteral("fieldLevel"));
    m_numbers = new QPlainTextEdit(found);
    m_numbers->setObjectName(QStringLiteral("fieldNumbers"));
    m_numbers->setAccessibleName(tr("Rows and edges of the hop by their numbers in the data"));
    m_numbers->setReadOnly(true);
    m_numbers->setTabChangesFocus(true);
    m_numbers->setFixedHeight(6 * fontMetrics().height() + 16);
    m_explosion = makeExplosion(found);
    for (QWidget* part :
         {static_cast<QWidget*>(m_meaning), static_cast<QWidget*>(m_flow), m_explosion, static_cast<QWidget*>(m_rounds),
          static_cast<QWidget*>(m_levelTitle), static_cast<QWidget*>(m_numbers)})
        column->addWidget(part);
    return found;
}

QWidget* Receptive::makeExplosion(QWidget* parent)
{
    auto* part = new QWidget(parent);
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 6, 0, 6);
    m_plot = new ExplosionPlot(part);
    m_averages = wrapped(QStringLiteral("fieldAverages"), part);
    column->addWidget(heading(tr("Neighbour explosion"), part));
    column->addWidget(m_plot);
    column->addWidget(m_averages);
    return part;
}

void Receptive::connectParts()
{
    connect(&m_context.document, &models::Document::modelChanged, this, &Receptive::modelChanged);
    connect(&m_context.workbench, &jobs::Workbench::engineLost, this, &Receptive::cancel);
    connect(&m_context.workbench, &jobs::Workbench::engineBack, this, &Receptive::engineBack);
    connect(m_node, &QSpinBox::valueChanged, this, &Receptive::askForNode);
    connect(m_table, &QComboBox::activated, this, [this] { askForRandom(); });
    connect(m_random, &QPushButton::clicked, this, [this] {
        ++m_seed;
        askForRandom();
    });
    connect(m_flow, &FieldFlow::levelChosen, this, &Receptive::showLevel);
    connect(m_rounds->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& index) {
                if (index.isValid()) m_flow->choose(m_rows.at(index.row()).level);
            });
}

void Receptive::setTheme(const style::Theme& theme)
{
    m_flow->setTheme(theme);
    m_plot->setTheme(theme);
}

// A query lost with the engine is sent again when the panel is visible.
void Receptive::engineBack()
{
    if (m_field == nullptr) m_model = nullptr;
    update();
}

bool Receptive::mayAsk() const
{
    const models::ModelPtr& model = m_context.document.model();
    return model && model->splittable && !m_context.document.data().isEmpty();
}

QString Receptive::stateLine() const
{
    const models::ModelPtr& model = m_context.document.model();
    if (!model) return tr("No model is open.");
    if (m_context.document.data().isEmpty())
        return tr("Open the model with its graph to see the receptive field of a node.");
    if (!model->splittable) return tr("%1: there are no receptive fields.").arg(models::refusalTitle(*model));
    if (!m_problem.isEmpty()) return m_problem;
    if (m_request != 0) return tr("Walking back from the result…");
    return m_average != 0 ? tr("Averaging over the nodes of the graph…") : QString();
}

void Receptive::modelChanged()
{
    cancel();
    m_model = nullptr;
    m_problem.clear();
    m_known = {};
    m_seed = 1;
    const bool may = mayAsk();
    const QStringList tables = may ? outputTables(*m_context.document.model()) : QStringList();
    m_table->clear();
    m_table->addItems(tables);
    m_table->setVisible(tables.size() > 1);
    for (QWidget* part : {static_cast<QWidget*>(m_node), static_cast<QWidget*>(m_random)}) part->setEnabled(may);
    show(nullptr);
}

// A panel behind another one's tab is visible all the same, but not painted.
void Receptive::paintEvent(QPaintEvent* event)
{
    Panel::paintEvent(event);
    const void* model = m_context.document.model().get();
    if (!mayAsk() || m_model == model) return;
    m_model = model;
    QMetaObject::invokeMethod(this, &Receptive::askForRandom, Qt::QueuedConnection);
}

void Receptive::look(qint64 node)
{
    m_model = m_context.document.model().get();
    ask({.table = m_table->currentText(), .node = node, .seed = m_seed, .average = false});
}

void Receptive::askForNode() { look(m_node->value()); }

void Receptive::askForRandom()
{
    ask({.table = m_table->currentText(), .node = std::nullopt, .seed = m_seed, .average = false});
}

void Receptive::ask(const jobs::FieldQuestion& question)
{
    if (!mayAsk()) return;
    cancel();
    m_problem.clear();
    m_request =
        m_context.workbench.queries().receptiveField(question, this, [this, number = m_number](const auto& field) {
            if (number == m_number) answered(field);
        });
    m_state->setText(stateLine());
    m_state->show();
}

void Receptive::cancel()
{
    ++m_number;
    for (std::int64_t* request : {&m_request, &m_average})
        if (const std::int64_t number = std::exchange(*request, 0); number != 0)
            m_context.workbench.queries().cancel(number);
}

void Receptive::answered(const base::Result<schema::ReceptiveField>& field)
{
    m_request = 0;
    if (!field) {
        m_problem = models::sentence(field.error().message);
        return show(nullptr);
    }
    auto found = std::make_shared<schema::ReceptiveField>(*field);
    if (m_field && m_field->table != found->table) m_known = {};
    found->explosion = m_known;
    show(found);
    if (m_known.means.empty()) askForAverage();
}

void Receptive::askForAverage()
{
    m_average = m_context.workbench.queries().receptiveField(
        {.table = m_table->currentText(), .node = m_field->node, .seed = 1, .average = true}, this,
        [this, number = m_number](const auto& field) {
            if (number == m_number) averaged(field);
        });
    m_state->setText(stateLine());
    m_state->show();
}

void Receptive::averaged(const base::Result<schema::ReceptiveField>& field)
{
    m_average = 0;
    if (field && m_field && field->table == m_field->table) {
        m_known = field->explosion;
        auto found = std::make_shared<schema::ReceptiveField>(*m_field);
        found->explosion = m_known;
        m_field = found;
    }
    if (!field) m_problem = models::sentence(field.error().message);
    show(m_field);
}

void Receptive::show(FieldPtr field)
{
    m_field = std::move(field);
    m_found->setVisible(m_field != nullptr);
    m_state->setText(stateLine());
    m_state->setVisible(!m_state->text().isEmpty());
    m_flow->display(m_field);
    m_rows.setRows(m_field ? fieldRows(*m_field) : std::vector<FieldRow>());
    fitHeight(*m_rounds);
    if (!m_field) return;
    const QSignalBlocker quiet(m_node);
    m_node->setRange(0, static_cast<int>(std::min<std::int64_t>(m_field->nodes - 1, std::numeric_limits<int>::max())));
    m_node->setValue(static_cast<int>(m_field->node));
    QStringList sentences{fieldSentence(*m_field), blockSentence(*m_field)};
    for (const std::string& note : m_field->notes) sentences << models::sentence(note);
    m_meaning->setText(sentences.join(u' '));
    m_explosion->setVisible(!m_field->explosion.means.empty());
    m_plot->display(*m_field);
    m_averages->setText(explosionSentences(*m_field).join(u'\n'));
    showLevel(m_flow->chosen());
}

void Receptive::showLevel(int level)
{
    if (!m_field) return;
    const schema::FieldLevel& shown = m_field->levels[static_cast<std::size_t>(level)];
    m_levelTitle->setText(level == 0 ? tr("The result, by numbers in the data")
                                     : tr("Rows of %1, by numbers in the data").arg(roundName(shown.depth, false)));
    m_numbers->setPlainText(levelText(*m_field, level));
    const QSignalBlocker quiet(m_rounds->selectionModel());
    m_rounds->viewport()->update();
    for (int row = 0; row < m_rows.rowCount(); ++row)
        if (m_rows.at(row).level == level) return m_rounds->selectRow(row);
}

panels::Panel* makeReceptive(const panels::Context& context, QWidget* parent) { return new Receptive(context, parent); }

}  // namespace hopscope::study
