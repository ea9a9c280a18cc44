// How batches move over a graph: frames against a count of their own on random plans and graphs, the words, the picture, and
// the files.

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>
#include <QtEndian>
#include <random>
#include <set>

#include "study/animation/animated_png.h"
#include "study/animation/animation_export.h"
#include "study/animation/animation_layout.h"
#include "study/animation/animation_view.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::study;

namespace {

using Row = std::pair<std::string, std::int64_t>;  // of a table
using Rows = std::set<Row>;

// A model and a plan with one operator on each kind of rows for every loop, and a part of a graph.
struct Case {
    std::mt19937 random;
    std::shared_ptr<protocol::ModelRecord> model = std::make_shared<protocol::ModelRecord>();
    std::shared_ptr<protocol::PlanRecord> plan = std::make_shared<protocol::PlanRecord>();
    schema::GraphPart part;
    std::int64_t batch = 1;

    explicit Case(unsigned seed, std::optional<int> deep = {}) : random(seed)
    {
        makePart();
        std::vector<protocol::ValueId> before;
        for (const schema::PartTable& table : part.tables) before.push_back(value(table.table + " input", true));
        const int stages = deep ? *deep : draw(1, 3);
        for (int stage = 1; stage <= stages; ++stage) before = addStage(stage, before, stage == stages);
        batch = draw(1, 6);
    }

    int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }

    protocol::ValueId value(const std::string& label, bool input)
    {
        protocol::ValueRecord made;
        made.id = "v" + std::to_string(model->values.size());
        made.label = label;
        made.origin = input ? protocol::Origin::Input : protocol::Origin::Op;
        model->values.push_back(made);
        return protocol::ValueId(static_cast<int>(model->values.size()) - 1);
    }

    protocol::OpId op(const std::string& name)
    {
        protocol::OpRecord made;
        made.id = "op" + std::to_string(model->ops.size());
        made.name = "aten::" + name;
        model->ops.push_back(made);
        return protocol::OpId(static_cast<int>(model->ops.size()) - 1);
    }

    void makePart()
    {
        part.complete = draw(0, 1) == 1;
        const int tables = draw(1, 2);
        for (int t = 0; t < tables; ++t) {
            schema::PartTable table{
                .table = t == 0 ? "node" : "item", .label = t == 0 ? "node" : "item", .rows = draw(3, 20)};
            for (std::int64_t id = 0; id < table.rows; ++id) {
                if (!part.complete && draw(0, 3) == 0) continue;
                table.ids.push_back(id);
                if (part.complete || draw(0, 1) == 1) table.whole.push_back(id);
            }
            part.tables.push_back(table);
        }
        for (int r = draw(1, 3); r > 0; --r) addRelation("edges" + std::to_string(r));
    }

    void addRelation(const std::string& name)
    {
        const schema::PartTable
            &from = part.tables[static_cast<std::size_t>(draw(0, static_cast<int>(part.tables.size()) - 1))],
            &to = part.tables[static_cast<std::size_t>(draw(0, static_cast<int>(part.tables.size()) - 1))];
        schema::PartRelation relation{
            .table = name, .owner = "dst", .key = "src", .label = name, .from = from.table, .to = to.table, .of = 99};
        if (!from.ids.empty())
            for (const std::int64_t node : to.whole)
                for (int edges = draw(0, 4); edges > 0; --edges) {
                    relation.fromIds.push_back(
                        from.ids[static_cast<std::size_t>(draw(0, static_cast<int>(from.ids.size()) - 1))]);
                    relation.toIds.push_back(node);
                }
        part.relations.push_back(relation);
    }

    // Each table has a loop, which gathers along some of the relations into it.
    std::vector<protocol::ValueId> addStage(int number, const std::vector<protocol::ValueId>& before, bool last)
    {
        protocol::PlanStage stage;
        stage.index = protocol::StageId(number);
        std::vector<protocol::ValueId> written;
        for (const schema::PartTable& table : part.tables) {
            protocol::PlanLoop loop;
            loop.destination = table.table;
            const std::string own = "B(" + table.table + ")";
            for (const schema::PartRelation& relation : part.relations) {
                if (relation.to != table.table || draw(0, 3) == 0) continue;
                loop.frontier.push_back({relation.from, relation.table, "dst", "src"});
                stage.steps.push_back({op("linear"), "F(" + relation.from + ")", table.table});
                stage.steps.push_back({op("index_select"), "O(" + relation.table + ",dst)", table.table});
                stage.steps.push_back({op("mul"), "O(" + relation.table + ",dst)", table.table});
                for (std::size_t t = 0; t < part.tables.size(); ++t)
                    if (part.tables[t].table == relation.from)
                        loop.reads.push_back({before[t], "F(" + relation.from + ")"});
            }
            stage.steps.push_back({op("relu"), own, table.table});
            written.push_back(value(table.table + " of stage " + std::to_string(number), false));
            loop.writes.push_back({written.back(), own});
            plan->checkpoints.push_back(
                {.value = written.back(), .stage = stage.index, .output = last, .bytesWritten = {}, .bytesRead = {}});
            stage.reads.insert(stage.reads.end(), loop.reads.begin(), loop.reads.end());
            stage.writes.insert(stage.writes.end(), loop.writes.begin(), loop.writes.end());
            stage.loops.push_back(loop);
        }
        plan->stages.push_back(stage);
        return written;
    }

    [[nodiscard]] std::vector<std::int64_t> wholeOf(const std::string& table) const
    {
        for (const schema::PartTable& each : part.tables)
            if (each.table == table) return each.whole;
        return {};
    }

    [[nodiscard]] ShowPtr show() const
    {
        auto made = std::make_shared<Show>();
        made->model = model;
        made->plan = plan;
        made->part = part;
        made->animation = animate(*model, *plan, part, batch);
        made->places = placeNodes(made->animation);
        return made;
    }
};

Rows rowsOf(const Case& made, const Animation& animation, const std::vector<int>& nodes)
{
    Rows rows;
    for (const int n : nodes) {
        const DrawnNode& node = animation.nodes[static_cast<std::size_t>(n)];
        rows.insert({made.part.tables[static_cast<std::size_t>(node.table)].table, node.id});
    }
    return rows;
}

// By brute force over the edges of the part.
Rows frontierOf(const Case& made, const protocol::PlanLoop& loop, const Rows& own)
{
    Rows wanted;
    for (const protocol::PlanFrontier& source : loop.frontier) {
        if (source.type == loop.destination) wanted.insert(own.begin(), own.end());
        for (const schema::PartRelation& relation : made.part.relations)
            if (relation.table == source.space)
                for (std::size_t e = 0; e < relation.toIds.size(); ++e)
                    if (own.contains({relation.to, relation.toIds[e]}))
                        wanted.insert({relation.from, relation.fromIds[e]});
    }
    return wanted;
}

std::vector<std::pair<QByteArray, QByteArray>> chunksOf(const QByteArray& png)
{
    std::vector<std::pair<QByteArray, QByteArray>> chunks;
    for (qsizetype at = 8; at < png.size();) {
        const auto length = static_cast<qsizetype>(qFromBigEndian<quint32>(png.constData() + at));
        chunks.emplace_back(png.mid(at + 4, 4), png.mid(at + 8, length));
        at += 12 + length;
    }
    return chunks;
}

// With a table, as the standard's appendix computes it.
QByteArray checkedChunk(const QByteArray& type, const QByteArray& data)
{
    static const auto table = [] {
        std::array<quint32, 256> made{};
        for (quint32 n = 0; n < 256; ++n) {
            quint32 c = n;
            for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
            made[n] = c;
        }
        return made;
    }();
    quint32 crc = 0xffffffffU;
    for (const char byte : type + data) crc = table[(crc ^ static_cast<quint8>(byte)) & 0xffU] ^ (crc >> 8);
    char length[4], sum[4];
    qToBigEndian(static_cast<quint32>(data.size()), length);
    qToBigEndian(crc ^ 0xffffffffU, sum);
    return QByteArray(length, 4) + type + data + QByteArray(sum, 4);
}

}  // namespace

class TestAnimation : public QObject {
    Q_OBJECT
private slots:
    void framesAreThoseOfACountOfTheirOwn();
    void nothingIsReadBeforeItIsExact();
    void nodesHaveDifferentPlacesAgainAndAgain();
    void everyFrameHasWordsAndAPicture();
    void theStoresOfADeepModelLeaveTheGraphItsRoom();
    void theFileHasEveryPicture();
    void framesAreNumberedFiles();
    void keysMoveThePicture();
    void playingEndsAtTheLastFrame();
};

void TestAnimation::framesAreThoseOfACountOfTheirOwn()
{
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Case made(seed);
        const Animation animation = animate(*made.model, *made.plan, made.part, made.batch);
        std::map<std::pair<int, int>, std::vector<std::int64_t>> seen;  // by stage and loop
        std::map<std::array<int, 3>, std::vector<protocol::OpId>> computed;
        for (const Frame& frame : animation.frames) {
            if (frame.moment == Moment::Start || frame.moment == Moment::Stage || frame.moment == Moment::Done)
                continue;
            const protocol::PlanStage& stage = made.plan->stages[static_cast<std::size_t>(frame.stage)];
            const protocol::PlanLoop& loop = stage.loops[static_cast<std::size_t>(frame.loop)];
            const Rows own = rowsOf(made, animation, frame.destinations);
            QCOMPARE(own.size(), frame.destinations.size());
            QVERIFY(std::ssize(own) <= made.batch);
            QVERIFY2(rowsOf(made, animation, frame.frontier) == frontierOf(made, loop, own),
                     qPrintable(QString::number(seed)));
            QCOMPARE(rowsOf(made, animation, frame.frontier).size(), frame.frontier.size());  // each once
            if (frame.moment == Moment::Block)
                for (const auto& [table, id] : own) seen[{frame.stage, frame.loop}].push_back(id);
            if (frame.moment == Moment::Compute)
                for (const protocol::OpId op : frame.ops) {
                    computed[{frame.stage, frame.loop, frame.batch}].push_back(op);
                    const auto step = std::ranges::find(stage.steps, op, &protocol::PlanStep::op);
                    QCOMPARE(step->rows, frame.rows);
                }
        }
        for (std::size_t s = 0; s < made.plan->stages.size(); ++s)
            for (std::size_t l = 0; l < made.plan->stages[s].loops.size(); ++l) {
                const std::string& table = made.plan->stages[s].loops[l].destination;
                const auto& nodes = seen[{static_cast<int>(s), static_cast<int>(l)}];
                QCOMPARE(nodes, made.wholeOf(table));  // each once, in order
                std::vector<protocol::OpId> wanted;
                for (const protocol::PlanStep& step : made.plan->stages[s].steps)
                    if (step.loop == table) wanted.push_back(step.op);
                const auto batches = (std::ssize(nodes) + made.batch - 1) / made.batch;
                for (int b = 0; b < batches; ++b)
                    QCOMPARE((computed[{static_cast<int>(s), static_cast<int>(l), b}]), wanted);
            }
    }
}

void TestAnimation::nothingIsReadBeforeItIsExact()
{
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Case made(seed);
        const Animation animation = animate(*made.model, *made.plan, made.part, made.batch);
        std::map<std::size_t, Rows> written;  // by store
        for (std::size_t f = 0; f < animation.frames.size(); ++f) {
            const Frame& frame = animation.frames[f];
            for (const int store : frame.stores) {
                const auto s = static_cast<std::size_t>(store);
                const DrawnStore& drawn = animation.stores[s];
                const Rows cells = rowsOf(made, animation, drawn.cells);
                if (frame.moment == Moment::Gather)
                    for (std::size_t c = 0; c < drawn.cells.size(); ++c)
                        if (std::ranges::find(frame.frontier, drawn.cells[c]) != frame.frontier.end())
                            QVERIFY(frame.exact[s][c] == 1);
                if (frame.moment == Moment::Write) {
                    const Rows own = rowsOf(made, animation, frame.destinations);
                    written[s].insert(own.begin(), own.end());
                }
                if (frame.moment == Moment::Write)
                    for (std::size_t c = 0; c < drawn.cells.size(); ++c) {
                        const Rows cell = rowsOf(made, animation, {drawn.cells[c]});
                        QCOMPARE(frame.exact[s][c] == 1, written[s].contains(*cell.begin()));
                    }
            }
            if (f > 0)
                for (std::size_t s = 0; s < frame.exact.size(); ++s)
                    for (std::size_t c = 0; c < frame.exact[s].size(); ++c)
                        QVERIFY(frame.exact[s][c] >= animation.frames[f - 1].exact[s][c]);
        }
        for (const auto& cells : animation.frames.back().exact) QCOMPARE(std::ranges::count(cells, 0), 0);
        const auto reached = stagesReached(animation, *made.plan, animation.frames.back());
        for (const int stage : reached) QCOMPARE(stage, static_cast<int>(made.plan->stages.size()));
    }
}

void TestAnimation::nodesHaveDifferentPlacesAgainAndAgain()
{
    for (unsigned seed = 0; seed < 40; ++seed) {
        const Animation animation = Case(seed).show()->animation;
        const std::vector<QPointF> places = placeNodes(animation);
        QCOMPARE(places, placeNodes(animation));
        for (std::size_t a = 0; a < places.size(); ++a) {
            QVERIFY(QRectF(-1e-9, -1e-9, 1 + 2e-9, 1 + 2e-9).contains(places[a]));
            for (std::size_t b = 0; b < a; ++b)
                QVERIFY(std::hypot(places[a].x() - places[b].x(), places[a].y() - places[b].y()) > 0.03);
        }
    }
}

void TestAnimation::everyFrameHasWordsAndAPicture()
{
    for (unsigned seed = 0; seed < 8; ++seed) {
        const Case made(seed);
        const ShowPtr show = made.show();
        const Film film = show->film();
        QCOMPARE(partSentence(film).isEmpty(), made.part.complete);
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const FilmPicture picture{.film = film, .places = show->places, .theme = theme, .font = {}, .words = true};
        QImage before;
        for (int frame = 0; frame < static_cast<int>(show->animation.frames.size()); ++frame) {
            const Frame& shown = show->animation.frames[static_cast<std::size_t>(frame)];
            QVERIFY(!frameTitle(film, frame).isEmpty());
            QVERIFY2(frameCaption(film, frame).endsWith(u'.'), qPrintable(frameCaption(film, frame)));
            if (shown.moment == Moment::Block && shown.destinations.size() > 1)
                QVERIFY(frameCaption(film, frame).contains(QString::number(shown.destinations.size())));
            QImage image(500, 500, QImage::Format_RGB32);
            QPainter painter(&image);
            paintFrame(painter, {0, 0, 500, 500}, picture, frame, 0.5);
            painter.end();
            QVERIFY(image != before);
            before = image;
        }
    }
}

void TestAnimation::theStoresOfADeepModelLeaveTheGraphItsRoom()
{
    const ShowPtr show = Case(3, 40).show();
    const Film film = show->film();
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    const FilmPicture picture{.film = film, .places = show->places, .theme = theme, .font = {}};
    QVERIFY(show->animation.stores.size() > 40 && show->places.size() > 2);
    const QRectF room(0, 0, 500, 500);
    for (int frame = 0; frame < static_cast<int>(show->animation.frames.size()); ++frame) {
        qreal top = room.bottom(), bottom = room.top();
        for (std::size_t node = 0; node < show->places.size(); ++node) {
            const QPointF place = nodePlace(room, picture, frame, node);
            QVERIFY(room.contains(place));
            top = std::min(top, place.y());
            bottom = std::max(bottom, place.y());
        }
        QVERIFY2(bottom - top > room.height() * 0.35, qPrintable(QString::number(bottom - top)));
    }
}

void TestAnimation::theFileHasEveryPicture()
{
    AnimatedPng file;
    std::vector<QImage> pictures;
    for (int i = 0; i < 4; ++i) {
        pictures.emplace_back(60, 40, QImage::Format_RGB888);
        pictures.back().fill(QColor(60 * i, 20, 200));
        pictures.back().setPixelColor(i, i, Qt::white);
        QVERIFY(file.add(pictures.back(), 100 * i + 50));
    }
    QVERIFY(!file.add(QImage(61, 40, QImage::Format_RGB888), 1));
    const QByteArray bytes = file.file();
    QCOMPARE(QImage::fromData(bytes, "PNG").convertToFormat(QImage::Format_RGB888), pictures.front());
    QByteArray rebuilt = bytes.left(8), header;
    std::size_t shown = 0;
    quint32 sequence = 0;
    const auto numbered = [&](const QByteArray& data) {
        return qFromBigEndian<quint32>(data.constData()) == sequence++;
    };
    for (const auto& [type, data] : chunksOf(bytes)) {
        rebuilt += checkedChunk(type, data);
        if (type == "IHDR") header = data;
        if (type == "acTL") QCOMPARE(qFromBigEndian<quint32>(data.constData()), quint32{4});
        if (type == "fcTL") {
            QVERIFY(numbered(data));
            QCOMPARE(qFromBigEndian<quint16>(data.constData() + 20), quint16(100 * shown + 50));
            QCOMPARE(qFromBigEndian<quint16>(data.constData() + 22), quint16(1000));
        }
        if (type == "fdAT") QVERIFY(numbered(data));
        if (type != "IDAT" && type != "fdAT") continue;
        const QByteArray alone = bytes.left(8) + checkedChunk("IHDR", header) +
                                 checkedChunk("IDAT", type == "IDAT" ? data : data.mid(4)) + checkedChunk("IEND", {});
        QCOMPARE(QImage::fromData(alone, "PNG").convertToFormat(QImage::Format_RGB888), pictures[shown++]);
    }
    QCOMPARE(shown, pictures.size());
    QCOMPARE(rebuilt, bytes);  // checksums
    QVERIFY(AnimatedPng().file().isEmpty());
}

void TestAnimation::framesAreNumberedFiles()
{
    const QTemporaryDir folder;
    const ShowPtr show = Case(4).show();
    const Film film = show->film();
    const style::Theme theme = style::loadTheme(style::Mode::Dark);
    const FilmPicture picture{.film = film, .places = show->places, .theme = theme, .font = {}, .words = true};
    QCOMPARE(saveAnimation(picture, folder.filePath("club.svg"), 500), QString());
    for (std::size_t frame = 1; frame <= show->animation.frames.size(); ++frame) {
        QFile file(folder.filePath(QStringLiteral("club-%1.svg").arg(frame, 3, 10, QLatin1Char('0'))));
        QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
        QXmlStreamReader xml(&file);
        while (!xml.atEnd()) xml.readNext();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    }
    QCOMPARE(saveAnimation(picture, folder.filePath("club.png"), 500), QString());
    QFile png(folder.filePath("club.png"));
    QVERIFY(png.open(QIODevice::ReadOnly));
    const auto chunks = chunksOf(png.readAll());
    QCOMPARE(std::ranges::count(chunks, QByteArray("fcTL"), &std::pair<QByteArray, QByteArray>::first),
             std::ssize(show->animation.frames));
    QVERIFY(saveAnimation(picture, folder.filePath("club.gif"), 500).contains(".png"));
    QVERIFY(saveAnimation(picture, folder.filePath("none/club.svg"), 500).contains("cannot be written"));
}

void TestAnimation::keysMoveThePicture()
{
    AnimationView view(nullptr);
    view.setTheme(style::loadTheme(style::Mode::Light));
    view.display(Case(4).show(), 0);
    view.show();
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.frame(), 1);
    QTest::keyClick(&view, Qt::Key_Left);
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.frame(), 0);
    QTest::keyClick(&view, Qt::Key_End);
    QCOMPARE(view.frame(), view.frames() - 1);
    QVERIFY(view.accessibleDescription().contains("results are complete"));
    QTest::keyClick(&view, Qt::Key_Space);
    QVERIFY(view.playing());
    QCOMPARE(view.frame(), 0);
    QTest::keyClick(&view, Qt::Key_Space);
    QVERIFY(!view.playing());
    QTest::keyClick(&view, Qt::Key_Home);
    QCOMPARE(view.frame(), 0);
}

void TestAnimation::playingEndsAtTheLastFrame()
{
    AnimationView view(nullptr);
    view.setTheme(style::loadTheme(style::Mode::Light));
    view.display(Case(4).show(), 0);
    view.show();
    view.setSpeed(200);
    QSignalSpy changed(&view, &AnimationView::playingChanged);
    view.play(true);
    QTRY_VERIFY(!view.playing());
    QCOMPARE(view.frame(), view.frames() - 1);
    QCOMPARE(changed.size(), 2);
    view.play(true);
    view.hide();
    QVERIFY(!view.playing());
}

HOPSCOPE_QT_SUITE(animation, TestAnimation)
#include "study/test_animation.moc"
