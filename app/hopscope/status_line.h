#pragma once

// The bottom line of the window: the open model on the left; the engine, its device and its state on the right.

#include <QStatusBar>

#include "jobs/engine_client.h"
#include "models/document.h"
#include "panels/parts.h"

class QLabel;
class QProgressBar;

namespace hopscope::window {

// Returns "JKNet, TorchScript traced · 118 ops · depth 3 · 2,708 nodes · 10,556 edges", with tables by their names.
QString modelSummary(const protocol::ModelRecord& model);

struct EngineSummary {
    jobs::EngineState state = jobs::EngineState::Stopped;
    QString where, device;  // "local" or the command's host; "auto", "cpu", "cuda:0"
    QString confinement{};  // in the engine's words: "confined", "not confined: why"
    bool running = false, paused = false, busy = false;
};
// Returns "engine: local, CPU · idle · confined".
QString engineSummary(const EngineSummary& engine);
// Explains a confinement in a sentence.
QString confinementText(const QString& confinement);
// Returns "local" without a command, otherwise its host or program.
QString engineWhere(const QString& command);

class StatusLine : public QStatusBar {
    Q_OBJECT
public:
    explicit StatusLine(QWidget* parent = nullptr);

    void setModel(const models::ModelPtr& model);
    void setEngine(const EngineSummary& engine);
    void setProgress(const QString& what, double fraction);  // empty `what`: done; negative `fraction`: unknown
    // Shows how the last run ended. `tone` is "good", "warning" or "bad", as the style sheet colours it.
    void setResult(const QString& text, const QString& tone = {});

private:
    panels::ElidedLabel *m_model = nullptr, *m_result = nullptr;
    QLabel *m_what = nullptr, *m_engine = nullptr;
    QProgressBar* m_bar = nullptr;
};

}  // namespace hopscope::window
