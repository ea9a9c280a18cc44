#pragma once

// Computes the fill colours of nodes in each mode, and their legend. The functions are pure.

#include <QColor>
#include <QString>
#include <vector>

#include "graphview/scene/colour_mode.h"
#include "graphview/scene/scene.h"
#include "schema/findings.h"
#include "schema/report.h"
#include "style/theme.h"

namespace hopscope::graphview {

inline constexpr int modeCount = 8;

// The data from which colours are computed, besides the scene. Unknown data is null or empty.
struct ColourData {
    const protocol::ModelRecord* model = nullptr;
    const protocol::PlanRecord* plan = nullptr;
    const schema::Report* report = nullptr;                // of the last finished run
    const schema::DivergenceRecord* divergence = nullptr;  // of the last comparison, unless that run was verified later
};

struct LegendEntry {
    QColor fill, text;
    QString label;
};

struct Colouring {
    QString title;
    std::vector<QColor> fill, text;  // by node
    std::vector<LegendEntry> legend;
};

QString modeName(ColourMode mode);
QString modeKey(ColourMode mode);  // for session files: "depth"
// Returns the reason why a mode cannot be shown; empty if it can.
QString whyUnavailable(ColourMode mode, const ColourData& data);
Colouring colourNodes(const Scene& scene, ColourMode mode, const ColourData& data, const style::Theme& theme);

}  // namespace hopscope::graphview
