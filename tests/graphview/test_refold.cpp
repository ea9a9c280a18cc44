#include <QTest>
#include <random>

#include "graphview/graph_samples.h"
#include "graphview/scene/router.h"
#include "graphview/scene/scene_maker.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::graphview;
using protocol::NodeKind;

namespace {

class Dice {
public:
    explicit Dice(unsigned seed) : m_random(seed) {}
    int below(int count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }
    bool once(int in) { return below(in) == 0; }

private:
    std::mt19937 m_random;
};

// Models of nested modules: rows of equal ones, some called again later, values used nearby, far away and everywhere, and
// structure that is derived inside of modules.
class RandomModel {
public:
    explicit RandomModel(unsigned seed) : m_dice(seed) {}
    models::ModelPtr write()
    {
        m_values = {m_writer.input("x"), m_writer.input("edge_attr")};
        m_structure = {m_writer.input("edge_index", true)};
        const int modules = 3 + m_dice.below(5);
        for (int i = 0; i < modules; ++i) writeChild("", 0, i);
        m_writer.output(m_values.back());
        return m_writer.finish();
    }

private:
    int someValue()
    {
        const int count = static_cast<int>(m_values.size());
        if (m_dice.once(12)) return m_values[m_dice.below(count)];
        if (m_dice.once(9)) return m_values[m_dice.below(2)];
        return m_values[count - 1 - (m_dice.once(3) ? m_dice.below(std::min(count, 6)) : 0)];
    }
    void writeStructure(const std::string& module, const std::string& type)
    {
        static const char* names[] = {"aten::select.int", "aten::index_add", "aten::rsqrt", "scalar::size"};
        const int from = m_structure[m_dice.below(static_cast<int>(m_structure.size()))];
        m_structure.push_back(m_writer.op(NodeKind::Structure, names[m_dice.below(4)], module, type, {from}));
    }
    void writeOp(const std::string& module, const std::string& type)
    {
        static const char* names[] = {
            "aten::linear", "aten::relu",       "aten::add.Tensor", "aten::mul.Tensor",
            "aten::view",   "aten::layer_norm", "aten::cat",        "aten::a_long_name_of_one"};
        if (m_dice.once(7)) writeStructure(module, type);
        const int structure = m_structure[m_dice.below(static_cast<int>(m_structure.size()))];
        const int value = someValue();
        if (m_dice.once(6)) {
            m_values.push_back(m_writer.op(NodeKind::Gather, "aten::index_select", module, type, {value, structure}));
        } else if (m_dice.once(6)) {
            m_values.push_back(m_writer.op(NodeKind::Aggregate, "aten::index_add", module, type, {structure, value}));
        } else {
            std::vector<int> inputs{value};
            if (m_dice.once(2)) inputs.push_back(m_dice.once(4) ? structure : someValue());
            if (m_dice.once(4)) inputs.push_back(m_writer.parameter(module + ".weight"));
            m_values.push_back(m_writer.op(NodeKind::Rowwise, names[m_dice.below(8)], module, type, inputs));
        }
    }
    void writeModule(const std::string& path, int depth)
    {
        const std::string type = depth % 2 ? "Block" : "Layer";
        const int steps = 1 + m_dice.below(4);
        for (int step = 0; step < steps; ++step) {
            if (depth < 4 && m_dice.once(3)) writeChild(path + ".", depth, step);
            else writeOp(path, type);
        }
        if (!m_paths.empty() && m_dice.once(15)) writeOp(m_paths[m_dice.below(static_cast<int>(m_paths.size()))], type);
        m_paths.push_back(path);
    }
    // One module, or a row of equal ones.
    void writeChild(const std::string& prefix, int depth, int number)
    {
        const std::string path = prefix + "m" + std::to_string(number);
        if (!m_dice.once(4)) return writeModule(path, depth + 1);
        const auto seed = static_cast<unsigned>(m_dice.below(1 << 20));
        const int repeats = 2 + m_dice.below(5);
        for (int repeat = 0; repeat < repeats; ++repeat) {
            const Dice before = std::exchange(m_dice, Dice(seed));
            writeModule(path + "." + std::to_string(repeat), depth + 1);
            m_dice = before;
        }
    }

    Dice m_dice;
    samples::ModelWriter m_writer;
    std::vector<int> m_values, m_structure;
    std::vector<std::string> m_paths;
};

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b);

// To the bit: Qt compares with a tolerance.
bool same(qreal a, qreal b) { return a == b; }
bool same(const QPointF& a, const QPointF& b) { return a.x() == b.x() && a.y() == b.y(); }
bool same(const QSizeF& a, const QSizeF& b) { return a.width() == b.width() && a.height() == b.height(); }
bool same(const QRectF& a, const QRectF& b) { return same(a.topLeft(), b.topLeft()) && same(a.size(), b.size()); }
bool same(const Band& a, const Band& b)
{
    return a.stage == b.stage && a.last == b.last && same(a.top, b.top) && same(a.bottom, b.bottom);
}
bool same(const NodeText& a, const NodeText& b)
{
    return a.label == b.label && a.detail == b.detail && same(a.labelWidth, b.labelWidth) &&
           same(a.detailWidth, b.detailWidth) && a.shortened == b.shortened;
}
bool same(const SceneEdge& a, const SceneEdge& b)
{
    return a.from == b.from && a.to == b.to && std::ranges::equal(a.values, b.values) &&
           std::ranges::equal(a.path, b.path, [](auto& x, auto& y) { return same(x, y); }) && a.cut == b.cut &&
           a.stored == b.stored && a.bytes == b.bytes && a.pins == b.pins;
}
bool same(const SceneStub& a, const SceneStub& b)
{
    return a.node == b.node && a.source == b.source && a.text == b.text && a.tip == b.tip &&
           same(a.textRect, b.textRect) && same(a.from, b.from) && same(a.to, b.to) && a.values == b.values;
}
bool same(const SceneStore& a, const SceneStore& b)
{
    return a.value == b.value && a.count == b.count && a.node == b.node && a.stage == b.stage && a.pinned == b.pinned &&
           a.name == b.name && a.named == b.named && a.down == b.down && a.up == b.up && same(a.rect, b.rect) &&
           same(a.anchor, b.anchor);
}
bool same(const Staging& a, const Staging& b)
{
    return a.stage == b.stage && a.lastStage == b.lastStage && a.again == b.again && a.byOp == b.byOp &&
           a.count == b.count;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b)
{
    return std::ranges::equal(a, b, [](const T& x, const T& y) { return same(x, y); });
}

// The parts of two scenes that differ; empty: none.
QString difference(const Scene& a, const Scene& b)
{
    const QRectF upper(a.bounds.topLeft(), QSizeF(a.bounds.width() / 2, a.bounds.height() / 2));
    const std::pair<const char*, bool> parts[] = {
        {"nodes of the graph", a.graph->nodes == b.graph->nodes},
        {"edges of the graph", a.graph->edges == b.graph->edges},
        {"stubs of the graph", a.graph->stubs == b.graph->stubs},
        {"frames of the graph", a.graph->frames == b.graph->frames},
        {"owners", a.graph->nodeOf == b.graph->nodeOf},
        {"stages", same(a.staging, b.staging)},
        {"sizes", same(a.sizes, b.sizes)},
        {"nodes", same(a.nodes, b.nodes)},
        {"texts", same(a.texts, b.texts)},
        {"frames", same(a.frames, b.frames)},
        {"edges", same(a.edges, b.edges)},
        {"stubs", same(a.stubs, b.stubs)},
        {"stores", same(a.stores, b.stores)},
        {"inner stores", a.innerStores == b.innerStores},
        {"pins", a.pins == b.pins},
        {"moved", a.moved == b.moved},
        {"bands", same(a.bands, b.bands)},
        {"depth", a.depthless == b.depthless},
        {"bounds", same(a.bounds, b.bounds)},
        {"index of nodes", a.nodeIndex.inside(upper) == b.nodeIndex.inside(upper)},
        {"index of edges", a.edgesInside(upper) == b.edgesInside(upper) && a.edgeOfPiece == b.edgeOfPiece}};
    QStringList different;
    for (const auto& [part, equal] : parts)
        if (!equal) different << QString::fromLatin1(part);
    return different.join(QStringLiteral(", "));
}

models::PartsPtr partsOf(const models::ModelPtr& model)
{
    return std::make_shared<const models::ModelParts>(models::partsOf(*model));
}

// Without a time limit, with which Qt asks again and again.
void finish(const SceneMaker& maker)
{
    while (maker.busy()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

// Opens and closes at random, in one maker that goes on and in one that begins anew each time.
class Walk {
public:
    Walk(unsigned seed, const QStringList& helper)
        : m_dice(seed),
          m_helper(helper),
          m_model(RandomModel(seed).write()),
          m_fold(prepareFold(*m_model))
    {
        for (const QString& key : fullyExpanded(m_fold).expanded) m_keys << key;
        m_keys.sort();  // a set has no order
        m_maker.client().setCommand(helper);
        m_maker.setModel(m_model, partsOf(m_model));
        m_state = m_dice.once(2) ? fullyExpanded(m_fold) : FoldState{};
    }
    // What differs after another step; empty: nothing.
    QString step()
    {
        changeState();
        if (m_dice.once(4)) m_plan = m_plan ? nullptr : samples::depthPlan(m_model);
        if (m_dice.once(4)) m_maker.setFold({});  // replaced on its way
        m_maker.setFold(m_state);
        m_maker.setPlan(m_plan);
        SceneMaker anew;
        anew.client().setCommand(m_helper);
        anew.setModel(m_model, partsOf(m_model));
        anew.setPlan(m_plan);
        anew.setFold(m_state);
        finish(m_maker);
        finish(anew);
        m_nodes += m_maker.scene()->nodes.size();
        return difference(*m_maker.scene(), *anew.scene());
    }
    [[nodiscard]] std::size_t nodes() const { return m_nodes; }  // seen in all steps

private:
    void changeState()
    {
        if (m_dice.once(12)) m_state = m_dice.once(3) ? FoldState{} : fullyExpanded(m_fold);
        if (m_dice.once(10)) m_state.everyOperator = !m_state.everyOperator;
        for (int changes = 1 + m_dice.below(2); changes > 0; --changes) {
            const QString& key = m_keys[m_dice.below(static_cast<int>(m_keys.size()))];
            if (!m_state.expanded.remove(key)) m_state.expanded.insert(key);
        }
    }

    Dice m_dice;
    QStringList m_helper, m_keys;
    models::ModelPtr m_model;
    FoldModel m_fold;
    FoldState m_state;
    models::PlanPtr m_plan;
    SceneMaker m_maker;
    std::size_t m_nodes = 0;
};

std::size_t asked(Arranger& arranger)
{
    std::size_t count = 0;
    for (auto round = arranger.nextRound(); !round.empty(); round = arranger.nextRound()) {
        std::vector<SmallLayout> layouts;
        for (const SmallGraph& graph : round) layouts.push_back(layeredLayout(graph));
        count += round.size();
        arranger.answer(layouts);
    }
    return count;
}

}  // namespace

class RefoldTest : public QObject {
    Q_OBJECT
private slots:
    void whatIsOpenedAndClosedLooksAsIfItWereLaidOutAnew_data()
    {
        QTest::addColumn<QStringList>("helper");
        QTest::addColumn<int>("first");
        QTest::newRow("laid out here") << QStringList{} << 1;
        QTest::newRow("laid out by the helper") << QStringList{LAYOUT_PROGRAM} << 1001;
    }
    void whatIsOpenedAndClosedLooksAsIfItWereLaidOutAnew()
    {
        QFETCH(QStringList, helper);
        QFETCH(int, first);
        constexpr int steps = 8;
        const int walks = helper.isEmpty() ? 30 : 6;
        std::size_t nodes = 0;
        for (int seed = first; seed < first + walks; ++seed) {
            Walk walk(static_cast<unsigned>(seed), helper);
            for (int step = 0; step < steps; ++step) {
                const QString different = walk.step();
                const QString where = QStringLiteral("seed %1, step %2: ").arg(seed).arg(step);
                QVERIFY2(different.isEmpty(), qPrintable(where + different));
            }
            nodes += walk.nodes();
        }
        QVERIFY2(nodes > static_cast<std::size_t>(15 * walks * steps), "the models are too small to show anything");
    }

    void onlyTheFramesAroundWhatIsClosedAreLaidOutAgain()
    {
        const models::ModelPtr model = samples::largeModel(1000);
        const FoldModel fold = prepareFold(*model);
        FoldState state = fullyExpanded(fold);
        SceneMemory memory;
        const VisibleGraph open = visibleGraph(fold, state);
        Arranger first(open, nodeSizes(open, memory.texts), memory.frames);
        QVERIFY(asked(first) > 100);
        QVERIFY(state.expanded.remove(QStringLiteral("stages.3.blocks.4")));
        const VisibleGraph closed = visibleGraph(fold, state, &open);
        Arranger second(closed, nodeSizes(closed, memory.texts), memory.frames);
        QVERIFY(asked(second) <= 5);
        Arranger third(closed, nodeSizes(closed, memory.texts), memory.frames);
        QCOMPARE(asked(third), std::size_t(0));
        const auto rects = second.rects(), again = third.rects();
        QVERIFY(same(rects, again));
    }

    void edgesTakeTheSameWayWhereverTheyAre()
    {
        const models::ModelPtr model = samples::largeModel(1000);
        SceneMaker maker;
        maker.setModel(model, partsOf(model));
        maker.setFold(fullyExpanded(prepareFold(*model)));
        finish(maker);
        const Scene& scene = *maker.scene();
        const QPointF by(1234.25, 98765.5);
        std::vector<QRectF> moved, frames;
        for (const QRectF& node : scene.nodes) moved.push_back(node.translated(by));
        for (const QRectF& frame : scene.frames) frames.push_back(frame.translated(by));
        const GridIndex index(scene.nodes), movedIndex(moved);
        DetourMemory memory, other;
        Router router(scene.nodes, index, scene.frames, scene.bounds, memory);
        Router elsewhere(moved, movedIndex, frames, scene.bounds.translated(by), other);
        int detours = 0;
        for (const SceneEdge& edge : scene.edges) {
            if (scene.graph->nodes[edge.to].prologue) continue;
            std::vector<QPointF> path, away;
            router.route(edge.from, edge.to, path);
            elsewhere.route(edge.from, edge.to, away);
            detours += path.size() > 4 ? 1 : 0;
            QCOMPARE(away.size(), path.size());
            for (std::size_t i = 0; i < path.size(); ++i) QVERIFY((away[i] - by - path[i]).manhattanLength() < 1e-6);
        }
        QVERIFY(detours > 50);
    }
};

HOPSCOPE_QT_SUITE(refold, RefoldTest)
#include "test_refold.moc"
