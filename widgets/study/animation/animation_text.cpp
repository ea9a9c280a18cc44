#include "study/animation/animation_text.h"

#include <algorithm>
#include <set>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::study {

namespace {

constexpr qsizetype mostNames = 6;  // of operators or values in one sentence

QString count(std::int64_t number) { return models::formatCount(static_cast<double>(number)); }

template <class Items>
QString countOf(const Items& items)
{
    return count(static_cast<std::int64_t>(items.size()));
}

QString nodes(std::int64_t number) { return number == 1 ? tr("1 node") : tr("%1 nodes").arg(count(number)); }
QString edges(std::int64_t number) { return number == 1 ? tr("1 edge") : tr("%1 edges").arg(count(number)); }

const Frame& at(const Film& film, int frame) { return film.animation.frames[static_cast<std::size_t>(frame)]; }

const protocol::PlanStage& stageOf(const Film& film, const Frame& frame)
{
    return film.plan.stages[static_cast<std::size_t>(frame.stage)];
}

// "a, b and c", with the number of those that are left out.
QString listed(QStringList names)
{
    names.removeDuplicates();
    if (names.size() > mostNames) {
        const qsizetype more = names.size() - mostNames + 1;
        names = names.mid(0, mostNames - 1) << tr("%1 more").arg(more);
    }
    if (names.size() < 2) return names.join(QString());
    const QString last = names.takeLast();
    return tr("%1 and %2").arg(names.join(tr(", ")), last);
}

QString storesIn(const Film& film, const std::vector<int>& stores)
{
    QStringList names;
    for (const int store : stores) names << storeName(film, static_cast<std::size_t>(store));
    return listed(names);
}

QString operators(const Film& film, const std::vector<protocol::OpId>& ops)
{
    QStringList names;
    for (const protocol::OpId op : ops) names << models::opLabel(film.model, film.model.ops[op]);
    return listed(names);
}

// Nodes of the frontier that the batch does not compute.
std::int64_t others(const Frame& frame)
{
    return std::ranges::count_if(frame.frontier,
                                 [&](int node) { return !std::ranges::binary_search(frame.destinations, node); });
}

bool gathers(const Film& film, const Frame& frame)
{
    return !stageOf(film, frame).loops[static_cast<std::size_t>(frame.loop)].frontier.empty();
}

QString startCaption(const Film& film)
{
    std::int64_t nodes = 0;
    for (const schema::PartTable& table : film.part.tables) nodes += table.rows;
    QStringList edges;
    for (const schema::PartRelation& relation : film.part.relations)
        if (!relation.key.empty()) edges << tr("%1 edges of %2").arg(count(relation.of), models::text(relation.label));
    QStringList sentences{tr("A graph of %1 nodes. Every node has a row of numbers in the input.").arg(count(nodes))};
    if (!edges.isEmpty()) sentences << tr("Along %1, nodes read each other's rows.").arg(listed(edges));
    sentences << (film.plan.stages.size() == 1
                      ? tr("The plan computes the whole model in a single stage.")
                      : tr("The plan divides the model into %1 parts, called stages; each is computed for all nodes "
                           "before the next one begins.")
                            .arg(film.plan.stages.size()));
    return sentences.join(u' ');
}

QString stageCaption(const Film& film, const Frame& frame)
{
    const protocol::PlanStage& stage = stageOf(film, frame);
    QStringList written;
    for (const protocol::PlanAccess& write : stage.writes) written << models::valueLabel(film.model, write.value);
    QStringList sentences;
    sentences << (written.isEmpty() ? tr("This stage reduces over all rows and stores no table.")
                                    : tr("This stage computes %1 for all nodes.").arg(listed(written)));
    if (!frame.stores.empty())
        sentences << tr("It reads %1, whose rows are complete.").arg(storesIn(film, frame.stores));
    sentences << tr("It computes a batch of %1 at a time.").arg(nodes(film.animation.batch));
    return sentences.join(u' ');
}

QString blockCaption(const Film& film, const Frame& frame)
{
    const QString own = frame.destinations.size() == 1
                            ? tr("The node with a thick border is the batch: it is computed next.")
                            : tr("The %1 nodes with a thick border are the batch: they are computed next.")
                                  .arg(countOf(frame.destinations));
    if (!gathers(film, frame)) return own + tr(" In this stage nothing is read from other nodes.");
    if (frame.edges.empty()) return own + tr(" No edge arrives here: nothing is read from other nodes.");
    const std::int64_t loops = std::ranges::count_if(frame.edges, [&](int e) {
        const DrawnEdge& edge = film.animation.edges[static_cast<std::size_t>(e)];
        return edge.from == edge.to;
    });
    const QString undrawn = loops > 0 ? tr(" (%1 from a node to itself, not drawn)").arg(count(loops)) : QString();
    return own +
           tr(" The batch reads along %1%2, from its own nodes and from %3 outside it (dashed border). All of them "
              "together are the frontier of the batch: %4.")
               .arg(edges(std::ssize(frame.edges)), undrawn, nodes(others(frame)), nodes(std::ssize(frame.frontier)));
}

QString gatherCaption(const Film& film, const Frame& frame)
{
    const auto rows =
        static_cast<std::int64_t>(frame.frontier.empty() ? frame.destinations.size() : frame.frontier.size());
    return tr("The rows of %1 are read from %2, each once, however many edges begin there. Every row that is read is "
              "exact "
              "already.")
        .arg(nodes(rows), storesIn(film, frame.stores));
}

QString computeCaption(const Film& film, const Frame& frame)
{
    const QString ops = operators(film, frame.ops);
    if (frame.rows.starts_with("F("))
        return tr("For the %1 of the frontier: %2.").arg(nodes(std::ssize(frame.frontier)), ops);
    if (frame.rows.starts_with("O(")) return tr("For %1 into the batch: %2.").arg(edges(std::ssize(frame.edges)), ops);
    if (frame.rows.starts_with("B("))
        return tr("For the %1 of the batch: %2.").arg(nodes(std::ssize(frame.destinations)), ops);
    return tr("On values without rows: %1.").arg(ops);
}

QString writeCaption(const Film& film, const Frame& frame)
{
    const QString what = tr("The rows of the batch are written to %1.").arg(storesIn(film, frame.stores));
    const QString exact = gathers(film, frame) ? tr(" They are exact, as if the model had computed the whole graph at "
                                                    "once, because all edges into these nodes were available.")
                                               : tr(" They are exact: each depends only on the node's own row.");
    return what + exact;
}

// Over the batches of a stage.
std::int64_t gatheredIn(const Film& film, int stage)
{
    std::int64_t sum = 0;
    for (const Frame& frame : film.animation.frames)
        if (frame.moment == Moment::Block && frame.stage == stage)
            sum += static_cast<std::int64_t>(frame.frontier.size());
    return sum;
}

QString doneCaption(const Film& film, const Frame& frame)
{
    QStringList sentences;
    if (!film.part.complete) sentences << tr("The batches of all nodes that are not drawn do the same.");
    if (!frame.ops.empty())
        sentences << tr("Reductions over all rows are complete now: %1.").arg(operators(film, frame.ops));
    if (!frame.stores.empty()) sentences << tr("All rows of %1 are exact.").arg(storesIn(film, frame.stores));
    const bool last = frame.stage + 1 == static_cast<int>(film.plan.stages.size());
    if (last) sentences << tr("The results are complete. Every row of every stored value was written once.");
    else sentences << tr("Only now can the next stage begin, for its batches may read the row of any node.");
    if (const std::int64_t gathered = gatheredIn(film, frame.stage); gathered > 0 && film.part.complete)
        sentences << tr("The batches of this stage gathered %1 rows in total; larger batches gather fewer.")
                         .arg(count(gathered));
    return sentences.join(u' ');
}

QString momentWords(Moment moment)
{
    switch (moment) {
    case Moment::Start: return tr("before the run");
    case Moment::Stage: return tr("begin");
    case Moment::Block: return tr("a batch is chosen");
    case Moment::Gather: return tr("rows are read");
    case Moment::Compute: return tr("operators compute");
    case Moment::Write: return tr("rows are written");
    case Moment::Done: return tr("end");
    }
    return {};
}

}  // namespace

QString frameTitle(const Film& film, int frame)
{
    const Frame& shown = at(film, frame);
    if (shown.moment == Moment::Start) return tr("The graph");
    const QString stage = tr("Stage %1 of %2").arg(shown.stage + 1).arg(film.plan.stages.size());
    if (shown.moment == Moment::Stage || shown.moment == Moment::Done)
        return tr("%1: %2").arg(stage, momentWords(shown.moment));
    const protocol::PlanStage& in = stageOf(film, shown);
    QString of;
    if (in.loops.size() > 1) {
        const std::string& destination = in.loops[static_cast<std::size_t>(shown.loop)].destination;
        const auto table = std::ranges::find(film.part.tables, destination, &schema::PartTable::table);
        of = tr(" (%1)").arg(models::text(table == film.part.tables.end() ? destination : table->label));
    }
    return tr("%1%2, batch %3 of %4: %5")
        .arg(stage, of)
        .arg(shown.batch + 1)
        .arg(shown.batches)
        .arg(momentWords(shown.moment));
}

QString frameCaption(const Film& film, int frame)
{
    const Frame& shown = at(film, frame);
    switch (shown.moment) {
    case Moment::Start: return startCaption(film);
    case Moment::Stage: return stageCaption(film, shown);
    case Moment::Block: return blockCaption(film, shown);
    case Moment::Gather: return gatherCaption(film, shown);
    case Moment::Compute: return computeCaption(film, shown);
    case Moment::Write: return writeCaption(film, shown);
    case Moment::Done: return doneCaption(film, shown);
    }
    return {};
}

QString partSentence(const Film& film)
{
    if (film.part.complete) return {};
    std::int64_t all = 0, whole = 0, drawn = 0;
    for (const schema::PartTable& table : film.part.tables) {
        all += table.rows;
        drawn += static_cast<std::int64_t>(table.ids.size());
        whole += static_cast<std::int64_t>(table.whole.size());
    }
    return tr("The picture shows %1 of %2 nodes, around node %3. The batches cover %4 of them, with every edge into "
              "these nodes; nodes drawn small are only read. A run makes batches of all nodes.")
        .arg(count(drawn), count(all), film.part.node ? count(*film.part.node) : QString(), count(whole));
}

QString storeName(const Film& film, std::size_t store)
{
    return models::valueLabel(film.model, film.animation.stores[store].value);
}

QString storeState(const Film& film, std::size_t store, const Frame& frame)
{
    const DrawnStore& drawn = film.animation.stores[store];
    const std::int64_t cells = static_cast<std::int64_t>(drawn.cells.size()), exact = exactCells(frame, store);
    if (exact == cells) return tr("all %1 exact").arg(count(drawn.rows));
    return exact == 0 ? tr("empty") : tr("%1 of %2 exact").arg(count(exact), count(cells));
}

}  // namespace hopscope::study
