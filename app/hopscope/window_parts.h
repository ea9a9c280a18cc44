#pragma once

// What the window is told from outside, and what those who work in it share.

#include <QMainWindow>
#include <optional>

#include "banner.h"
#include "docks.h"
#include "graphview/view/graph_panel.h"
#include "jobs/engine_client.h"
#include "jobs/workbench.h"
#include "models/document.h"
#include "models/selection.h"
#include "settings.h"
#include "status_line.h"

namespace hopscope::window {

struct WindowSetup {
    WindowSettings settings;
    std::optional<style::Mode> theme;  // of this start alone, before that of the settings
    QString engine;                    // the command as the user gave it; empty: the local one
    QStringList engineCommand;         // what is started
    QStringList layoutCommand;
    QString samples;          // folder; may be empty
    QString recoveryFolder;   // empty: no autosave
    QRect room = {};          // for the window; null: what the screen has
    bool unattended = false;  // nobody is there to answer questions
};

// Only refers to its parts: the window, which makes it, outlives everybody who is given it.
struct WindowParts {
    QMainWindow& window;
    WindowSetup& setup;  // its settings follow what the user does
    models::Document& document;
    models::Selection& selection;
    jobs::EngineClient& engine;
    jobs::Workbench& workbench;
    graphview::GraphPanel& graph;
    QWidget& plots;
    Docks& docks;
    Banner& banner;
    StatusLine& status;
};

}  // namespace hopscope::window
