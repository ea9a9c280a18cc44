#include "panels/run_controls.h"

#include <QFileDialog>
#include <QRegularExpressionValidator>

#include "base/units.h"
#include "models/labels.h"
#include "models/run_log.h"
#include "panels/flow_layout.h"
#include "panels/more_settings.h"
#include "panels/parts.h"
#include "style/icon.h"

namespace hopscope::panels {

namespace {

using protocol::RunState;

RunState stateOf(const models::Document& document)
{
    return document.runLog() ? document.runLog()->state() : RunState::Finished;
}

QString stringOf(const json::Value& value, const char* key)
{
    const json::Value* found = value.find(key);
    return found != nullptr && found->asString() != nullptr ? models::text(*found->asString()) : QString();
}

QString deviceTitle(const json::Value& device)
{
    const QString id = stringOf(device, "id"), name = stringOf(device, "name");
    QString title = name.isEmpty() || name == id ? id : name + QStringLiteral(" · ") + id;
    const json::Value* memory = device.find("memory");
    if (memory != nullptr && memory->asInt() != nullptr && *memory->asInt() > 0)
        title += QStringLiteral(" · ") + models::formatBytes(static_cast<double>(*memory->asInt()));
    return title;
}

QString deviceTip(const json::Value& device)
{
    const QString driver = stringOf(device, "driver");
    return driver.isEmpty() ? QString() : RunControls::tr("driver %1").arg(driver);
}

std::optional<std::int64_t> sizeOf(const QString& text)
{
    const auto size = base::parseSize(text.trimmed().toStdString());
    return size ? std::optional(*size) : std::nullopt;
}

// In the form that the user types.
QString sizeText(const std::optional<std::int64_t>& bytes)
{
    return bytes ? models::text(base::exactSize(*bytes)) : QString();
}

}  // namespace

std::vector<DeviceChoice> deviceChoices(const json::Value& serverInfo)
{
    std::vector<DeviceChoice> choices{{QStringLiteral("auto"), RunControls::tr("auto")}};
    const json::Value* devices = serverInfo.find("devices");
    if (devices != nullptr && devices->asArray() != nullptr)
        for (const json::Value& device : *devices->asArray())
            if (const QString id = stringOf(device, "id"); !id.isEmpty())
                choices.push_back({.id = id, .title = deviceTitle(device), .tip = deviceTip(device)});
    if (choices.size() == 1) choices.push_back({QStringLiteral("cpu"), QStringLiteral("cpu")});
    return choices;
}

QString missingDevices(const json::Value& serverInfo)
{
    const json::Value* missing = serverInfo.find("missing");
    QStringList sentences;
    if (missing != nullptr && missing->asArray() != nullptr)
        for (const json::Value& sentence : *missing->asArray())
            if (sentence.asString() != nullptr) sentences << models::text(*sentence.asString());
    return sentences.isEmpty() ? QString() : RunControls::tr("GPU: %1").arg(sentences.join(QStringLiteral("; ")));
}

QString workersText(const json::Value& serverInfo)
{
    const json::Value* workers = serverInfo.find("workers");
    if (workers == nullptr || !workers->isObject()) return {};
    const json::Value* count = workers->find("count");
    if (count != nullptr && count->asInt() != nullptr)
        return *count->asInt() == 1 ? RunControls::tr("1 worker") : RunControls::tr("%1 workers").arg(*count->asInt());
    return RunControls::tr("workers at %1").arg(stringOf(*workers, "address"));
}

RunButtons runButtons(bool hasPlan, bool busy, bool running, RunState state, bool pauses)
{
    RunButtons may;
    may.start = hasPlan && !busy && !running;
    may.settings = !running;
    may.stop = running;
    may.pause = pauses && running && state == RunState::Running;
    may.resume = running && state == RunState::Paused;
    may.step = pauses && (may.start || may.resume);
    return may;
}

RunControls::RunControls(const Context& context, QWidget* parent) : QWidget(parent), m_context(context)
{
    setObjectName(QStringLiteral("runControls"));
    new FlowLayout(this);
    setupSettings();
    setupOutput();
    setupButtons();
    setupConnections();
    fillDevices();
    showSettings();
    refresh();
}

// A group of widgets that stay together when the row wraps.
QBoxLayout& RunControls::addGroup()
{
    auto* group = new QWidget(this);
    auto* row = new QHBoxLayout(group);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    layout()->addWidget(group);
    return *row;
}

void RunControls::setupSettings()
{
    const auto add = [&](QWidget* field, const char* name, const QString& label, const QString& tip) {
        field->setObjectName(QString::fromLatin1(name));
        field->setAccessibleName(label);
        field->setToolTip(tip);
        QBoxLayout& row = addGroup();
        row.addWidget(mutedLabel(label, this));
        row.addWidget(field);
    };
    m_device = new QComboBox(this);
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    add(m_device, "device", tr("Device"), tr("Executing device"));
    m_machine = new QToolButton(this);
    m_machine->setObjectName(QStringLiteral("machine"));
    m_machine->setText(tr("Machine…"));
    m_machine->setAccessibleName(tr("Machine"));
    m_machine->setToolTip(tr("Rates of the device, typical or measured, on which plans are based"));
    m_device->parentWidget()->layout()->addWidget(m_machine);
    m_memory = new QLineEdit(this);
    m_memory->setPlaceholderText(tr("no limit"));
    m_memory->setMaximumWidth(fontMetrics().horizontalAdvance(QStringLiteral("no limit MiB")) + 16);
    m_memory->setValidator(new QRegularExpressionValidator(
        QRegularExpression(QStringLiteral("\\s*([0-9.]+\\s*[KMGTkmgt]?i?[Bb]?)?\\s*")), m_memory));
    add(m_memory, "memory", tr("Memory"), tr("Memory limit of the device: 500M, 7.2Gi; empty: none"));
    m_batch = new QLineEdit(this);
    m_batch->setPlaceholderText(tr("auto"));
    m_batch->setMaximumWidth(fontMetrics().horizontalAdvance(QStringLiteral("10000000")) + 16);
    m_batch->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,12}")), m_batch));
    add(m_batch, "batch", tr("Batch"), tr("Destination nodes per batch; empty: chosen automatically"));
    m_verify = new QComboBox(this);
    m_verify->addItem(tr("sample"), static_cast<int>(base::VerifyMode::Sample));
    m_verify->addItem(tr("full"), static_cast<int>(base::VerifyMode::Full));
    m_verify->addItem(tr("none"), static_cast<int>(base::VerifyMode::None));
    add(m_verify, "verify", tr("Verify"), tr("How much to compare with the unsplit model"));
    m_more = new QToolButton(this);
    m_more->setObjectName(QStringLiteral("more"));
    m_more->setToolTip(tr("Further settings of plans and runs"));
    m_verify->parentWidget()->layout()->addWidget(m_more);
}

void RunControls::setupOutput()
{
    QBoxLayout& row = addGroup();
    m_output = new QLineEdit(this);
    m_output->setObjectName(QStringLiteral("output"));
    m_output->setPlaceholderText(tr("not kept"));
    m_output->setAccessibleName(tr("Output folder"));
    m_output->setToolTip(tr("Folder for results and report; empty: do not keep them"));
    m_output->setMinimumWidth(120);
    m_browse = new QToolButton(this);
    m_browse->setObjectName(QStringLiteral("browseOutput"));
    m_browse->setText(QStringLiteral("..."));
    m_browse->setAccessibleName(tr("Choose the output folder"));
    row.addWidget(mutedLabel(tr("Output"), this));
    row.addWidget(m_output);
    row.addWidget(m_browse);
}

QPushButton* RunControls::addButton(QBoxLayout& row, const char* name, const QString& label, const QString& tip)
{
    auto* button = new QPushButton(label, this);
    button->setObjectName(QString::fromLatin1(name));
    button->setAccessibleName(label);
    button->setToolTip(tip);
    row.addWidget(button);
    return button;
}

void RunControls::setupButtons()
{
    QBoxLayout& row = addGroup();
    m_start = addButton(row, "start", tr("Start"), tr("Run all stages"));
    m_start->setProperty("primary", true);
    m_pause = addButton(row, "pause", tr("Pause"), tr("Pause after the current batch"));
    m_stepBatch = addButton(row, "stepBatch", tr("Step batch"), {});
    m_stepStage = addButton(row, "stepStage", tr("Step stage"), {});
    m_stop = addButton(row, "stop", tr("Stop"), tr("Stop the run; its results are discarded unless it can be resumed"));
    const QString resume = tr("Resume");
    m_pause->setMinimumWidth(
        std::max(m_pause->sizeHint().width(), m_pause->fontMetrics().horizontalAdvance(resume) + 36));
}

void RunControls::setupConnections()
{
    jobs::Workbench* workbench = &m_context.workbench;
    connect(m_start, &QPushButton::clicked, workbench, [workbench] { workbench->startRun(); });
    connect(m_pause, &QPushButton::clicked, this, &RunControls::pauseOrResume);
    connect(m_stepBatch, &QPushButton::clicked, workbench, [workbench] { workbench->step(protocol::RunStep::Batch); });
    connect(m_stepStage, &QPushButton::clicked, workbench, [workbench] { workbench->step(protocol::RunStep::Stage); });
    connect(m_stop, &QPushButton::clicked, workbench, &jobs::Workbench::stopRun);
    connect(workbench, &jobs::Workbench::runStateChanged, this, &RunControls::refresh);
    connect(&m_context.document, &models::Document::planChanged, this, &RunControls::refresh);
    connect(&m_context.document, &models::Document::settingsChanged, this, &RunControls::showSettings);
    for (QComboBox* box : {m_device, m_verify}) connect(box, &QComboBox::activated, this, &RunControls::applySettings);
    for (QLineEdit* field : {m_memory, m_batch, m_output})
        connect(field, &QLineEdit::editingFinished, this, &RunControls::applySettings);
    connect(m_browse, &QToolButton::clicked, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Output folder"), m_output->text());
        if (folder.isEmpty()) return;
        m_output->setText(folder);
        applySettings();
    });
    connect(m_machine, &QToolButton::clicked, this, [this] { showMachine(m_context, this); });
    connect(m_more, &QToolButton::clicked, this, [this] { showMoreSettings(m_context, this); });
    if (m_context.engine != nullptr)
        connect(m_context.engine, &jobs::EngineClient::stateChanged, this, [this] {
            fillDevices();
            refresh();
        });
}

void RunControls::setTheme(const style::Theme& theme)
{
    const std::array icons{std::pair{m_pause, "pause"}, std::pair{m_stepBatch, "step"}, std::pair{m_stepStage, "step"},
                           std::pair{m_stop, "stop"}};
    for (const auto& [button, name] : icons) button->setIcon(style::icon(QString::fromLatin1(name), theme));
    m_pauseIcon = m_pause->icon();
    m_resumeIcon = style::icon(QStringLiteral("resume"), theme);
    refresh();
}

void RunControls::fillDevices()
{
    const QSignalBlocker quiet(m_device);
    m_device->clear();
    for (const DeviceChoice& choice :
         deviceChoices(m_context.engine != nullptr ? m_context.engine->serverInfo() : json::Value())) {
        m_device->addItem(choice.title, choice.id);
        m_device->setItemData(m_device->count() - 1, choice.tip, Qt::ToolTipRole);
    }
    showSettings();
}

void RunControls::showSettings()
{
    const models::Settings& settings = m_context.document.settings();
    const QString device = models::text(settings.device);
    if (m_device->findData(device) < 0) m_device->addItem(device, device);
    m_device->setCurrentIndex(m_device->findData(device));
    m_verify->setCurrentIndex(std::max(0, m_verify->findData(static_cast<int>(settings.verify))));
    if (sizeOf(m_memory->text()) != settings.memory || !settings.memory) m_memory->setText(sizeText(settings.memory));
    m_batch->setText(settings.batch ? QString::number(*settings.batch) : QString());
    m_output->setText(settings.output);
    const int changed = changedSettings(settings);
    m_more->setText(changed > 0 ? tr("More (%1)…").arg(changed) : tr("More…"));
    m_more->setAccessibleName(tr("More settings, %1 changed").arg(changed));
}

void RunControls::applySettings()
{
    models::Settings settings = m_context.document.settings();
    settings.device = m_device->currentData().toString().toStdString();
    settings.verify = static_cast<base::VerifyMode>(m_verify->currentData().toInt());
    settings.memory = sizeOf(m_memory->text());
    const std::int64_t batch = m_batch->text().toLongLong();
    settings.batch = batch > 0 ? std::optional(batch) : std::nullopt;
    settings.output = m_output->text().trimmed();
    if (settings != m_context.document.settings()) m_context.workbench.setRunSettings(settings);
}

void RunControls::refresh()
{
    const jobs::Workbench& workbench = m_context.workbench;
    const bool pauses = m_context.engine == nullptr || m_context.engine->pauses();
    const RunButtons may = runButtons(m_context.document.plan() != nullptr, workbench.busy(), workbench.running(),
                                      stateOf(m_context.document), pauses);
    m_start->setEnabled(may.start);
    m_pause->setEnabled(may.pause || may.resume);
    m_pause->setText(may.resume ? tr("Resume") : tr("Pause"));
    m_pause->setIcon(may.resume ? m_resumeIcon : m_pauseIcon);
    const QString never = tr("A run of several workers cannot be paused");
    m_pause->setToolTip(!pauses ? never : may.resume ? tr("Resume the run") : tr("Pause after the current batch"));
    m_stepBatch->setToolTip(pauses ? tr("Run the next batch, then pause") : never);
    m_stepStage->setToolTip(pauses ? tr("Run to the end of the current stage, or of the first stage, then pause")
                                   : never);
    m_pause->setAccessibleName(m_pause->text());
    m_stepBatch->setEnabled(may.step);
    m_stepStage->setEnabled(may.step);
    m_stop->setEnabled(may.stop);
    for (QWidget* field :
         {static_cast<QWidget*>(m_device), static_cast<QWidget*>(m_memory), static_cast<QWidget*>(m_batch),
          static_cast<QWidget*>(m_verify), static_cast<QWidget*>(m_output), static_cast<QWidget*>(m_browse)})
        field->setEnabled(may.settings);
}

void RunControls::pauseOrResume()
{
    if (stateOf(m_context.document) == RunState::Paused) m_context.workbench.resume();
    else m_context.workbench.pause();
}

}  // namespace hopscope::panels
