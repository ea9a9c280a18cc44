#pragma once

// Walking and finding in a visible graph. Pure functions.

#include <QString>
#include <QStringList>
#include <vector>

#include "graphview/scene.h"

namespace hopscope::graphview {

enum class Step { Up, Down, Left, Right };

// From a node to a producer (Up), a consumer (Down) or the nearest node beside it (Left, Right): of several the one whose
// column is nearest. -1: there is none.
int walk(const Scene& scene, int node, Step step);

// By node: it is an ancestor or a descendant of `node`, or the node itself. Empty for -1.
std::vector<char> cone(const VisibleGraph& graph, int node);

// Everything that can be found by typing: operators by id, name, label and module; modules by path and type.
class SearchIndex {
public:
    SearchIndex() = default;
    SearchIndex(const FoldModel& fold);
    // Operators (in order) that contain all words of the query, upper and lower case alike; empty for an empty query.
    [[nodiscard]] std::vector<int> find(const QString& query) const;

private:
    QString m_text;                  // one lower-case line per operator
    std::vector<qsizetype> m_begin;  // of each line
};

}  // namespace hopscope::graphview
