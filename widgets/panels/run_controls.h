#pragma once

// Provides the settings of a run, and the buttons that start, pause, step and stop it.

#include <QBoxLayout>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include "panels/panels.h"
#include "protocol/run.h"

namespace hopscope::panels {

struct DeviceChoice {
    QString id, title;  // "cuda:0", "NVIDIA H200 · cuda:0 · 139.8 GiB"
    QString tip = {};   // "driver 580.65.06, CUDA 13.0"
    bool operator==(const DeviceChoice&) const = default;
};

// Returns the engine's answer to `initialize` as choices, "auto" first; at least "auto" and "cpu".
std::vector<DeviceChoice> deviceChoices(const json::Value& serverInfo);

// Returns in one line why a GPU of the engine's machine cannot be used, or is slower than it could be; empty if there
// is no such GPU.
QString missingDevices(const json::Value& serverInfo);

// Returns the workers to which the engine distributes its runs: "2 workers", "workers at HOST:PORT"; empty if there are
// none.
QString workersText(const json::Value& serverInfo);

// The enabled buttons. `pauses` tells whether runs of this engine can be paused.
struct RunButtons {
    bool start = false, pause = false, resume = false, step = false, stop = false, settings = false;
    bool operator==(const RunButtons&) const = default;
};
RunButtons runButtons(bool hasPlan, bool busy, bool running, protocol::RunState state, bool pauses = true);

class RunControls : public QWidget {
    Q_OBJECT
public:
    RunControls(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme);
    void refresh();  // updates the buttons

private:
    QBoxLayout& addGroup();
    void setupSettings();
    void setupOutput();
    void setupButtons();
    void setupConnections();
    QPushButton* addButton(QBoxLayout& row, const char* name, const QString& label, const QString& tip);
    void fillDevices();
    void showSettings();
    void applySettings();
    void pauseOrResume();

    Context m_context;
    QComboBox *m_device, *m_verify;
    QLineEdit *m_memory, *m_batch, *m_output;
    QToolButton *m_browse, *m_machine, *m_more;
    QPushButton *m_start, *m_pause, *m_stepBatch, *m_stepStage, *m_stop;
    QIcon m_pauseIcon, m_resumeIcon;
};

}  // namespace hopscope::panels
