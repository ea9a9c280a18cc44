// A table for other stores and delays, made from one that is there, says what one that is made from nothing says.

#include "placement/dep_table.h"
#include "placement/judge.h"
#include "placement/random_model.h"

using namespace hopscope;
using placement::DepTable;
using test::Analysed;

namespace {

struct Choice {
    std::set<ir::ValueId> stored;
    DepTable::NotBefore notBefore;
};

Choice randomChoice(const Analysed& p, std::mt19937_64& random)
{
    Choice choice;
    for (const ir::ValueId v : p.rowValues()) {
        if (random() % 2) choice.stored.insert(v);
        if (random() % 6 == 0) choice.notBefore[v] = static_cast<int>(random() % 5);
    }
    return choice;
}

DepTable fromNothing(const Analysed& p, const Choice& choice)
{
    return {p.a, [&](ir::ValueId v) { return choice.stored.contains(v); }, {}, choice.notBefore};
}

// Of all values on all rows; whether anything of one of them is said otherwise than in `other`.
bool saysTheSame(const Analysed& p, const DepTable& table, const DepTable& other, ir::ValueId v)
{
    std::vector<ir::RowClass> classes = analysis::partitions(p.a, p.a.rowSpace(v));
    classes.push_back({ir::RowKind::Frontier, p.a.rowSpace(v), {}});
    return table.home(v) == other.home(v) && std::ranges::all_of(classes, [&](const ir::RowClass& rows) {
               return table.comp(v, rows) == other.comp(v, rows) && table.dep(v, rows) == other.dep(v, rows);
           });
}

}  // namespace

TEST_CASE("stages are the same whether a table is made from another one or from nothing, and what differs is marked")
{
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Analysed p(test::randomModel(seed, 16));
        const DepTable before = fromNothing(p, randomChoice(p, random));
        const Choice choice = randomChoice(p, random);
        const DepTable after(before, choice.stored, choice.notBefore), anew = fromNothing(p, choice);
        for (const ir::ValueId v : p.rowValues()) {
            CAPTURE(v.index);
            CHECK(saysTheSame(p, after, anew, v));
            if (!after.differs(v)) CHECK(saysTheSame(p, after, before, v));
        }
    }
}

TEST_CASE("a store that is delayed is written in that stage, and read from the next one on")
{
    const Analysed p(test::twoLayers + "out = h2\n");
    const ir::ValueId first = p.value("index_add", 0), second = p.value("index_add", 1);
    const DepTable before = fromNothing(p, {{first}, {}});
    const DepTable delayed(before, {first}, {{first, 3}});
    CHECK(before.home(first).stage == 0);
    CHECK(before.home(second).stage == 1);
    CHECK(delayed.home(first).stage == 3);
    CHECK(delayed.home(second).stage == 4);
}
