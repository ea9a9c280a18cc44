#include <QImageReader>
#include <QTemporaryDir>
#include <QTest>

#include "graphview/graph_samples.h"
#include "graphview/scene/check_geometry.h"
#include "graphview/scene/export_picture.h"
#include "graphview/scene/level_of_detail.h"
#include "graphview/scene/paint_parts.h"
#include "graphview/scene/scene_maker.h"
#include "graphview/view/hit.h"
#include "graphview/view/navigation.h"
#include "models/labels.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::graphview;

namespace {

models::PartsPtr partsOf(const models::ModelPtr& model)
{
    return std::make_shared<const models::ModelParts>(models::partsOf(*model));
}

// Laid out in this process, without the helper.
ScenePtr sceneOf(const models::ModelPtr& model, const models::PlanPtr& plan, bool open = false)
{
    SceneMaker maker;
    maker.setModel(model, partsOf(model));
    maker.setPlan(plan);
    if (open) maker.setFold(fullyExpanded(prepareFold(*model)));
    return QTest::qWaitFor([&] { return !maker.busy(); }, 60'000) ? maker.scene() : nullptr;
}

models::ModelPtr modelNamed(const QString& name)
{
    if (name == QLatin1String("3 layers")) return samples::layeredModel(3, false);
    if (name == QLatin1String("64 layers with skips")) return samples::layeredModel(64, true);
    if (name == QLatin1String("1,000 operators")) return samples::largeModel(1000);
    return samples::readModelFile(QStringLiteral(GRAPH_DATA "/%1.inspect.json").arg(name));
}

models::PlanPtr planNamed(const QString& name, const models::ModelPtr& model)
{
    const models::PlanPtr plan = samples::readPlanFile(QStringLiteral(GRAPH_DATA "/%1.plan.json").arg(name), model);
    return plan ? plan : samples::depthPlan(model);
}

void reportFaults(const QStringList& faults)
{
    QVERIFY2(faults.isEmpty(), qPrintable(QString::number(faults.size()) + " faults: " + faults.mid(0, 5).join("; ")));
}

}  // namespace

// The first row-wise operators that stand alone, into `nodes`, differ by so much; of one more nothing is known.
static schema::DivergenceRecord differing(const Scene& scene, const protocol::ModelRecord& model,
                                          const std::vector<double>& errors, std::vector<std::size_t>& nodes)
{
    schema::DivergenceRecord found{.first = "staged", .second = "unsplit"};
    for (std::size_t at = 0; at < scene.graph->nodes.size() && nodes.size() <= errors.size(); ++at) {
        const VisibleNode& node = scene.graph->nodes[at];
        if (node.ops.size() != 1 || node.shape != Shape::Rowwise) continue;
        const ir::OpId op(std::stoi(model.ops[node.op].id.substr(2)));
        if (nodes.size() < errors.size())
            found.growth.push_back({.op = op, .value = {}, .maxAbsolute = errors[nodes.size()]});
        nodes.push_back(at);
    }
    return found;
}

class SceneTest : public QObject {
    Q_OBJECT
private slots:
    void picturesAreSound_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("open");
        QTest::addColumn<bool>("planned");
        for (const char* name : {"3 layers", "64 layers with skips", "1,000 operators", "jknet", "gat"})
            for (bool open : {false, true})
                for (bool planned : {false, true})
                    QTest::addRow("%s%s%s", name, open ? ", open" : "", planned ? ", planned" : "")
                        << QString::fromLatin1(name) << open << planned;
    }
    void picturesAreSound()
    {
        QFETCH(QString, name);
        QFETCH(bool, open);
        QFETCH(bool, planned);
        const models::ModelPtr model = modelNamed(name);
        QVERIFY(model);
        const models::PlanPtr plan = planned ? planNamed(name, model) : nullptr;
        const ScenePtr scene = sceneOf(model, plan, open);
        QVERIFY(scene);
        for (style::Mode mode : {style::Mode::Light, style::Mode::Dark}) {
            const style::Theme theme = style::loadTheme(mode);
            const ColourData data{model.get(), plan.get(), nullptr};
            for (ColourMode colours : {ColourMode::Depth, ColourMode::Stage, ColourMode::Kind, ColourMode::Bytes})
                reportFaults(checkGeometry(*scene, colourNodes(*scene, colours, data, theme), theme));
        }
    }

    void theCheckerFindsFaults()
    {
        const models::ModelPtr model = samples::layeredModel(3, false);
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const ScenePtr good = sceneOf(model, samples::depthPlan(model));
        const Colouring colouring = colourNodes(*good, ColourMode::Depth, {model.get(), nullptr, nullptr}, theme);
        const auto faults = [&](auto spoil) {
            Scene scene = *good;
            Colouring colours = colouring;
            spoil(scene, colours);
            scene.nodeIndex = GridIndex(scene.nodes);
            return checkGeometry(scene, colours, theme).join(QLatin1Char('\n'));
        };
        const int node = good->edges.back().to, before = good->edges.back().from;
        QVERIFY(faults([&](Scene& s, Colouring&) { s.nodes[node] = s.nodes[before]; }).contains("overlaps"));
        QVERIFY(faults([&](Scene& s, Colouring&) { s.texts[node].label = QString(80, 'W'); }).contains("clipped"));
        const QRectF label(good->edges.back().path.back() - QPointF(20, 16), QSizeF(40, 15));
        QVERIFY(faults([&](Scene& s, Colouring&) { s.stubs.emplace_back().textRect = label; }).contains("covers"));
        QVERIFY(faults([&](Scene& s, Colouring&) {
                    std::swap(s.edges.back().from, s.edges.back().to);
                }).contains("goes up"));
        QVERIFY(faults([&](Scene&, Colouring& c) { c.text[node] = c.fill[node]; }).contains("contrast"));
        QVERIFY(faults([&](Scene& s, Colouring&) { s.nodes[node].translate(0, 5000); }).contains("band"));
    }

    void stagesAreBandsFromTopToBottom()
    {
        const ScenePtr scene = sceneOf(modelNamed("jknet"), planNamed("jknet", modelNamed("jknet")));
        QCOMPARE(scene->bands.size(), std::size_t(4));
        for (std::size_t i = 1; i < scene->bands.size(); ++i) {
            QCOMPARE(scene->bands[i].stage, StageId(static_cast<int>(i)));
            QCOMPARE(scene->bands[i].top, scene->bands[i - 1].bottom);
        }
    }

    void everyStageIsNamedByABandWhateverIsFolded()
    {
        for (const int layers : {2, 5, 40}) {
            const models::ModelPtr model = samples::layeredModel(layers, false);
            SceneMaker maker;
            maker.setModel(model, partsOf(model));
            maker.setPlan(samples::depthPlan(model));
            maker.setFold({});
            QTRY_VERIFY(!maker.busy());
            const Scene& scene = *maker.scene();
            int named = 0;
            for (const Band& band : scene.bands) {
                if (!band.stage.valid()) continue;
                QCOMPARE(band.stage.number, named + 1);
                named = band.last.number;
            }
            QCOMPARE(named, layers);
            for (int stage = 1; stage <= layers; ++stage) QVERIFY(scene.bandOf(StageId(stage)));
            const QString all = QStringLiteral("Stages 1\u2013%1").arg(layers - 1);
            QCOMPARE(bandTitle(scene.bands[1]), layers == 2 ? QStringLiteral("Stage 1") : all);
            const auto box = std::ranges::find(scene.graph->nodes, Shape::Module, &VisibleNode::shape);
            QCOMPARE(badgeText(*box), QStringLiteral("depth 0\u2013%1").arg(layers));
        }
    }

    // zeros_like() of a stored value reads its shape alone: the value stays inside.
    void whatABoxKeepsForItselfIsCountedOnIt()
    {
        samples::ModelWriter writer;
        const int edges = writer.input("edge_index", true);
        int h = writer.input("x");
        for (const std::string block : {"a.0", "a.1", "a.2"}) {
            const int zeros = writer.op(protocol::NodeKind::Structure, "aten::zeros_like", block, "Block", {h});
            h = writer.op(protocol::NodeKind::Gather, "aten::index_select", block, "Block", {h, edges});
            h = writer.op(protocol::NodeKind::Aggregate, "aten::index_add", block, "Block", {zeros, edges, h});
        }
        writer.output(h);
        const models::ModelPtr model = writer.finish();
        SceneMaker maker;
        maker.setModel(model, partsOf(model));
        maker.setPlan(samples::depthPlan(model));
        maker.setFold({});
        QTRY_VERIFY(!maker.busy());
        QVERIFY(maker.scene()->stores.empty());
        QCOMPARE(*std::ranges::max_element(maker.scene()->innerStores), 2);
    }

    void storesSideBySideSayWhoseTheyAre()
    {
        samples::ModelWriter writer;
        const int edges = writer.input("edge_index", true), x = writer.input("x");
        const int left = writer.op(protocol::NodeKind::Gather, "aten::index_select", "left", "L", {x, edges});
        const int right = writer.op(protocol::NodeKind::Gather, "aten::index_select", "right", "R", {x, edges});
        const int both = writer.op(protocol::NodeKind::Rowwise, "aten::add.Tensor", "", "", {left, right});
        const int last = writer.op(protocol::NodeKind::Gather, "aten::index_select", "last", "G", {both, edges});
        const int sum = writer.op(protocol::NodeKind::Rowwise, "aten::mul.Tensor", "", "", {last, left});
        writer.output(writer.op(protocol::NodeKind::Rowwise, "aten::sub.Tensor", "", "", {sum, right}));
        const models::ModelPtr model = writer.finish();
        const ScenePtr scene = sceneOf(model, samples::depthPlan(model));
        QVERIFY(scene->stores.size() >= 3);
        for (const SceneStore& store : scene->stores) {
            QVERIFY(store.named);
            QCOMPARE(store.name, models::valueLabel(*model, protocol::ValueId(store.value)));
            const Hit hit{Hit::Kind::Store, static_cast<int>(&store - scene->stores.data())};
            QVERIFY2(tipAt(*scene, {}, hit, {}).startsWith(store.name), qPrintable(tipAt(*scene, {}, hit, {})));
        }
        const ScenePtr single = sceneOf(modelNamed("3 layers"), samples::depthPlan(modelNamed("3 layers")));
        for (const SceneStore& store : single->stores) QVERIFY(!store.named);
    }

    void anotherPlanMovesRowsButAsksForNoLayout()
    {
        const models::ModelPtr model = samples::layeredModel(6, true);
        SceneMaker maker;
        maker.setModel(model, partsOf(model));
        QTRY_VERIFY(!maker.busy());
        const ScenePtr before = maker.scene();
        maker.setPlan(samples::depthPlan(model));
        QTRY_VERIFY(!maker.busy());
        const ScenePtr after = maker.scene();
        QVERIFY(before != after);
        QCOMPARE(after->nodes.size(), before->nodes.size());
        for (std::size_t i = 0; i < after->nodes.size(); ++i) {
            if (after->graph->nodes[i].prologue || after->graph->nodes[i].shape == Shape::Input) continue;
            QCOMPARE(after->nodes[i].left(), before->nodes[i].left());
            QCOMPARE(after->nodes[i].size(), before->nodes[i].size());
        }
        QCOMPARE(maker.client().fallbacks(), 0);
    }

    void storedValuesHaveAStoreAndTheirEdgesAreCut()
    {
        const models::ModelPtr model = modelNamed("jknet");
        const models::PlanPtr plan = planNamed("jknet", model);
        const ScenePtr scene = sceneOf(model, plan);
        std::size_t stored = 0;
        for (const auto& checkpoint : plan->checkpoints) stored += !checkpoint.output;
        QCOMPARE(scene->stores.size(), stored);
        for (const SceneStore& store : scene->stores) {
            const Band* band = scene->bandOf(store.stage);
            QVERIFY(band);
            QVERIFY(std::abs(store.rect.center().y() - band->bottom) < 1);
            const auto cut = [&](const SceneEdge& edge) { return edge.cut && edge.stored == store.value; };
            QVERIFY(std::any_of(scene->edges.begin(), scene->edges.end(), cut));
        }
        for (const SceneEdge& edge : scene->edges)
            if (edge.cut) QVERIFY(scene->staging.lastStage[edge.to] >= scene->staging.stage[edge.from]);
    }

    void edgesGoAroundNodes()
    {
        const ScenePtr scene = sceneOf(modelNamed("gat"), planNamed("gat", modelNamed("gat")));
        int crossed = 0;
        for (const SceneEdge& edge : scene->edges)
            for (int step = 1; step < 80; ++step) {
                const int node = scene->nodeAt(pointOnPath(edge.path, step / 80.0));
                if (node >= 0 && node != edge.from && node != edge.to) ++crossed, step = 80;
            }
        QCOMPARE(crossed, 0);
    }

    void theGridFindsWhatALinearScanFinds()
    {
        std::vector<QRectF> rects;
        quint32 seed = 7;
        const auto next = [&] { return (seed = seed * 1664525 + 1013904223) >> 16; };
        for (int i = 0; i < 500; ++i)
            rects.emplace_back(next() % 5000, next() % 9000, 1 + next() % 900, 1 + next() % 60);
        const GridIndex index(rects);
        for (int i = 0; i < 200; ++i) {
            const QRectF area(double(next() % 6000) - 500, double(next() % 10000) - 500, next() % 1500, next() % 1500);
            std::vector<int> expected;
            for (int r = 0; r < 500; ++r)
                if (rects[r].left() <= area.right() && area.left() <= rects[r].right() &&
                    rects[r].top() <= area.bottom() && area.top() <= rects[r].bottom())
                    expected.push_back(r);
            QCOMPARE(index.inside(area), expected);
        }
    }

    void aConeHoldsAncestorsAndDescendants()
    {
        const models::ModelPtr model = modelNamed("jknet");
        const ScenePtr scene = sceneOf(model, nullptr);
        const int out = scene->graph->nodeByKey(QStringLiteral("output.out"));
        const auto all = cone(*scene->graph, out);
        for (std::size_t i = 0; i < all.size(); ++i)
            QVERIFY2(all[i], qPrintable(scene->graph->nodes[i].key));  // everything leads to the only output
        const int x = scene->graph->nodeByKey(QStringLiteral("input.x"));
        const int edges = scene->graph->nodeByKey(QStringLiteral("input.edge_index"));
        QVERIFY(!cone(*scene->graph, x)[edges]);
    }

    void aPictureOfThirtyTwoThousandPixelsIsWhole()
    {
        samples::ModelWriter writer;
        int value = writer.input("x");
        for (int i = 0; i < 160; ++i) value = writer.op(protocol::NodeKind::Rowwise, "aten::tanh", "", "", {value});
        writer.output(value);
        const models::ModelPtr model = writer.finish();
        const ScenePtr scene = sceneOf(model, nullptr);
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const Colouring colouring = colourNodes(*scene, ColourMode::Depth, {model.get(), nullptr, nullptr}, theme);
        QTemporaryDir folder;
        const QString file = folder.filePath("graph.png");
        QCOMPARE(exportScene(*scene, colouring, theme, file, maxPictureSide), QString());
        QImageReader::setAllocationLimit(0);
        const QImage picture(file);
        QCOMPARE(picture.height(), 32'000);
        const QRectF area = scene->bounds.adjusted(-120, 0, 20, 0);
        const qreal scale = picture.height() / area.height();
        for (std::size_t node = 0; node < scene->nodes.size(); ++node) {
            const QPointF at = QPointF(scene->nodes[node].left() + 14, scene->nodes[node].center().y());
            QCOMPARE(QColor(picture.pixel(((at - area.topLeft()) * scale).toPoint())), colouring.fill[node]);
        }
    }

    void searchFindsAllWordsWithoutCase()
    {
        const models::ModelPtr model = modelNamed("jknet");
        const models::SearchIndex index = models::partsOf(*model).search;
        QCOMPARE(index.find("CONVS.1 index_select").size(), std::size_t(1));
        QCOMPARE(index.find("aten::relu").size(), std::size_t(3));
        QVERIFY(index.find("").empty());
        QVERIFY(index.find("nothing like this").empty());
        for (const protocol::OpId op : index.find("gather source"))
            QCOMPARE(model->ops[op].kind, protocol::NodeKind::Gather);
    }

    void modesWithoutDataSayWhy()
    {
        const models::ModelPtr model = modelNamed("jknet");
        const ColourData data{model.get(), nullptr, nullptr};
        QVERIFY(whyUnavailable(ColourMode::Depth, data).isEmpty());
        QVERIFY(whyUnavailable(ColourMode::Bytes, data).isEmpty());
        for (ColourMode mode : {ColourMode::Stage, ColourMode::Time, ColourMode::Memory, ColourMode::Error})
            QVERIFY(!whyUnavailable(mode, data).isEmpty());
    }

    void errorsOfAComparisonAreColours()
    {
        const models::ModelPtr model = modelNamed("jknet");
        const ScenePtr scene = sceneOf(model, nullptr);
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        std::vector<std::size_t> alone;
        const schema::DivergenceRecord found = differing(*scene, *model, {1e-6, 1, NAN}, alone);
        const ColourData data{.model = model.get(), .plan = nullptr, .report = nullptr, .divergence = &found};
        QVERIFY(whyUnavailable(ColourMode::Error, data).isEmpty());
        const Colouring colouring = colourNodes(*scene, ColourMode::Error, data, theme);
        const QColor expected[] = {theme.scale.first(), theme.scale.last(), theme.bad, theme.raised};
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(colouring.fill[alone[i]], expected[i]);
        QCOMPARE(colouring.legend.back().label, QString("not finite"));
    }

    // Time of all stages of a box, and the largest memory: a box of many stages is not the palest.
    void aBoxOfSeveralStagesHasTheColourOfAllOfThem()
    {
        const models::ModelPtr model = samples::layeredModel(12, false);
        auto plan = std::make_shared<protocol::PlanRecord>(*samples::depthPlan(model));
        plan->predicted.emplace();
        for (int stage = 1; stage <= 12; ++stage) {
            plan->predicted->stages.emplace_back();
            plan->predicted->stages.back().index = protocol::StageId(stage);
            plan->predicted->stages.back().seconds = stage == 12 ? 0.2 : 0.1;
        }
        SceneMaker maker;
        maker.setModel(model, partsOf(model));
        maker.setPlan(plan);
        maker.setFold({});
        QTRY_VERIFY(!maker.busy());
        const Scene& scene = *maker.scene();
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const Colouring colouring =
            colourNodes(scene, ColourMode::PredictedTime, {model.get(), plan.get(), nullptr}, theme);
        const auto box = std::ranges::find(scene.graph->nodes, Shape::Module, &VisibleNode::shape);
        const auto index = static_cast<std::size_t>(box - scene.graph->nodes.begin());
        QVERIFY(scene.staging.lastStage[index] > scene.staging.stage[index]);
        QCOMPARE(colouring.fill[index], theme.scale.back());
        QCOMPARE(colouring.legend.back().label, models::formatSeconds(11 * 0.1 + 0.2));
        // What is known of operators counts instead: of those in a box, in all stages.
        const ir::OpId first(box->ops.front().index), last(box->ops.back().index);  // "op7" is at position 7
        plan->predicted->stages[0].operators = {{first, 0.25}, {last, 0.5}};
        plan->predicted->stages[3].operators = {{first, 0.125}};
        const Colouring each = colourNodes(scene, ColourMode::PredictedTime, {model.get(), plan.get(), nullptr}, theme);
        QCOMPARE(each.legend.back().label, models::formatSecondsFinely(first == last ? 0.625 : 0.875));
        QCOMPARE(each.fill[index], theme.scale.back());
    }

    // An operator has its own time where it was measured, whatever its stage took; those of one pass have the same.
    void measuredTimesAreThoseOfOperators()
    {
        const models::ModelPtr model = samples::layeredModel(2, false);
        SceneMaker maker;
        maker.setModel(model, partsOf(model));
        maker.setPlan(samples::depthPlan(model));
        FoldState open{.expanded = {}, .everyOperator = true};
        for (const protocol::OpRecord& op : model->ops) {
            QString path = QString::fromStdString(op.module);
            for (; !path.isEmpty(); path.truncate(std::max<qsizetype>(path.lastIndexOf('.'), 0)))
                open.expanded.insert(path);
        }
        maker.setFold(open);
        QTRY_VERIFY(!maker.busy());
        const Scene& scene = *maker.scene();
        std::vector<std::string> ids;
        for (const protocol::OpRecord& op : model->ops)
            if (op.computes() && !op.structureOnly) ids.push_back(op.id);
        QVERIFY(ids.size() >= 4);
        schema::Report report;
        report.stages.emplace_back().seconds = 100;
        report.stages.back().operators = {{ids[0], "", {}, 0.001, 10}, {ids[2], "", {ids[1]}, 0.5, 4096}};
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const ColourData data{model.get(), nullptr, &report};
        const auto colourOf = [&](const Colouring& colouring, const std::string& id) {
            const auto node = std::ranges::find(scene.graph->nodes, model->findOp(id), &VisibleNode::op);
            return colouring.fill[static_cast<std::size_t>(node - scene.graph->nodes.begin())];
        };
        const Colouring time = colourNodes(scene, ColourMode::Time, data, theme);
        QCOMPARE(time.legend.back().label, QStringLiteral("500 ms"));
        QCOMPARE(colourOf(time, ids[0]), theme.scale.front());
        QCOMPARE(colourOf(time, ids[1]), theme.scale.back());
        QCOMPARE(colourOf(time, ids[2]), theme.scale.back());
        QCOMPARE(colourOf(time, ids[3]), theme.raised);
        const Colouring memory = colourNodes(scene, ColourMode::Memory, data, theme);
        QCOMPARE(memory.legend.back().label, QStringLiteral("4.0 KiB"));
    }

    void fromAfarEveryNodeLeavesItsColour()
    {
        const models::ModelPtr model = samples::largeModel(1000);
        const ScenePtr scene = sceneOf(model, nullptr, true);
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const Colouring colouring = colourNodes(*scene, ColourMode::Kind, {model.get(), nullptr, nullptr}, theme);
        QImage image(900, 900, QImage::Format_RGB32);
        image.fill(theme.panel);
        Camera camera;
        camera.scale = 0.2;
        camera.offset = QPointF(450, 10) - QPointF(scene->bounds.center().x(), 0) * camera.scale;
        drawFromAfar(image, *scene, colouring, theme, camera, {});
        int seen = 0;
        for (std::size_t node = 0; node < scene->nodes.size(); ++node) {
            const QRectF box = camera.toScreen(scene->nodes[node]);
            if (!QRectF(image.rect()).contains(box)) continue;
            ++seen;
            QCOMPARE(QColor(image.pixel(box.center().toPoint())), colouring.fill[node]);
        }
        QVERIFY(seen > 20);
    }

    // What is left out of long edges and of frames, as it lies outside, is not missed.
    void aPartIsPaintedAsItIsInTheWhole()
    {
        const models::ModelPtr model = samples::largeModel(1000);
        const ScenePtr scene = sceneOf(model, nullptr, true);
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const Colouring colouring = colourNodes(*scene, ColourMode::Kind, {model.get(), nullptr, nullptr}, theme);
        const auto painted = [&](const QRectF& part, const QRectF& exposed) {
            QImage image(part.size().toSize(), QImage::Format_RGB32);
            image.fill(theme.panel);
            QPainter painter(&image);
            painter.translate(-part.topLeft());
            painter.setClipRect(part);
            paintScene({painter, *scene, colouring, theme, {}}, exposed);
            return image;
        };
        for (const qreal down : {0.1, 0.3, 0.5, 0.7, 0.9}) {
            const QPointF centre(scene->bounds.center().x(), scene->bounds.top() + down * scene->bounds.height());
            const QRectF part = QRect(centre.toPoint() - QPoint(250, 200), QSize(500, 400));
            const QImage alone = painted(part, part), ofAll = painted(part, scene->bounds);
            int different = 0;
            for (int y = 0; y < alone.height(); ++y)
                for (int x = 0; x < alone.width(); ++x)
                    different += std::abs(qGray(alone.pixel(x, y)) - qGray(ofAll.pixel(x, y))) > 40 ? 1 : 0;
            QVERIFY2(different <= 20, qPrintable(QString("%1 pixels at %2").arg(different).arg(down)));
        }
    }
};

HOPSCOPE_QT_SUITE(scene, SceneTest)
#include "test_scene.moc"
