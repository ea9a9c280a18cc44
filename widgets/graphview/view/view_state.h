#pragma once

// The state of a graph view for the session file: open modules, bookmarks, camera and colours.

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
    std::optional<Camera> camera;      // none: unknown or unusable
    std::optional<ColourMode> colour;  // none: unknown
};

QByteArray writeViewState(const ViewState& state);
// Missing or mistyped members keep their defaults. Returns nullopt if the text is not JSON.
std::optional<ViewState> readViewState(const QByteArray& text);

}  // namespace hopscope::graphview
