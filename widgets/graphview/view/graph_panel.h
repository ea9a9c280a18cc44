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

// The property that holds the full text of actions that are unclear outside their menu: "Colour by depth".
inline constexpr const char* fullNameProperty = "fullName";

// The alternatives to a refused drop: values that can be stored instead of `from`, nearest first.
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

    // Returns the actions of the graph for menus and the palette: zoom, folds, search, walks along the edges and through
    // the history, bookmarks, the tensor of the selection, pins, the uses of an input, comparisons and colour modes. The
    // actions have names, most have shortcuts, and all belong to the panel.
    [[nodiscard]] QList<QAction*> viewActions() const;

    [[nodiscard]] bool layoutReady() const;     // no layout is in progress
    [[nodiscard]] QByteArray saveView() const;  // folds, zoom, centre, bookmarks, colour mode: for the session file
    void restoreView(const QByteArray& state);

    // Keeps the contents in place on the screen. Call it when the panel has moved by this much in its window.
    void holdStill(QPoint moved);

    // Shows the graph with a different plan next to it, under that name and coloured by its stages. A null plan removes
    // it.
    void showBeside(const QString& name, const models::PlanPtr& plan);

    // Makes this result of a comparison available to the colours by error, until another model is opened or a run has
    // been verified.
    void showErrors(const schema::DivergenceRecord& found);

    // Writes the whole graph as a picture; the suffix svg, pdf or png decides the format. `width` is the width of a png
    // in pixels; 0: twice that of the graph at 100 %. No side of a png exceeds 32,000 pixels. Returns an empty string,
    // or the reason for a failure.
    QString exportPicture(const QString& file, int width = 0) const;

    // Returns the faults of the picture, for tests: a line for each fault that checkGeometry() finds.
    [[nodiscard]] QStringList faults() const;

signals:
    void pinRequested(const hopscope::plan::Pin& pin);  // to store a value, or to forbid storing it
    void pinToggled(const hopscope::plan::Pin& pin);    // chosen in a menu: the pin is set or removed
    void unpinRequested(hopscope::ir::ValueId value);
    void checkpointMoved(hopscope::ir::ValueId from, hopscope::ir::ValueId to);
    // checkpointDragged() is emitted while a stored value is over a place where it can be dropped; dragEnded() is
    // emitted when it is elsewhere, and when the drag ends.
    void checkpointDragged(hopscope::ir::ValueId from, hopscope::ir::ValueId to);
    void dragEnded();
    void breakpointsWanted(const std::vector<hopscope::models::Breakpoint>& breakpoints);  // replace the current ones
    void tensorRequested(hopscope::ir::ValueId value);                                     // to show its numbers
    void layoutFinished();
    void contextHelpRequested(const QString& sentence, const hopscope::graphview::DropOffer& offer = {});

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace hopscope::graphview
