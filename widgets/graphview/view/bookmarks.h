#pragma once

// Bookmarks in the model, which are kept in the session.

#include <QCoreApplication>

#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class Bookmarks {
    Q_DECLARE_TR_FUNCTIONS(Bookmarks)
public:
    Bookmarks(const GraphParts& parts, const SceneTargets& targets) : m_parts(parts), m_targets(targets) {}

    void set(const QVector<models::Target>& all) { m_all = all; }
    [[nodiscard]] const QVector<models::Target>& all() const { return m_all; }
    void toggle();  // for the selection
    void next();    // selects and shows the next one
    void mark();    // shows the bookmarks in the current scene

private:
    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    QVector<models::Target> m_all;
    int m_at = -1;
};

}  // namespace hopscope::graphview
