#pragma once

// The objects that the helpers of the graph panel share.

#include "graphview/scene/scene_maker.h"
#include "graphview/view/graph_panel.h"
#include "graphview/view/graph_view.h"

namespace hopscope::graphview {

// Holds references only: the controller, which makes it, outlives all of its users.
struct GraphParts {
    models::Document& document;
    models::Selection& selection;
    GraphPanel& panel;  // tells the window
    SceneMaker& maker;
    GraphView& view;
};

}  // namespace hopscope::graphview
