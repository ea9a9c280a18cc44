#pragma once

// The graph in the middle of the window: the view with its minimap and search field, and the strip below it.

#include <QWidget>
#include <memory>

#include "graphview/scene/colour_mode.h"
#include "models/document.h"
#include "models/selection.h"
#include "schema/findings.h"
#include "style/theme.h"

class QAction;

namespace hopscope::graphview {

// The full text of actions that are unclear outside of their menu: "Colour by depth".
inline constexpr const char* fullNameProperty = "fullName";

// Alternatives to a refused drop: places that can be stored instead of `from`, the nearest first.
struct DropOffer {
    protocol::ValueId from;
    std::vector<protocol::ValueId> places;
};

class GraphPanel : public QWidget {
    Q_OBJECT
public:
    GraphPanel(models::Document& document, models::Selection& selection, QWidget* parent = nullptr);
    ~GraphPanel() override;

    void setTheme(const style::Theme& theme);
    void setLayoutCommand(const QStringList& command);  // of hopscope-layout
    void setReducedMotion(bool reduced);                // no animations
    void setColourMode(ColourMode mode);
    [[nodiscard]] ColourMode colourMode() const;

    // Everything a menu or the palette offers for the graph: zoom, fit, fold, expand, search, bookmarks, colour modes, ...
    // Named, with shortcuts and tool tips; owned by the panel.
    [[nodiscard]] QList<QAction*> viewActions() const;

    [[nodiscard]] bool layoutReady() const;     // nothing is being laid out
    [[nodiscard]] QByteArray saveView() const;  // folded modules, zoom, centre, bookmarks: for the session file
    void restoreView(const QByteArray& state);

    // Call when the panel has moved by this much in its window: its contents keep their place on the screen.
    void holdStill(QPoint moved);

    // Shows next to the graph the same graph with another plan, under that name and coloured by its stages. Null: ends that.
    void showBeside(const QString& name, const models::PlanPtr& plan);

    // Colours by error use this result of a comparison until another model is open, or a run has been verified.
    void showErrors(const schema::DivergenceRecord& found);

    // The whole graph as a picture; the suffix svg, pdf or png decides the format. `width`: pixels of a png (at most 32,000 a
    // side, painted in tiles). Returns an empty string, or the reason of a failure.
    QString exportPicture(const QString& file, int width = 0) const;

    // Faults of the picture, for tests: a sentence for every overlap, clipped text, upward edge or pale colour.
    [[nodiscard]] QStringList faults() const;

signals:
    void pinRequested(const hopscope::plan::Pin& pin);  // to store a value, or to forbid that
    void pinToggled(const hopscope::plan::Pin& pin);    // chosen in a menu: pinned, or no longer
    void unpinRequested(hopscope::ir::ValueId value);
    void checkpointMoved(hopscope::ir::ValueId from, hopscope::ir::ValueId to);
    // While a stored value is over a place where it could be dropped; then, or elsewhere, the end of it.
    void checkpointDragged(hopscope::ir::ValueId from, hopscope::ir::ValueId to);
    void dragEnded();
    void breakpointsWanted(const std::vector<hopscope::models::Breakpoint>& breakpoints);  // replace the current ones
    void tensorRequested(hopscope::ir::ValueId value);  // its numbers are to be shown
    void layoutFinished();
    void contextHelpRequested(const QString& sentence, const hopscope::graphview::DropOffer& offer = {});

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace hopscope::graphview
