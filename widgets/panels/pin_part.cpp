#include "panels/pin_part.h"

#include <QHBoxLayout>
#include <QKeyEvent>

#include "models/pin_menu.h"
#include "panels/parts.h"

namespace hopscope::panels {

void fillPinMenu(QMenu& menu, const Context& context, protocol::ValueId value)
{
    const protocol::ModelRecord& model = *context.document.model();
    const models::Settings& settings = context.document.settings();
    jobs::Workbench* workbench = &context.workbench;
    models::addPinChoices(menu,
                          models::pinChoices(model, *context.document.plan(), settings.pins,
                                             models::placeOf(model, value), !base::isRule(settings.strategy)),
                          [workbench](const plan::Pin& pin) { workbench->togglePin(pin); });
    QAction* release = menu.addAction(PinList::tr("Let the Strategy Decide"));
    release->setObjectName(QStringLiteral("pin.release"));
    release->setEnabled(models::isPinned(settings.pins, value));
    QObject::connect(release, &QAction::triggered, workbench, [workbench, value] { workbench->unpin(value); });
}

PinList::PinList(const Context& context, QWidget* parent) : QWidget(parent), m_context(context)
{
    setObjectName(QStringLiteral("pinList"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(6);
    m_heading = heading(tr("Your pins"), this);
    m_table = makeTable(QStringLiteral("pins"), &m_pins, this);
    m_table->setAccessibleName(tr("Pins"));
    m_table->setToolTip(tr("Press Delete to remove a pin"));
    m_table->horizontalHeader()->hide();
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    fitColumns(*m_table);
    auto* stages = new QHBoxLayout;
    m_stages = wrapped(QStringLiteral("stagesAllowed"), this);
    m_fewest = new QToolButton(this);
    m_fewest->setObjectName(QStringLiteral("fewestStages"));
    m_fewest->setText(tr("As few as needed"));
    m_fewest->setAccessibleName(tr("Use as few stages as needed"));
    stages->addWidget(m_stages, 1);
    stages->addWidget(m_fewest);
    column->addWidget(m_heading);
    column->addWidget(m_table);
    column->addLayout(stages);
    connect(m_table, &QTableView::clicked, this, &PinList::clicked);
    connect(m_fewest, &QToolButton::clicked, this, [this] { m_context.workbench.setStages(std::nullopt); });
    connect(&context.document, &models::Document::settingsChanged, this, &PinList::refresh);
    connect(&context.document, &models::Document::modelChanged, this, &PinList::refresh);
    refresh();
}

void PinList::refresh()
{
    const models::ModelPtr& model = m_context.document.model();
    const models::Settings& settings = m_context.document.settings();
    m_pins.setRows(model ? models::pinRows(*model, settings.pins) : std::vector<models::PinRow>());
    const int rows = m_pins.rowCount();
    m_table->setFixedHeight(2 * m_table->frameWidth() + 2 + rows * m_table->verticalHeader()->defaultSectionSize());
    m_table->setVisible(rows > 0);
    m_stages->setText(settings.stages ? tr("Up to %1 stages").arg(*settings.stages) : QString());
    for (QWidget* part : {static_cast<QWidget*>(m_stages), static_cast<QWidget*>(m_fewest)})
        part->setVisible(settings.stages.has_value());
    setVisible(model && (rows > 0 || settings.stages));
}

void PinList::clicked(const QModelIndex& index)
{
    if (index.column() == static_cast<int>(models::PinColumn::Remove)) return remove(index.row());
    m_context.selection.reveal(index.data(models::TargetRole).value<models::Target>());
}

void PinList::remove(int row)
{
    const plan::Pin pin = m_pins.at(row).pin;
    m_context.workbench.togglePin(pin);
}

void PinList::keyPressEvent(QKeyEvent* event)
{
    const QModelIndex current = m_table->currentIndex();
    if (event->key() == Qt::Key_Delete && current.isValid()) return remove(current.row());
    QWidget::keyPressEvent(event);
}

}  // namespace hopscope::panels
