#pragma once

// Edits pins in the graph through menus, keys, and stored values that are dragged, with a preview of the result. All
// changes are requested from the window by signals of the panel.

#include <QCoreApplication>
#include <QMenu>

#include "graphview/view/colour_modes.h"
#include "graphview/view/scene_targets.h"
#include "models/pins.h"

namespace hopscope::graphview {

class CutEditor {
    Q_DECLARE_TR_FUNCTIONS(CutEditor)
public:
    CutEditor(const GraphParts& parts, const SceneTargets& targets, ColourModes& colours);

    void pin(base::PinKind kind, ValueId value);  // stores a value or forbids that, or shows why it cannot
    void unpin(ValueId value);
    void pinSelected(base::PinKind kind) { pin(kind, m_targets.selectedValue()); }
    void unpinSelected() { unpin(m_targets.selectedValue()); }
    void removeSelected();  // if a stored value is selected
    void addToMenu(QMenu& menu, const Hit& hit);

    // Handle the dragging of a stored `value` over an item, and its drop there.
    void dragOver(ValueId value, const Hit& hit);
    void dropOn(ValueId value, const Hit& hit);  // where nothing can be stored: gives the reason and nearby places
    void showPreview();                          // shows Document::preview

private:
    [[nodiscard]] models::PinPlace placeOf(const Hit& hit) const;
    [[nodiscard]] models::PinPlace placeOfNode(int node) const;
    [[nodiscard]] QString whyNotStored(ValueId value) const;                    // empty: it can be stored
    [[nodiscard]] std::vector<ValueId> nearestPlaces(ValueId otherThan) const;  // to the pointer
    void showHelp(const QString& sentence);

    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    ColourModes& m_colours;
};

}  // namespace hopscope::graphview
