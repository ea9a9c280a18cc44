#pragma once

// What those who work on the graph panel together share.

#include "graphview/scene/scene_maker.h"
#include "graphview/view/graph_panel.h"
#include "graphview/view/graph_view.h"

namespace hopscope::graphview {

// Only refers to its parts: the controller, which makes it, outlives everybody who is given it.
struct GraphParts {
    models::Document& document;
    models::Selection& selection;
    GraphPanel& panel;  // tells the window
    SceneMaker& maker;
    GraphView& view;
};

}  // namespace hopscope::graphview
