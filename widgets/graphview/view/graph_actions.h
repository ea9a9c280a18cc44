#pragma once

// Provides the actions of the graph for menus, keys and the palette, as named actions of the panel, and the context menu.

#include <QAction>
#include <QObject>
#include <functional>

#include "graphview/view/bookmarks.h"
#include "graphview/view/breakpoint_marks.h"
#include "graphview/view/colour_modes.h"
#include "graphview/view/cut_editor.h"
#include "graphview/view/graph_search.h"
#include "graphview/view/navigator.h"
#include "graphview/view/plan_split.h"
#include "graphview/view/selection_marks.h"

namespace hopscope::graphview {

// The objects that carry out the actions.
struct GraphTools {
    SceneTargets targets;
    GraphOverlays overlays;
    ScenePlacement placement;
    ColourModes colours;
    FoldControl folds;
    SelectionMarks marks;
    Bookmarks bookmarks;
    BreakpointMarks breakpoints;
    GraphSearch search;
    CutEditor cuts;
    Navigator navigator;
    PlanSplit split;

    // The parts must outlive the tools. The tools refer to each other, so they can be neither copied nor moved.
    explicit GraphTools(const GraphParts& parts);
    GraphTools(const GraphTools&) = delete;
    GraphTools& operator=(const GraphTools&) = delete;
};

// The property of an action that holds the title of its submenu.
inline constexpr const char* submenuProperty = "submenu";

class GraphActions : public QObject {
    Q_OBJECT
public:
    GraphActions(const GraphParts& parts, GraphTools& tools, QObject* parent);

    [[nodiscard]] const QList<QAction*>& all() const { return m_all; }  // in the order of menus
    [[nodiscard]] QList<QAction*> colours() const;                      // by mode
    [[nodiscard]] QList<QAction*> folds() const;                        // those in the tool strip
    [[nodiscard]] const QList<QAction*>& comparisons() const { return m_comparisons; }
    void showFold(const FoldState& state);  // checks or unchecks Every Operator
    void showMenu(const Hit& hit, QPoint global);

private:
    void addZoom();
    void addFolds();
    void addSearch();
    void addWalks();
    void addBookmarks();
    void addTensor();
    void addCuts();
    void addComparisons();
    void addColours();
    // Adds an action to the submenu m_submenu, or to none if that is empty.
    QAction* add(const char* name, const QString& text, const QKeySequence& key, const QString& tip,
                 std::function<void()> run);
    void fillMenu(QMenu& menu, const Hit& hit);
    void showKeys(QMenu& menu) const;

    const GraphParts& m_parts;
    GraphTools& m_tools;
    QList<QAction*> m_all, m_comparisons;
    QAction* m_everyOperator = nullptr;
    QString m_submenu;
};

}  // namespace hopscope::graphview
