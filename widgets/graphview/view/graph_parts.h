#pragma once

// The objects that the helpers of the graph panel share.

#include "graphview/scene/scene_maker.h"
#include "graphview/view/graph_panel.h"
#include "graphview/view/graph_view.h"

namespace hopscope::graphview {

// Holds only references. The controller, which creates it, outlives all of its users.
struct GraphParts {
    models::Document& document;
    models::Selection& selection;
    GraphPanel& panel;  // signals requests to the window
    SceneMaker& maker;
    GraphView& view;
};

}  // namespace hopscope::graphview
