#pragma once

// Hit testing: finds the item at a place in a scene. Pure functions.

#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

struct Hit {
    enum class Kind { Nothing, Node, Expander, Frame, Edge, Store, Stub };
    Kind kind = Kind::Nothing;
    int index = -1;  // into the scene's list of that kind
    bool operator==(const Hit&) const = default;

    [[nodiscard]] bool onNode() const { return kind == Kind::Node || kind == Kind::Expander; }
};

// `at` in scene coordinates; `scale`: how large the scene is seen, as edges are hit within a few pixels of the screen.
Hit hitAt(const Scene& scene, QPointF at, qreal scale);
Hit hitBelowStores(const Scene& scene, QPointF at, qreal scale);

// A stored value that can be dragged: of many drawn as one it would not be clear which is meant.
bool isMovable(const Scene& scene, const Hit& hit);

// The tooltip there; empty: none. `at` in scene coordinates.
QString tipAt(const Scene& scene, const PaintState& state, const Hit& hit, QPointF at);

}  // namespace hopscope::graphview
