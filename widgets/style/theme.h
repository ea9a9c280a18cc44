#pragma once

// Colours and fonts of the window. The colours of the light and the dark theme come from one token file
// (resources/themes/tokens.json, compiled in).

#include <QColor>
#include <QFont>
#include <QString>
#include <QVector>

namespace hopscope::style {

enum class Mode { Auto, Light, Dark };

struct Theme {
    bool dark = false;
    QColor window, panel, raised, border, text, textMuted, accent, accentText, selection, hover;
    QColor good, bad, warning;
    QColor bandA, bandB, prologueBand;              // stage bands, alternating
    QColor nodeBorder, edge, edgeMuted, structure;  // graph
    QColor checkpoint, cut, recompute;
    QColor sourceLine;          // background of the marked source line
    QVector<QColor> depth;      // sequential, colour-blind safe; last one for everything deeper
    QVector<QColor> depthText;  // text on them, contrast >= 4.5
    QVector<QColor> phases;     // six, in the order of plan::namedPhases
    QVector<QColor> kinds;      // categorical, eight
    QVector<QColor> kindsText;
    QVector<QColor> scale;  // sequential ramp for numbers, from least to most
    QVector<QColor> scaleText;

    [[nodiscard]] QColor depthColour(int depth) const;
    [[nodiscard]] QColor depthTextColour(int depth) const;
};

// The colours by their names in tokens.json and, behind an @, in the style sheet (sheet.cpp).
struct NamedColour {
    const char* name;
    QColor Theme::*colour;
};
inline constexpr NamedColour namedColours[] = {
    {"window", &Theme::window},
    {"panel", &Theme::panel},
    {"raised", &Theme::raised},
    {"border", &Theme::border},
    {"text", &Theme::text},
    {"textMuted", &Theme::textMuted},
    {"accent", &Theme::accent},
    {"accentText", &Theme::accentText},
    {"selection", &Theme::selection},
    {"hover", &Theme::hover},
    {"good", &Theme::good},
    {"bad", &Theme::bad},
    {"warning", &Theme::warning},
    {"sourceLine", &Theme::sourceLine},
    {"bandA", &Theme::bandA},
    {"bandB", &Theme::bandB},
    {"prologueBand", &Theme::prologueBand},
    {"nodeBorder", &Theme::nodeBorder},
    {"edge", &Theme::edge},
    {"edgeMuted", &Theme::edgeMuted},
    {"structure", &Theme::structure},
    {"checkpoint", &Theme::checkpoint},
    {"cut", &Theme::cut},
    {"recompute", &Theme::recompute},
};

struct NamedSeries {
    const char* name;
    QVector<QColor> Theme::*colours;
};
inline constexpr NamedSeries namedSeries[] = {
    {"depth", &Theme::depth},         {"depthText", &Theme::depthText}, {"phases", &Theme::phases},
    {"kinds", &Theme::kinds},         {"kindsText", &Theme::kindsText}, {"scale", &Theme::scale},
    {"scaleText", &Theme::scaleText},
};

// Loads a theme. Auto follows the palette of the desktop when the program began (Qt 6.4 has no colour scheme hint).
Theme loadTheme(Mode mode);
// Sets the style, palette, font and style sheet of the application.
void applyTheme(const Theme& theme);

double contrast(const QColor& a, const QColor& b);  // WCAG 2, 1..21

QFont uiFont(int points = 0);  // 0: the application's size
QFont monoFont(int points = 0);

}  // namespace hopscope::style
