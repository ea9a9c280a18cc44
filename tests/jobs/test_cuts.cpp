// Changes of pins, as plain data.

#include <QTest>
#include <QUndoStack>

#include "jobs/cuts.h"

using namespace hopscope;
using namespace hopscope::jobs;

namespace {

// "store a, drop b" -> pins
std::vector<protocol::PinRecord> pins(const QString& text)
{
    std::vector<protocol::PinRecord> result;
    for (const QString& part : text.split(", ", Qt::SkipEmptyParts))
        result.push_back(
            {part.startsWith("store") ? "checkpoint" : "no_checkpoint", part.section(' ', 1).toStdString()});
    return result;
}

Cuts cuts(const QString& text) { return {"depth", "time", pins(text)}; }

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
    QVERIFY(withPin(cuts("store a, drop b"), {"no_checkpoint", "a"}) == cuts("drop b, drop a"));
    QVERIFY(withoutPin(cuts("store a, drop b"), {"checkpoint", "a"}) == cuts("drop b"));
    QVERIFY(withoutPins(cuts("store a"), "z") == cuts("store a"));
}

void TestCuts::whatNoRuleKeepsToMakesAnOptimum()
{
    const Cuts cut = withPin(cuts("store a"), {"cut", "a", "b"});
    QCOMPARE(cut.strategy, QString("optimal"));
    QCOMPARE(cut.pins.size(), std::size_t{2});
    QCOMPARE(withPin(cuts("store a"), {"checkpoint", "b"}).strategy, QString("depth"));
    QCOMPARE(withPin(withPin(cut, {"hop_stage", "a", {}, 2}), {"hop_stage", "a", {}, 3}).pins.size(), std::size_t{3});
    QVERIFY(withoutPins(cut, "a").pins.empty());
    QCOMPARE(withoutPins(cut, "b").pins, pins("store a"));
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
    QVERIFY(withMove(cuts(before), "a", "b") == cuts(after));
}

void TestCuts::pinsOfUnknownValuesDoNotFit()
{
    protocol::ModelRecord model;
    model.valuesById = {{"a", 0}, {"c", 1}};
    QVERIFY(fittingPins(pins("store a, drop b, drop c"), model) == pins("store a, drop c"));
}

void TestCuts::aRefusedCommandLeavesTheStackWhenItIsUndone()
{
    QStringList applied;
    const auto apply = [&](const Cuts& to) { applied.append(to.strategy); };
    QUndoStack stack;
    stack.push(new CutCommand("one", {"start", "time", {}}, {"one", "time", {}}, apply));
    auto* refused = new CutCommand("two", {"one", "time", {}}, {"two", "time", {}}, apply);
    stack.push(refused);
    refused->refuse();
    stack.undo();
    QCOMPARE(applied, (QStringList{"one", "two", "one"}));
    QCOMPARE(stack.count(), 1);
    QVERIFY(!stack.canRedo());
}

QTEST_GUILESS_MAIN(TestCuts)
#include "test_cuts.moc"
