// Both themes: complete, legible, and in an order that does not need colour vision.

#include <QApplication>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>
#include <cmath>

#include "style/depth_scale.h"
#include "style/icon.h"
#include "style/sheet.h"
#include "style/theme.h"
#include "support/qt_suites.h"

using namespace hopscope::style;

namespace {

constexpr double legible = 4.5;

// The contrast of WCAG 2.1, written down again from its text.
double oracle(const QColor& a, const QColor& b)
{
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    const auto light = [&](const QColor& c) {
        return 0.2126 * linear(c.red() / 255.0) + 0.7152 * linear(c.green() / 255.0) +
               0.0722 * linear(c.blue() / 255.0);
    };
    const double one = light(a) + 0.05, other = light(b) + 0.05;
    return one > other ? one / other : other / one;
}

QVector<double> lightness(const QVector<QColor>& colours)
{
    QVector<double> result;
    for (const QColor& colour : colours) result.append(oracle(colour, Qt::black));
    return result;
}

bool strictlyMonotonic(const QVector<double>& values)
{
    bool rising = true, falling = true;
    for (int i = 1; i < values.size(); ++i) {
        rising = rising && values[i] > values[i - 1];
        falling = falling && values[i] < values[i - 1];
    }
    return rising || falling;
}

}  // namespace

class TestTheme : public QObject {
    Q_OBJECT
private slots:
    void contrastIsThatOfTheGuidelines_data();
    void contrastIsThatOfTheGuidelines();
    void wordsAreLegibleOnEverySurface_data() { themes(); }
    void wordsAreLegibleOnEverySurface();
    void wordsAreLegibleOnEveryFill_data() { themes(); }
    void wordsAreLegibleOnEveryFill();
    void sequencesAreOrderedByLightnessAlone_data() { themes(); }
    void sequencesAreOrderedByLightnessAlone();
    void everyTokenHasItsMember();
    void everySeriesHasItsLength_data() { themes(); }
    void everySeriesHasItsLength();
    void depthsBeyondTheScaleKeepItsLastColour();
    void depthsShareStepsEvenlyWhereThereAreTooMany();
    void theStyleSheetNamesNoColourThatTheThemeLacks_data() { themes(); }
    void theStyleSheetNamesNoColourThatTheThemeLacks();
    void anAppliedThemeReachesThePalette();
    void everyIconIsDrawnInTheColourOfText();

private:
    void themes();
};

void TestTheme::themes()
{
    QTest::addColumn<Mode>("mode");
    QTest::newRow("light") << Mode::Light;
    QTest::newRow("dark") << Mode::Dark;
}

void TestTheme::contrastIsThatOfTheGuidelines_data()
{
    QTest::addColumn<QColor>("a");
    QTest::addColumn<QColor>("b");
    QTest::newRow("black on white") << QColor(Qt::black) << QColor(Qt::white);
    QTest::newRow("itself") << QColor("#777777") << QColor("#777777");
    QTest::newRow("blue on grey") << QColor("#2474ad") << QColor("#f3f6f9");
}

void TestTheme::contrastIsThatOfTheGuidelines()
{
    QFETCH(QColor, a);
    QFETCH(QColor, b);
    QVERIFY(std::abs(contrast(a, b) - oracle(a, b)) < 0.02);
    QVERIFY(std::abs(contrast(a, b) - contrast(b, a)) < 1e-9);
}

void TestTheme::wordsAreLegibleOnEverySurface()
{
    QFETCH(Mode, mode);
    const Theme t = loadTheme(mode);
    for (const QColor& surface :
         {t.window, t.panel, t.raised, t.selection, t.hover, t.bandA, t.bandB, t.prologueBand, t.sourceLine}) {
        QVERIFY2(oracle(t.text, surface) >= legible, qPrintable("text on " + surface.name()));
        QVERIFY2(oracle(t.textMuted, surface) >= legible, qPrintable("muted text on " + surface.name()));
    }
    for (const QColor& word : {t.good, t.bad, t.warning, t.accent})
        QVERIFY2(oracle(word, t.panel) >= legible, qPrintable(word.name() + " on the panel"));
    for (const QColor& band : {t.bandA, t.bandB, t.prologueBand})
        QVERIFY2(oracle(t.structure, band) >= legible, qPrintable("structure on " + band.name()));
    QVERIFY(oracle(t.accentText, t.accent) >= legible);
}

void TestTheme::wordsAreLegibleOnEveryFill()
{
    QFETCH(Mode, mode);
    const Theme t = loadTheme(mode);
    const std::pair<QVector<QColor>, QVector<QColor>> fills[] = {
        {t.depth, t.depthText}, {t.kinds, t.kindsText}, {t.scale, t.scaleText}};
    for (const auto& [colours, words] : fills) {
        QCOMPARE(colours.size(), words.size());
        for (int i = 0; i < colours.size(); ++i)
            QVERIFY2(oracle(words[i], colours[i]) >= legible, qPrintable(words[i].name() + " on " + colours[i].name()));
    }
}

// Lightness survives every kind of colour vision and a grey print.
void TestTheme::sequencesAreOrderedByLightnessAlone()
{
    QFETCH(Mode, mode);
    const Theme t = loadTheme(mode);
    QVERIFY(strictlyMonotonic(lightness(t.depth)));
    QVERIFY(strictlyMonotonic(lightness(t.scale)));
}

void TestTheme::everyTokenHasItsMember()
{
    loadTheme(Mode::Light);  // with the resources
    QFile file(QStringLiteral(":/hopscope/themes/tokens.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QStringList members;
    for (const NamedColour& each : namedColours) members << QLatin1String(each.name);
    for (const NamedSeries& each : namedSeries) members << QLatin1String(each.name);
    members.sort();
    const QJsonObject tokens = QJsonDocument::fromJson(file.readAll()).object();
    for (const char* mode : {"light", "dark"})
        QCOMPARE(QStringList(tokens.value(QLatin1String(mode)).toObject().keys()), members);
}

void TestTheme::everySeriesHasItsLength()
{
    QFETCH(Mode, mode);
    const Theme t = loadTheme(mode);
    QCOMPARE(t.phases.size(), 6);
    QCOMPARE(t.kinds.size(), 8);
    QVERIFY(t.depth.size() >= 6 && t.scale.size() >= 5);
    QCOMPARE(QSet<QRgb>([&] {
                 QSet<QRgb> all;
                 for (const QColor& colour : t.phases) all.insert(colour.rgb());
                 return all;
             }())
                 .size(),
             6);
    QCOMPARE(t.dark, mode == Mode::Dark);
}

void TestTheme::depthsBeyondTheScaleKeepItsLastColour()
{
    const Theme t = loadTheme(Mode::Light);
    QCOMPARE(t.depthColour(0), t.depth.first());
    QCOMPARE(t.depthColour(1000), t.depth.last());
    QCOMPARE(t.depthTextColour(1000), t.depthText.last());
    QCOMPARE(t.depthColour(-1), t.depth.first());
}

void TestTheme::depthsShareStepsEvenlyWhereThereAreTooMany()
{
    constexpr int steps = 8;
    for (int deepest = 0; deepest < 200; ++deepest) {
        std::vector<int> sizes(steps);
        for (int depth = 0; depth <= deepest; ++depth) {
            const int step = depthStep(depth, deepest, steps);
            QVERIFY2(deepest >= steps || step == depth, qPrintable(QString::number(deepest)));
            QVERIFY((step == 0) == (depth == 0));
            QVERIFY(depth == 0 || step >= depthStep(depth - 1, deepest, steps));
            const auto [first, last] = depthsOfStep(step, deepest, steps);
            QVERIFY(first <= depth && depth <= last);
            ++sizes[static_cast<std::size_t>(step)];
        }
        if (deepest < steps) continue;
        const auto [fewest, most] = std::minmax_element(sizes.begin() + 1, sizes.end());
        QVERIFY2(*fewest >= 1 && *most - *fewest <= 1, qPrintable(QString::number(deepest)));
    }
}

void TestTheme::theStyleSheetNamesNoColourThatTheThemeLacks()
{
    QFETCH(Mode, mode);
    const QString sheet = styleSheet(loadTheme(mode));
    QVERIFY(!sheet.contains(u'@'));
    QVERIFY(sheet.contains(loadTheme(mode).accent.name()));
}

void TestTheme::anAppliedThemeReachesThePalette()
{
    const Theme dark = loadTheme(Mode::Dark);
    applyTheme(dark);
    QCOMPARE(QApplication::palette().color(QPalette::Window), dark.window);
    QCOMPARE(QApplication::palette().color(QPalette::Text), dark.text);
    applyTheme(loadTheme(Mode::Light));
    QVERIFY(QApplication::palette().color(QPalette::Window) != dark.window);
    QCOMPARE(loadTheme(Mode::Auto).dark, false);  // the offscreen desktop is light, whatever was applied since
}

void TestTheme::everyIconIsDrawnInTheColourOfText()
{
    const Theme t = loadTheme(Mode::Dark);
    for (const char* name : {"open", "save", "reload", "undo", "redo", "back", "forward", "search", "run", "pause",
                             "stop", "step", "export"}) {
        const QImage picture = icon(QLatin1String(name), t).pixmap(64, 64).toImage();
        QVERIFY2(!picture.isNull(), name);
        bool drawn = false;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x) drawn = drawn || picture.pixelColor(x, y) == t.text;
        QVERIFY2(drawn, name);
    }
    QVERIFY(icon(QStringLiteral("nothing"), t).isNull());
    QVERIFY(!applicationIcon().isNull());
}

HOPSCOPE_QT_SUITE(style, TestTheme)
#include "test_theme.moc"
