#pragma once

// Behind the panel: what clicks, keys and the linked selection do to the scene. Owns no widgets but the view's overlays.

#include <QActionGroup>
#include <QMenu>
#include <array>

#include "graphview/scene/scene_maker.h"
#include "graphview/view/graph_panel.h"
#include "graphview/view/graph_view.h"
#include "graphview/view/navigation.h"
#include "graphview/view/overlays.h"
#include "models/pins.h"

namespace hopscope::graphview {

class GraphController : public QObject {
    Q_OBJECT
public:
    GraphController(models::Document& document, models::Selection& selection, GraphPanel& panel);

    void setTheme(const style::Theme& theme);
    void setColourMode(ColourMode mode);
    void setReducedMotion(bool reduced) { m_view->setReducedMotion(reduced); }
    [[nodiscard]] ColourMode colourMode() const { return m_mode; }
    [[nodiscard]] const QList<QAction*>& actions() const { return m_actions; }
    [[nodiscard]] SceneMaker& maker() { return m_maker; }
    [[nodiscard]] GraphView& view() { return *m_view; }
    [[nodiscard]] const GraphView& view() const { return *m_view; }
    [[nodiscard]] QByteArray saveView() const;
    void restoreView(const QByteArray& state);
    void placeOverlays();

private:
    // What the pointer or the selection means.
    [[nodiscard]] models::Target targetOf(const Hit& hit) const;
    [[nodiscard]] int nodeOf(const models::Target& target) const;  // -1: nothing shows it
    [[nodiscard]] int selectedNode() const { return nodeOf(m_selection.current()); }
    [[nodiscard]] int valueOf(const Hit& hit) const;  // that a checkpoint there would store, or -1
    [[nodiscard]] int valueOfNode(int node) const;
    [[nodiscard]] int selectedValue() const;

    void setupView();
    void connectDocument();
    void connectView();
    void takeModel();
    void takeScene();
    void recolour();
    void refreshModes();
    void showSelection();
    void showHover(const models::Target& target);
    void announce(const QString& text);
    void reveal(const models::Target& target);
    [[nodiscard]] bool openAround(const models::Target& target);

    void activate(const Hit& hit);
    void toggle(const QString& path, const QPointF& anchor, const QString& keyAfter, const QString& frameAfter);
    void expandNode(int node);
    void collapseFrame(int frame);
    void collapseAround(int node);
    void showUses(int source);

    // panel_actions.cpp
    void setupActions();
    void setupZoomActions();
    void setupFoldActions();
    void setupWalkActions();
    void setupCutActions();
    void setupColourActions();
    void setupSearchActions();
    void setupStrip();
    QToolButton* addStripButton(const char* name, const QString& text);
    void addStripMenu(const char* name, const QString& text, const QList<QAction*>& actions);
    QAction* add(const char* name, const QString& text, const QKeySequence& key, const QString& tip,
                 std::function<void()> run);
    void step(Step direction);
    void showMenu(const Hit& hit, QPoint global);
    void toggleBookmark();
    void nextBookmark();
    void markBookmarks();

    // panel_cuts.cpp
    void pin(base::PinKind kind, int value);
    void unpin(int value);
    void addCutMenu(QMenu& menu, const Hit& hit);
    [[nodiscard]] models::PinPlace placeOf(const Hit& hit) const;
    [[nodiscard]] models::PinPlace placeOfNode(int node) const;
    [[nodiscard]] QString whyNotStored(int value) const;  // empty: it can be stored
    void dragOver(int value, const Hit& hit);
    void dropOn(int value, const Hit& hit);
    void showPreview();
    void showPreviewScene(const ScenePtr& scene);

    // panel_search.cpp
    void search(const QString& query);
    void searchStep(int direction);
    void closeSearch();
    void markFound();

    models::Document& m_document;
    models::Selection& m_selection;
    GraphPanel& m_panel;
    SceneMaker m_maker;
    GraphView* m_view;
    Legend* m_legend;
    Minimap* m_minimap;
    SearchBar* m_searchBar;
    Card* m_strip = nullptr;
    QToolButton* m_zoomLabel = nullptr;
    std::vector<protocol::OpId> m_found;
    int m_foundAt = -1;
    ColourMode m_mode = ColourMode::Depth;
    style::Theme m_theme;
    QList<QAction*> m_actions;
    std::array<QAction*, modeCount> m_modeActions{};
    QActionGroup* m_modeGroup = nullptr;
    QAction* m_everyOperator = nullptr;
    QVector<models::Target> m_bookmarks;
    int m_bookmarkAt = -1;
    // The next scene's place on the screen: what stays where it is.
    struct Keep {
        QPointF before;
        QString key, frame;
    };
    std::optional<Keep> m_keep;
    std::optional<models::Target> m_revealNext;
    std::optional<Camera> m_cameraNext;
    bool m_fitNext = true;
};

}  // namespace hopscope::graphview
