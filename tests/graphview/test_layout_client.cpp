#include <QElapsedTimer>
#include <QTest>
#include <csignal>

#include "graphview/layout/layout_client.h"
#include "support/qt_suites.h"

using namespace hopscope::graphview;

namespace {

// A diamond with a tail: no chain, so that somebody has to lay it out.
SmallGraph diamond(int tail)
{
    SmallGraph graph;
    graph.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    for (int i = 0; i < 4 + tail; ++i) graph.sizes.emplace_back(100, 30);
    for (int i = 0; i < tail; ++i) graph.edges.emplace_back(3 + i, 4 + i);
    return graph;
}

void checkSound(const SmallGraph& graph, const SmallLayout& layout)
{
    QCOMPARE(layout.centres.size(), graph.sizes.size());
    for (const auto& [from, to] : graph.edges) QVERIFY(layout.centres[from].y() + 15 <= layout.centres[to].y() - 15);
    for (std::size_t a = 0; a < graph.sizes.size(); ++a)
        for (std::size_t b = a + 1; b < graph.sizes.size(); ++b) {
            const QPointF d = layout.centres[a] - layout.centres[b];
            QVERIFY(std::abs(d.x()) >= 100 || std::abs(d.y()) >= 30);
        }
}

struct Solved {
    std::vector<SmallLayout> layouts;
    bool done = false;
    LayoutClient::Answer answer()
    {
        return [this](std::vector<SmallLayout> result) { layouts = std::move(result), done = true; };
    }
};

}  // namespace

class LayoutClientTest : public QObject {
    Q_OBJECT
private slots:
    void theHelperLaysOutABatch()
    {
        LayoutClient client;
        client.setCommand({LAYOUT_PROGRAM});
        std::vector<SmallGraph> graphs;
        for (int tail = 0; tail < 30; ++tail) graphs.push_back(diamond(tail));
        Solved solved;
        client.solve(graphs, solved.answer());
        QVERIFY(!solved.done);
        QTRY_VERIFY(solved.done);
        QCOMPARE(client.fallbacks(), 0);
        for (std::size_t i = 0; i < graphs.size(); ++i) checkSound(graphs[i], solved.layouts[i]);
    }

    void whatWasLaidOutBeforeIsAnsweredWithoutTheHelper()
    {
        LayoutClient client;
        client.setCommand({LAYOUT_PROGRAM});
        Solved first, second;
        client.solve({diamond(3)}, first.answer());
        QTRY_VERIFY(first.done);
        ::kill(static_cast<pid_t>(client.helperId()), SIGSTOP);
        client.solve({diamond(3)}, second.answer());
        QTRY_VERIFY(second.done);
        QCOMPARE(client.fallbacks(), 0);
        QCOMPARE(second.layouts[0].centres, first.layouts[0].centres);
    }

    void theHelperIsNotAskedAboutHeights()
    {
        const SmallGraph low = diamond(3);
        SmallGraph high = low;
        for (std::size_t i = 0; i < high.sizes.size(); ++i) high.sizes[i].setHeight(30 + 17.5 * (i % 3));
        LayoutClient client, other;
        client.setCommand({LAYOUT_PROGRAM});
        other.setCommand({LAYOUT_PROGRAM});
        Solved twins, later, alone;
        client.solve({low, high}, twins.answer());
        other.solve({high}, alone.answer());
        QTRY_VERIFY(twins.done && alone.done);
        ::kill(static_cast<pid_t>(client.helperId()), SIGSTOP);
        client.solve({high}, later.answer());
        QTRY_VERIFY(later.done);
        QCOMPARE(client.fallbacks() + other.fallbacks(), 0);
        QCOMPARE(twins.layouts[1].centres, alone.layouts[0].centres);
        QCOMPARE(later.layouts[0].centres, alone.layouts[0].centres);
        QCOMPARE(later.layouts[0].size, alone.layouts[0].size);
        checkSound(low, twins.layouts[0]);
        const auto& centres = alone.layouts[0].centres;
        for (const auto& [from, to] : high.edges)
            QVERIFY(centres[from].y() + high.sizes[from].height() / 2 + rankGap <=
                    centres[to].y() - high.sizes[to].height() / 2);
    }

    void ofEqualGraphsOneIsLaidOut()
    {
        LayoutCache cache;
        const LayoutBatch batch = prepareBatch({diamond(3), diamond(2), diamond(3)}, 0, cache, {});
        QCOMPARE(batch.missing, std::size_t(2));
    }

    void withoutAHelperLayoutsAreMadeHere_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::newRow("none") << QStringList{};
        QTest::newRow("missing") << QStringList{"no-such-layout-program"};
        QTest::newRow("one that ends at once") << QStringList{"true"};
        QTest::newRow("one that says nonsense") << QStringList{"yes"};
    }
    void withoutAHelperLayoutsAreMadeHere()
    {
        QFETCH(QStringList, command);
        LayoutClient client;
        client.setCommand(command);
        Solved solved;
        client.solve({diamond(0), diamond(9)}, solved.answer());
        QTRY_VERIFY(solved.done);
        checkSound(diamond(9), solved.layouts[1]);
    }

    void aHelperThatIsStuckIsGivenUp()
    {
        LayoutClient client;
        client.setCommand({"sleep", "100"});
        client.setPatience(50);
        Solved solved;
        client.solve({diamond(2)}, solved.answer());
        QTRY_VERIFY(solved.done);
        QCOMPARE(client.fallbacks(), 1);
        checkSound(diamond(2), solved.layouts[0]);
    }

    void aHelperKilledAtWorkIsReplaced()
    {
        LayoutClient client;
        client.setCommand({"sleep", "100"});
        Solved solved;
        client.solve({diamond(2)}, solved.answer());
        QTRY_VERIFY(client.helperId() > 0);
        ::kill(static_cast<pid_t>(client.helperId()), SIGKILL);
        QTRY_VERIFY(solved.done);
        QCOMPARE(client.fallbacks(), 1);
        client.setCommand({LAYOUT_PROGRAM});
        Solved again;
        client.solve({diamond(5)}, again.answer());
        QTRY_VERIFY(again.done);
        QCOMPARE(client.fallbacks(), 1);
    }

    void cancellingIsQuickAndFinal()
    {
        LayoutClient client;
        client.setCommand({"sleep", "100"});
        Solved cancelled, next;
        client.solve({diamond(2)}, cancelled.answer());
        QTRY_VERIFY(client.helperId() > 0);
        QElapsedTimer timer;
        timer.start();
        client.cancel();
        QVERIFY2(timer.elapsed() < 30'000, qPrintable(QString::number(timer.elapsed())));  // of a hundred seconds
        QVERIFY(!client.busy());
        client.setCommand({LAYOUT_PROGRAM});
        client.solve({diamond(4)}, next.answer());
        QTRY_VERIFY(next.done);
        QVERIFY(!cancelled.done);
    }

    void aNewBatchReplacesTheOneUnderWay()
    {
        LayoutClient client;
        client.setCommand({LAYOUT_PROGRAM});
        Solved first, second;
        client.solve({diamond(6)}, first.answer());
        client.solve({diamond(7)}, second.answer());
        QTRY_VERIFY(second.done);
        QVERIFY(!first.done);
        QCOMPARE(second.layouts[0].centres.size(), std::size_t(11));
    }

    void layeredLayoutsAreSound_data()
    {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 20; ++seed) QTest::addRow("seed %d", seed) << seed;
    }
    void layeredLayoutsAreSound()
    {
        QFETCH(int, seed);
        SmallGraph graph;
        quint32 state = static_cast<quint32>(seed) * 77 + 1;
        const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 16; };
        const int nodes = 2 + static_cast<int>(next() % 90);
        for (int i = 0; i < nodes; ++i) graph.sizes.emplace_back(100, 30);
        for (int to = 1; to < nodes; ++to)
            for (quint32 k = next() % 4; k > 0; --k)
                graph.edges.emplace_back(static_cast<int>(next() % quint32(to)), to);
        std::sort(graph.edges.begin(), graph.edges.end());
        graph.edges.erase(std::unique(graph.edges.begin(), graph.edges.end()), graph.edges.end());
        checkSound(graph, layeredLayout(graph));
    }

    void hashesTellGraphsApart()
    {
        SmallGraph a = diamond(1), b = diamond(1), c = diamond(1);
        b.sizes[2].setWidth(101);
        c.edges[0] = {0, 3};
        QCOMPARE(contentHash(a), contentHash(diamond(1)));
        QVERIFY(contentHash(a) != contentHash(b));
        QVERIFY(contentHash(a) != contentHash(c));
    }
};

HOPSCOPE_QT_SUITE(layout_client, LayoutClientTest)
#include "test_layout_client.moc"
