// Changes of pins, as plain data.

#include <QTest>
#include <QUndoStack>

#include "jobs/cuts.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::jobs;

namespace {

protocol::ValueId value(char letter) { return protocol::ValueId(letter - 'a'); }

// "store a, drop b" -> pins
std::vector<plan::Pin> pins(const QString& text)
{
    std::vector<plan::Pin> result;
    for (const QString& part : text.split(", ", Qt::SkipEmptyParts))
        result.push_back({part.startsWith("store") ? base::PinKind::Checkpoint : base::PinKind::NoCheckpoint,
                          value(part.back().toLatin1())});
    return result;
}

Cuts cuts(const QString& text) { return {base::Strategy::Depth, base::Objective::Time, pins(text)}; }

}  // namespace

class TestCuts : public QObject {
    Q_OBJECT
private slots:
    void aPinReplacesTheOneOfTheSameValue();
    void whatNoRuleKeepsToMakesAnOptimum();
    void movesLeaveAsFewPinsAsTheyCan_data();
    void movesLeaveAsFewPinsAsTheyCan();
    void pinsOfUnknownValuesDoNotFit();
    void aRefusedCommandLeavesTheStackWhenItIsUndone();
};

void TestCuts::aPinReplacesTheOneOfTheSameValue()
{
    QVERIFY(withPin(cuts("store a, drop b"), {base::PinKind::NoCheckpoint, value('a')}) == cuts("drop b, drop a"));
    QVERIFY(withoutPin(cuts("store a, drop b"), {base::PinKind::Checkpoint, value('a')}) == cuts("drop b"));
    QVERIFY(withoutPins(cuts("store a"), value('z')) == cuts("store a"));
}

void TestCuts::whatNoRuleKeepsToMakesAnOptimum()
{
    const Cuts cut = withPin(cuts("store a"), {base::PinKind::Cut, value('a'), value('b')});
    QCOMPARE(cut.strategy, base::Strategy::Optimal);
    QCOMPARE(cut.pins.size(), std::size_t{2});
    QCOMPARE(withPin(cuts("store a"), {base::PinKind::Checkpoint, value('b')}).strategy, base::Strategy::Depth);
    QCOMPARE(withPin(withPin(cut, {base::PinKind::HopStage, value('a'), {}, plan::StageId(2)}),
                     {base::PinKind::HopStage, value('a'), {}, plan::StageId(3)})
                 .pins.size(),
             std::size_t{3});
    QVERIFY(withoutPins(cut, value('a')).pins.empty());
    QCOMPARE(withoutPins(cut, value('b')).pins, pins("store a"));
}

void TestCuts::movesLeaveAsFewPinsAsTheyCan_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::newRow("from the strategy's own") << ""
                                             << "drop a, store b";
    QTest::newRow("back again") << "drop b, store a"
                                << "";
    QTest::newRow("onward") << "drop z, store a"
                            << "drop z, drop a, store b";
    QTest::newRow("others stay") << "store y, drop b, store a"
                                 << "store y";
}

void TestCuts::movesLeaveAsFewPinsAsTheyCan()
{
    QFETCH(QString, before);
    QFETCH(QString, after);
    QVERIFY(withMove(cuts(before), value('a'), value('b')) == cuts(after));
}

void TestCuts::pinsOfUnknownValuesDoNotFit()
{
    protocol::ModelRecord model;
    model.values.resize(2);
    QVERIFY(fittingPins(pins("store a, drop b, drop c"), model) == pins("store a, drop b"));
}

void TestCuts::aRefusedCommandLeavesTheStackWhenItIsUndone()
{
    std::vector<int> applied;
    const auto apply = [&](const Cuts& to) { applied.push_back(to.stages.value_or(0)); };
    const auto stages = [](int count) {
        Cuts made;
        made.stages = count;
        return made;
    };
    QUndoStack stack;
    stack.push(new CutCommand("one", {}, stages(1), apply));
    auto* refused = new CutCommand("two", stages(1), stages(2), apply);
    stack.push(refused);
    refused->refuse();
    stack.undo();
    QCOMPARE(applied, (std::vector{1, 2, 1}));
    QCOMPARE(stack.count(), 1);
    QVERIFY(!stack.canRedo());
}

HOPSCOPE_QT_SUITE(cuts, TestCuts)
#include "test_cuts.moc"
