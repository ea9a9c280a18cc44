#include "style/theme.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPalette>
#include <QStyleFactory>
#include <cmath>

#include "style/sheet.h"

// Resources of a static library are linked in only if they are requested outside of any namespace.
static void initResources() { Q_INIT_RESOURCE(hopscope); }

namespace hopscope::style {

namespace {

QJsonObject readTokens(bool dark)
{
    initResources();
    QFile file(QStringLiteral(":/hopscope/themes/tokens.json"));
    const bool opened = file.open(QIODevice::ReadOnly);
    Q_ASSERT(opened);
    Q_UNUSED(opened);
    return QJsonDocument::fromJson(file.readAll()).object().value(dark ? u"dark" : u"light").toObject();
}

QColor colourOf(const QJsonValue& value)
{
    const QColor colour(value.toString());
    Q_ASSERT(colour.isValid());
    return colour;
}

// Whether the desktop's palette, before this program changed it, is dark.
bool desktopIsDark()
{
    static const bool dark = QPalette().color(QPalette::Window).lightnessF() < 0.5;
    return dark;
}

double channel(double value) { return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); }

double luminance(const QColor& colour)
{
    return 0.2126 * channel(colour.redF()) + 0.7152 * channel(colour.greenF()) + 0.0722 * channel(colour.blueF());
}

QPalette paletteOf(const Theme& theme)
{
    QPalette palette(theme.text, theme.panel, theme.raised, theme.border, theme.border, theme.text, theme.text,
                     theme.panel, theme.window);
    palette.setColor(QPalette::AlternateBase, theme.raised);
    palette.setColor(QPalette::Button, theme.raised);
    palette.setColor(QPalette::Highlight, theme.selection);
    palette.setColor(QPalette::HighlightedText, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.textMuted);
    palette.setColor(QPalette::ToolTipBase, theme.raised);
    palette.setColor(QPalette::ToolTipText, theme.text);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, theme.nodeBorder);
    return palette;
}

// The first installed family; otherwise the system's own.
QFont firstOf(const QStringList& families, QFontDatabase::SystemFont fallback, int points)
{
    QFont font = QFontDatabase::systemFont(fallback);
    for (const QString& family : families) {
        if (QFontDatabase::hasFamily(family)) {
            font.setFamilies({family, font.family()});
            break;
        }
    }
    font.setPointSize(points > 0 ? points : QApplication::font().pointSize());
    return font;
}

}  // namespace

QColor Theme::depthColour(int level) const
{
    return depth.at(std::clamp(level, 0, static_cast<int>(depth.size()) - 1));
}

QColor Theme::depthTextColour(int level) const
{
    return depthText.at(std::clamp(level, 0, static_cast<int>(depthText.size()) - 1));
}

Theme loadTheme(Mode mode)
{
    Theme theme;
    theme.dark = mode == Mode::Dark || (mode == Mode::Auto && desktopIsDark());
    const QJsonObject tokens = readTokens(theme.dark);
    for (const NamedColour& each : namedColours) theme.*each.colour = colourOf(tokens.value(QLatin1String(each.name)));
    for (const NamedSeries& each : namedSeries)
        for (const auto& value : tokens.value(QLatin1String(each.name)).toArray())
            (theme.*each.colours).append(colourOf(value));
    return theme;
}

void applyTheme(const Theme& theme)
{
    const QString sheet = styleSheet(theme);
    if (qApp->styleSheet() == sheet) return;  // polishing all widgets again is slow
    desktopIsDark();                          // remember it before the palette changes
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setPalette(paletteOf(theme));
    QApplication::setFont(uiFont(10));
    qApp->setStyleSheet(sheet);
}

double contrast(const QColor& a, const QColor& b)
{
    const double first = luminance(a), second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

QFont uiFont(int points)
{
    return firstOf({QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")},
                   QFontDatabase::GeneralFont, points);
}

QFont monoFont(int points)
{
    QFont font = firstOf({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono")},
                         QFontDatabase::FixedFont, points);
    font.setStyleHint(QFont::Monospace);
    return font;
}

}  // namespace hopscope::style
