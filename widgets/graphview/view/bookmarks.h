#pragma once

// Places in the model to come back to; kept in the session.

#include <QCoreApplication>

#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class Bookmarks {
    Q_DECLARE_TR_FUNCTIONS(Bookmarks)
public:
    Bookmarks(const GraphParts& parts, const SceneTargets& targets) : m_parts(parts), m_targets(targets) {}

    void set(const QVector<models::Target>& all) { m_all = all; }
    [[nodiscard]] const QVector<models::Target>& all() const { return m_all; }
    void toggle();  // of the selection
    void next();    // selects it and shows it
    void mark();    // in the current scene

private:
    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    QVector<models::Target> m_all;
    int m_at = -1;
};

}  // namespace hopscope::graphview
