#include "panels/machine_dialog.h"

#include <QHBoxLayout>
#include <QHeaderView>

#include "models/labels.h"
#include "panels/parts.h"

namespace hopscope::panels {

namespace {

using models::text;

constexpr int leastWidth = 420;

// Three digits with an SI prefix: "52.3 G".
QString scaled(double value)
{
    constexpr std::array prefixes{std::pair{1e12, "T"}, std::pair{1e9, "G"}, std::pair{1e6, "M"}};
    for (const auto& [size, prefix] : prefixes)
        if (std::abs(value) >= size)
            return QStringLiteral("%1 %2").arg(value / size, 0, 'g', 3).arg(QLatin1String(prefix));
    return QStringLiteral("%1 ").arg(value, 0, 'g', std::abs(value) < 1000 ? 3 : 6);
}

}  // namespace

QString rateText(const schema::Rate& rate)
{
    const QString unit = text(rate.unit);
    if (unit == QLatin1String("B/s")) return models::formatBytes(rate.value) + QStringLiteral("/s");
    if (unit == QLatin1String("s")) return models::formatSecondsFinely(rate.value);
    return scaled(rate.value) + unit;
}

QString ratesState(const schema::MachineRates& machine)
{
    if (!machine.measured) return MachineDialog::tr("Typical rates: measure this machine for accurate predictions.");
    if (machine.runs == 0) return MachineDialog::tr("Measured on this machine.");
    return machine.runs == 1 ? MachineDialog::tr("Measured on this machine, refined by 1 run.")
                             : MachineDialog::tr("Measured on this machine, refined by %1 runs.").arg(machine.runs);
}

MachineDialog::MachineDialog(const Context& context, QWidget* parent) : QDialog(parent), m_context(context)
{
    setObjectName(QStringLiteral("machineDialog"));
    setWindowTitle(tr("Machine"));
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(8);
    setupRows(*layout);
    setupButtons(*layout);
    setupConnections();
    resize(std::max(leastWidth, sizeHint().width()), 420);
    ask(QStringLiteral("machine/rates"));
}

MachineDialog::~MachineDialog()
{
    if (m_request != 0) m_context.workbench.queries().cancel(m_request);
}

void MachineDialog::setupRows(QBoxLayout& layout)
{
    m_title = title(QStringLiteral("machineTitle"), this);
    m_state = wrapped(QStringLiteral("machineState"), this);
    m_state->setProperty("muted", true);
    m_table = new QTableWidget(0, 2, this);
    m_table->setObjectName(QStringLiteral("machineRates"));
    m_table->setAccessibleName(tr("Rates of the machine"));
    m_table->setHorizontalHeaderLabels({tr("Quantity"), tr("Rate")});
    m_table->horizontalHeaderItem(0)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeaderItem(1)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->verticalHeader()->hide();
    m_table->setShowGrid(false);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setTabKeyNavigation(false);
    fitColumns(*m_table);
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("machineProgress"));
    m_progress->setAccessibleName(tr("Progress of the measurement"));
    m_progress->setTextVisible(false);
    for (QWidget* part : {static_cast<QWidget*>(m_title), static_cast<QWidget*>(m_state),
                          static_cast<QWidget*>(m_table), static_cast<QWidget*>(m_progress)})
        layout.addWidget(part);
}

void MachineDialog::setupButtons(QBoxLayout& layout)
{
    auto* row = new QHBoxLayout;
    const auto add = [&](const char* name, const QString& label, const QString& tip) {
        auto* button = new QPushButton(label, this);
        button->setObjectName(QLatin1String(name));
        button->setAccessibleName(label);
        button->setToolTip(tip);
        button->setAutoDefault(false);
        row->addWidget(button);
        return button;
    };
    m_measure = add("machineMeasure", tr("Measure"), tr("Takes a few seconds; plans and predictions use the result"));
    m_cancel = add("machineCancel", tr("Cancel"), tr("Stop measuring and keep the previous rates"));
    m_forget = add("machineForget", tr("Forget"), tr("Reset to typical rates"));
    row->addStretch(1);
    connect(add("machineClose", tr("Close"), {}), &QPushButton::clicked, this, &QDialog::close);
    layout.addLayout(row);
}

void MachineDialog::setupConnections()
{
    connect(m_measure, &QPushButton::clicked, this, [this] { ask(QStringLiteral("machine/measure")); });
    connect(m_forget, &QPushButton::clicked, this, [this] { ask(QStringLiteral("machine/forget")); });
    connect(m_cancel, &QPushButton::clicked, this, [this] { m_context.workbench.queries().cancel(m_request); });
    connect(&m_context.workbench, &jobs::Workbench::runStateChanged, this, &MachineDialog::refresh);
    connect(&m_context.document, &models::Document::settingsChanged, this, [this] {
        if (m_request == 0 && m_context.document.settings().device != m_device) ask(QStringLiteral("machine/rates"));
    });
    if (m_context.engine != nullptr)
        connect(m_context.engine, &jobs::EngineClient::progressed, this, &MachineDialog::showProgress);
}

void MachineDialog::ask(const QString& method)
{
    m_device = m_context.document.settings().device;
    m_title->setText(tr("Rates of %1").arg(models::text(m_device)));
    m_measuring = method == QLatin1String("machine/measure");
    m_request = m_context.workbench.queries().machine(
        method, this, [this, method](const base::Result<schema::MachineRates>& machine) { answered(method, machine); });
    refresh();
}

void MachineDialog::answered(const QString& method, const base::Result<schema::MachineRates>& machine)
{
    m_request = 0;
    m_measuring = false;
    const bool cancelled = !machine && machine.error().code == base::ErrorCode::Cancelled;
    if (machine) fill(*machine);
    else if (!cancelled) m_state->setText(tr("The engine reports an error: %1").arg(text(machine.error().message)));
    refresh();
    if (machine && method != QLatin1String("machine/rates")) m_context.workbench.planAgain();
}

void MachineDialog::fill(const schema::MachineRates& machine)
{
    m_known = true;
    m_measured = machine.measured;
    m_title->setText(tr("Rates of %1").arg(text(machine.device)));
    m_state->setText(ratesState(machine));
    m_table->setRowCount(static_cast<int>(machine.rates.size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const schema::Rate& rate = machine.rates[static_cast<std::size_t>(row)];
        m_table->setItem(row, 0, new QTableWidgetItem(text(rate.what)));
        auto* value = new QTableWidgetItem(rateText(rate));
        value->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        m_table->setItem(row, 1, value);
    }
}

void MachineDialog::showProgress(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total)
{
    if (request != m_request) return;
    m_progress->setRange(0, static_cast<int>(total));
    m_progress->setValue(static_cast<int>(done));
    m_state->setText(what);
}

void MachineDialog::refresh()
{
    const bool free = m_request == 0 && !m_context.workbench.running();
    m_measure->setEnabled(free && m_known);
    m_forget->setEnabled(free && m_known && m_measured);
    m_cancel->setVisible(m_measuring);
    m_progress->setVisible(m_measuring);
}

void showMachine(const Context& context, QWidget* parent)
{
    auto* dialog = new MachineDialog(context, parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

}  // namespace hopscope::panels
