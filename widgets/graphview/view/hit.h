#pragma once

// Finds the item at a point of a scene. The functions are pure.

#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

struct Hit {
    enum class Kind { Nothing, Node, Expander, Frame, Edge, Store, Stub };
    Kind kind = Kind::Nothing;
    int index = -1;  // into the scene's list of that kind
    bool operator==(const Hit&) const = default;

    [[nodiscard]] bool onNode() const { return kind == Kind::Node || kind == Kind::Expander; }
};

// Returns the item at `at`, in scene coordinates. `scale` is the zoom, since edges are hit within a few pixels of the
// screen.
Hit hitAt(const Scene& scene, QPointF at, qreal scale);
Hit hitBelowStores(const Scene& scene, QPointF at, qreal scale);

// Returns true for a stored value that can be dragged. Values that are drawn as one cannot be dragged, because it would
// be unclear which is meant.
bool isMovable(const Scene& scene, const Hit& hit);

// Returns the tooltip of a hit, or an empty string. `at` is in scene coordinates.
QString tipAt(const Scene& scene, const PaintState& state, const Hit& hit, QPointF at);

}  // namespace hopscope::graphview
