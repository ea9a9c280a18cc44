// What is written in a graph can be read at every zoom, and nothing that is there for words alone is drawn without them.

#include <QPaintEngine>
#include <QTest>

#include "graphview/panel_bench.h"
#include "graphview/scene/paint_parts.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::graphview;

namespace {

constexpr qreal least = 7;  // pixels of letters on the screen

struct Written {
    QString text;
    QRectF place;  // on the screen
    qreal pixels = 0;
    bool clipped = false;  // it did not fit into the room for it
};

// Notes what is written instead of drawing.
class Notes : public QPaintEngine {
public:
    Notes() : QPaintEngine(QPaintEngine::AllFeatures) {}
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState& now) override
    {
        if (now.state() & DirtyTransform) m_view = now.transform();
    }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawTextItem(const QPointF& at, const QTextItem& item) override
    {
        const qreal pixels = item.font().pixelSize();
        const QRectF place(at.x(), at.y() - pixels, QFontMetricsF(item.font()).horizontalAdvance(item.text()), pixels);
        written.append({item.text(), m_view.mapRect(place), pixels * m_view.m11(), painter()->hasClipping()});
    }
    [[nodiscard]] Type type() const override { return User; }

    QVector<Written> written;

private:
    QTransform m_view;
};

class Page : public QPaintDevice {
public:
    [[nodiscard]] QPaintEngine* paintEngine() const override { return &m_notes; }
    [[nodiscard]] const QVector<Written>& written() const { return m_notes.written; }

protected:
    [[nodiscard]] int metric(PaintDeviceMetric what) const override
    {
        if (what == PdmWidth || what == PdmHeight) return 4000;
        return what == PdmDevicePixelRatio ? 1 : what == PdmDevicePixelRatioScaled ? devicePixelRatioFScale() : 96;
    }

private:
    mutable Notes m_notes;
};

// As the view paints it, where all of it is seen.
void paintAt(QPaintDevice& device, Bench& bench, qreal scale)
{
    const QRectF all = bench.scene().bounds.adjusted(-120, -20, 20, 20);
    PaintState state;
    state.scale = scale;
    state.titleX = all.left();
    QPainter painter(&device);
    painter.scale(scale, scale);
    painter.translate(-all.topLeft());
    paintScene({painter, bench.scene(), bench.view().colouring(), bench.view().theme(), state}, all);
}

QVector<Written> writtenAt(Bench& bench, qreal scale)
{
    Page page;
    paintAt(page, bench, scale);
    return page.written();
}

bool isName(const QString& written, const QString& name)
{
    const qsizetype end = written.indexOf(QChar(0x2026));
    return end < 0 ? written == name : end >= 2 && name.startsWith(written.left(end));
}

}  // namespace

class ZoomTest : public QObject {
    Q_OBJECT
private slots:
    void everythingWrittenIsLegible_data() { scales(); }
    void everythingWrittenIsLegible()
    {
        QFETCH(qreal, scale);
        Bench bench;
        for (const Written& words : writtenAt(bench, scale))
            QVERIFY2(words.pixels >= least - 0.01 && !words.clipped,
                     qPrintable(QString("\"%1\" has %2 pixels").arg(words.text).arg(words.pixels)));
    }

    void everyNodeHasItsNameInside_data() { scales(); }
    void everyNodeHasItsNameInside()
    {
        QFETCH(qreal, scale);
        Bench bench;
        const QVector<Written> written = writtenAt(bench, scale);
        const QPointF origin = bench.scene().bounds.adjusted(-120, -20, 20, 20).topLeft();
        for (std::size_t node = 0; node < bench.scene().nodes.size(); ++node) {
            const QRectF& box = bench.scene().nodes[node];
            const QRectF seen((box.topLeft() - origin) * scale, box.size() * scale);
            const auto inside = [&](const Written& words) {
                return seen.contains(words.place.center()) && words.place.width() <= seen.width() + 1 &&
                       words.place.height() <= seen.height() + 1 &&
                       isName(words.text, bench.scene().graph->nodes[node].label);
            };
            QVERIFY2(std::ranges::any_of(written, inside), qPrintable(bench.scene().graph->nodes[node].label));
        }
    }

    void aStoreHasWordsOrNoBoxForThem_data() { scales(); }
    void aStoreHasWordsOrNoBoxForThem()
    {
        QFETCH(qreal, scale);
        Bench bench;
        QVERIFY(!bench.scene().stores.empty());
        const SceneStore& store = bench.scene().stores.front();
        const QVector<Written> written = writtenAt(bench, scale);
        const bool words = std::ranges::any_of(written, [&](const Written& each) { return each.text == store.down; });
        const QRectF all = bench.scene().bounds.adjusted(-120, -20, 20, 20);
        QImage picture((all.size() * scale).toSize(), QImage::Format_RGB32);
        paintAt(picture, bench, scale);
        const QPointF end = (QPointF(store.rect.right() - 3, store.rect.center().y()) - all.topLeft()) * scale;
        const bool box = QColor(picture.pixel(end.toPoint())) == bench.view().theme().panel;
        QCOMPARE(box, words);
    }

private:
    static void scales()
    {
        QTest::addColumn<qreal>("scale");
        for (const int percent : {26, 30, 36, 42, 47, 50, 55, 59, 65, 72, 85, 100, 150})
            QTest::addRow("%d %%", percent) << percent / 100.0;
    }
};

HOPSCOPE_QT_SUITE(zoom, ZoomTest)
#include "test_zoom.moc"
