#pragma once

// The window's configuration from outside, and the parts that its controllers share.

#include <QMainWindow>
#include <optional>

#include "banner.h"
#include "docks.h"
#include "graphview/view/graph_panel.h"
#include "help.h"
#include "jobs/engine_client.h"
#include "jobs/workbench.h"
#include "models/document.h"
#include "models/selection.h"
#include "settings.h"
#include "status_line.h"

namespace hopscope::window {

struct WindowSetup {
    WindowSettings settings;
    std::optional<style::Mode> theme;  // for this session alone; takes precedence over the settings
    QString engine;                    // the command as the user gave it; empty: the local one
    QStringList engineCommand;         // the command to start
    QStringList layoutCommand;
    QString samples;          // folder; may be empty
    QString recoveryFolder;   // empty: no autosave
    QRect room = {};          // for the window; null: the whole screen
    bool unattended = false;  // there is no user to answer questions
};

// Holds only references. The window, which creates it, outlives every holder.
struct WindowParts {
    QMainWindow& window;
    WindowSetup& setup;  // its settings follow the user's actions
    models::Document& document;
    models::Selection& selection;
    jobs::EngineClient& engine;
    jobs::Workbench& workbench;
    graphview::GraphPanel& graph;
    QWidget& plots;
    Docks& docks;
    Banner& banner;
    StatusLine& status;
    Help& help;
};

}  // namespace hopscope::window
