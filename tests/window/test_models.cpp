// Real models through the real engine with real events: the ones on Cora, and one of 10,000 operators. Each is opened, looked
// at, changed and, where that is quick, run to its proof.

#include <QFileInfo>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>
#include <QTimer>

#include "base/rules.h"
#include "bed.h"
#include "graphview/view/graph_view.h"
#include "models/run_log.h"
#include "support/qt_suites.h"
#include "support/stop_watch.h"

using namespace hopscope;
using bed::Bed;
using graphview::GraphView;
using graphview::Scene;

namespace {

constexpr int patience = 180'000;  // milliseconds: a large model in the engine of a busy machine

QString cora(const QString& file) { return QStringLiteral(HOPSCOPE_CORA "/") + file; }

QString large(const QString& file) { return QStringLiteral(HOPSCOPE_LARGE "/") + file; }

QPoint onScreen(Bed& bed, QPointF scene) { return view(bed).camera().toScreen(scene).toPoint(); }

bool settled(Bed& bed)
{
    return bed::waitFor([&] { return bed.window->graph().layoutReady() && !bed.window->workbench().busy(); }, patience);
}

void press(Bed& bed, int key, Qt::KeyboardModifiers modifiers = {})
{
    view(bed).setFocus();
    QTest::keyClick(&view(bed), static_cast<Qt::Key>(key), modifiers);
}

// A closed module that can be seen; -1: there is none.
int closedBox(Bed& bed)
{
    const Scene& scene = *view(bed).scene();
    for (std::size_t i = 0; i < scene.nodes.size(); ++i)
        if (scene.graph->nodes[i].module >= 0 && view(bed).rect().contains(onScreen(bed, scene.nodes[i].center())))
            return static_cast<int>(i);
    return -1;
}

void drag(Bed& bed, QPoint from, QPoint to)
{
    GraphView& graph = view(bed);
    QTest::mousePress(&graph, Qt::LeftButton, {}, from);
    QTest::mouseMove(&graph, from + QPoint(10, 10));
    QTest::mouseMove(&graph, to);
    QTest::mouseRelease(&graph, Qt::LeftButton, {}, to);
}

// Drags the first checkpoint to one node after the other until a place is accepted; whether there was one.
bool moveSomeCheckpoint(Bed& bed, int& refused)
{
    const models::PlanPtr before = bed.window->document().plan();
    for (std::size_t target = 0; target < view(bed).scene()->nodes.size(); ++target) {
        const auto scene = view(bed).scene();
        if (scene->stores.empty() || scene->graph->nodes[target].prologue) continue;
        const graphview::SceneStore store = scene->stores.front();
        bed.window->selection().reveal(models::Target::value(protocol::ValueId(store.value)));
        const QPoint to = onScreen(bed, scene->nodes[target].center() + QPointF(16, 0));
        if (!view(bed).rect().contains(to)) continue;
        drag(bed, onScreen(bed, store.rect.center()), to);
        if (!settled(bed)) return false;
        if (bed.window->document().plan() != before) return true;
        refused += bed.window->document().refusal().isEmpty() ? 0 : 1;
    }
    return false;
}

// Milliseconds that this thread itself has worked between two turns of the event loop.
class HeartBeat : public QObject {
public:
    HeartBeat()
    {
        connect(&m_timer, &QTimer::timeout, this, [this] {
            m_longest = std::max(m_longest, m_watch.elapsed().work);
            m_watch.start();
        });
        m_timer.start(4);
    }
    [[nodiscard]] double longest() const { return m_longest; }

private:
    QTimer m_timer;
    watch::StopWatch m_watch;
    double m_longest = 0;
};

}  // namespace

class TestModels : public QObject {
    Q_OBJECT
private slots:
    void everyCoraModelIsOpenedChangedRunAndProved_data();
    void everyCoraModelIsOpenedChangedRunAndProved();
    void aModelOfTenThousandOperatorsIsAtHand();
};

void TestModels::everyCoraModelIsOpenedChangedRunAndProved_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("stages");
    const std::pair<const char*, int> models[] = {{"gcn_t", 2},   {"gcn_s", 2},    {"sage_t", 3},
                                                  {"sage_s", 3},  {"gat_t", 2},    {"jknet_t", 4},
                                                  {"gcnii_t", 8}, {"appnp_t", 10}, {"appnp_s", 10}};
    for (const auto& [name, stages] : models) QTest::newRow(name) << QString::fromLatin1(name) << stages;
}

void TestModels::everyCoraModelIsOpenedChangedRunAndProved()
{
    QFETCH(QString, name);
    QFETCH(int, stages);
    const QString model = cora(QStringLiteral("cora_models/%1.pt").arg(name));
    QVERIFY2(QFileInfo::exists(model), "the models on Cora went after the build was configured");
    Bed bed(bed::realSetup());
    QVERIFY2(bed.open(model, {cora(QStringLiteral("cora.safetensors"))}), qPrintable(bed.window->banner().sentence()));
    QVERIFY(bed.window->document().plan()->gap.value_or(1) < 1e-4);
    bed.window->workbench().setStrategy(base::Strategy::Depth);
    QVERIFY(bed::waitFor([&] { return !bed.window->workbench().busy(); }, patience));
    QCOMPARE(bed.window->document().plan()->stages.size(), static_cast<std::size_t>(stages));
    QCOMPARE(bed.window->graph().faults(), QStringList());

    if (const int box = closedBox(bed); box >= 0) {
        const std::size_t nodes = view(bed).scene()->nodes.size();
        QTest::mouseDClick(&view(bed), Qt::LeftButton, {},
                           onScreen(bed, view(bed).scene()->nodes[box].center() + QPointF(16, 0)));
        QVERIFY(settled(bed));
        QVERIFY(view(bed).scene()->nodes.size() != nodes);
        QCOMPARE(bed.window->graph().faults(), QStringList());
    }

    int refused = 0;
    const models::PlanPtr before = bed.window->document().plan();
    const bool moved = moveSomeCheckpoint(bed, refused);
    QVERIFY2(moved || refused > 0, "no checkpoint could be dragged anywhere");
    if (moved) {
        QCOMPARE(bed.window->graph().faults(), QStringList());
        press(bed, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(settled(bed));
        QCOMPARE(bed.window->document().plan()->checkpoints.size(), before->checkpoints.size());
        press(bed, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(settled(bed));
    }

    press(bed, Qt::Key_2, Qt::ControlModifier);
    press(bed, Qt::Key_F9);
    QVERIFY2(bed::waitFor([&] { return !bed.window->document().runs().empty(); }, patience),
             qPrintable(bed.window->banner().sentence()));
    QCOMPARE(bed.window->document().runs().front().report->verify->verdict, schema::Verdict::Equal);
    QVERIFY(bed.window->document().runLog()->batches().size() >= bed.window->document().plan()->stages.size());
}

void TestModels::aModelOfTenThousandOperatorsIsAtHand()
{
    QVERIFY2(QFileInfo::exists(large(QStringLiteral("large.pt"))), "no large model: make_large.py writes it");
    Bed bed(bed::realSetup());
    QVERIFY(bed::waitFor([&] { return bed.window->engine().state() == jobs::EngineState::Ready; }));
    const auto heart = std::make_unique<HeartBeat>();
    bed.window->openFile({large(QStringLiteral("large.pt")), {large(QStringLiteral("large"))}, {}});
    QVERIFY2(bed::waitFor([&] { return bed.window->document().reference(base::rules.back()) != nullptr; }, patience),
             qPrintable(bed.window->banner().sentence()));
    QVERIFY(settled(bed));
    QVERIFY(bed.window->document().model()->ops.size() >= 10'000);
    QVERIFY(bed.window->document().parts()->modules.modules.size() >= 500);
    QCOMPARE(bed.window->document().plan()->stages.size(), std::size_t{40});
    QCOMPARE(bed.window->graph().faults(), QStringList());

    const int box = closedBox(bed);
    QVERIFY(box >= 0);
    const std::size_t folded = view(bed).scene()->nodes.size();
    QTest::mouseDClick(&view(bed), Qt::LeftButton, {},
                       onScreen(bed, view(bed).scene()->nodes[box].center() + QPointF(16, 0)));
    QVERIFY(settled(bed));
    QVERIFY(view(bed).scene()->nodes.size() > folded);

    press(bed, Qt::Key_F, Qt::ControlModifier);
    auto* field = bed.window->graph().findChild<QLineEdit*>(QStringLiteral("graphSearchField"));
    QTest::keyClicks(field, QStringLiteral("units.7 sigmoid"));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(settled(bed));
    QCOMPARE(bed.window->selection().current().kind, models::Target::Kind::Op);
    QTest::keyClick(field, Qt::Key_Escape);

    press(bed, Qt::Key_N);
    QVERIFY(settled(bed));
    press(bed, Qt::Key_Plus, Qt::ShiftModifier);
    QVERIFY(settled(bed));
    const auto nodes = view(bed).scene()->nodes.size();
    QVERIFY2(nodes >= 5'000, qPrintable(QString::number(nodes)));
    QCOMPARE(bed.window->graph().faults(), QStringList());
    qInfo("the longest stall was %.0f ms of own work", heart->longest());
}

HOPSCOPE_QT_SUITE(window_models, TestModels)
#include "test_models.moc"
