#pragma once

// How a graph was left, for the session file: which modules are open, bookmarks, camera, colours.

#include <QByteArray>
#include <QVector>
#include <optional>

#include "graphview/fold/fold.h"
#include "graphview/scene/camera.h"
#include "graphview/scene/colour_mode.h"
#include "models/selection.h"

namespace hopscope::graphview {

struct ViewState {
    FoldState fold;
    QVector<models::Target> bookmarks;
    std::optional<Camera> camera;      // none: not known, or not usable
    std::optional<ColourMode> colour;  // none: not known
};

QByteArray writeViewState(const ViewState& state);
// Missing or mistyped members keep their defaults; returns nothing if the text is not JSON.
std::optional<ViewState> readViewState(const QByteArray& text);

}  // namespace hopscope::graphview
