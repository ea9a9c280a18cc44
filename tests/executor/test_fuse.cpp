#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "executor/program/loop_program.h"
#include "model_runs.h"

namespace hopscope::tests {

namespace {

using base::Fuse;

struct Expected {
    const char* model;
    std::vector<Fuse> regions;  // of all loops, sorted
};

std::vector<executor::LoopProgram> compiled(const Prepared& p, executor::Way way, const std::vector<Fuse>& fuse)
{
    std::vector<executor::LoopProgram> programs;
    std::unordered_set<ir::ValueId> stored;
    const auto families = executor::Families::of(fuse, way == executor::Way::Gpu);
    for (const plan::Stage& stage : p.plan.stages) {
        for (const plan::Loop& loop : stage.loops)
            programs.push_back(executor::compileLoop(
                p.analysis, loop, stored, [](ir::ValueId, bool) { return false; }, way, families));
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Access& w : loop.writes) stored.insert(w.value);
    }
    return programs;
}

std::vector<Fuse> regionsOf(const Prepared& p, executor::Way way, const std::vector<Fuse>& fuse)
{
    std::vector<Fuse> found;
    for (const executor::LoopProgram& program : compiled(p, way, fuse))
        for (const executor::Instruction& i : program.instructions)
            if (i.strips) found.push_back(i.strips->family);
    std::ranges::sort(found);
    return found;
}

std::string namesOf(const std::vector<Fuse>& families)
{
    std::string text;
    for (const Fuse f : families) text += std::string(base::nameOf(f)) + " ";
    return text;
}

const std::vector<Fuse> all{Fuse::Chain, Fuse::Softmax, Fuse::Several};

Prepared prepared(const char* name)
{
    auto made = prepare(models(), name, base::Strategy::Depth);
    REQUIRE_MESSAGE(made.has_value(), (made ? std::string() : base::describe(made.error())));
    return std::move(*made);
}

const Expected expected[] = {
    {"gat", {Fuse::Softmax, Fuse::Softmax}},
    {"gated", {Fuse::Chain}},
    {"gated_double", {Fuse::Chain}},
    {"softmaxed", {Fuse::Softmax}},
    {"several", {Fuse::Several}},
    {"reduced", {Fuse::Several}},
    // What may not be fused: messages or weights that are results themselves, a softmax by another end than the sum
    // (its weights are computed again from rows of nodes, in one pass with the sum), a product of which both sides are
    // repeated.
    {"gated_kept", {}},
    {"softmaxed_weights", {Fuse::Chain}},  // the weighted sum alone
    {"softmaxed_over_sources", {Fuse::Chain}},
    {"softmaxed_crossed", {}},
    {"sage", {}},
    {"scored", {}},
};

// Products that are only added up.
std::ptrdiff_t dotsOf(const Prepared& p, executor::Way way, const std::vector<Fuse>& fuse)
{
    std::ptrdiff_t count = 0;
    for (const executor::LoopProgram& program : compiled(p, way, fuse))
        count += std::ranges::count(program.instructions, executor::Act::RowDots, &executor::Instruction::act);
    return count;
}

}  // namespace

TEST_CASE("patterns are fused where they occur, and what resembles them is not")
{
    for (const Expected& e : expected) {
        CAPTURE(std::string(e.model));
        const Prepared p = prepared(e.model);
        const std::string wanted = namesOf(e.regions);
        CHECK(namesOf(regionsOf(p, executor::Way::Tiles, all)) == wanted);
        CHECK(namesOf(regionsOf(p, executor::Way::Batches, all)) == wanted);
        CHECK(namesOf(regionsOf(p, executor::Way::Gpu, all)) == wanted);
        for (const Fuse without : all) {
            std::vector<Fuse> rest = all;
            std::erase(rest, without);
            const std::vector<Fuse> found = regionsOf(p, executor::Way::Tiles, rest);
            CHECK(std::ranges::find(found, without) == found.end());
        }
    }
}

TEST_CASE("a product that is only added up along rows has no rows of its own, unless it is a result or no float32")
{
    for (const auto& [model, dots] : {std::pair("scored", 2), std::pair("sage", 0)}) {
        CAPTURE(std::string(model));
        const Prepared p = prepared(model);
        CHECK(dotsOf(p, executor::Way::Tiles, all) == dots);
        CHECK(dotsOf(p, executor::Way::Batches, all) == dots);
        CHECK(dotsOf(p, executor::Way::Gpu, all) == 0);
        CHECK(dotsOf(p, executor::Way::Tiles, {Fuse::Softmax, Fuse::Several}) == 0);
    }
}

TEST_CASE("on a GPU row numbers have 64 bits only where an operator takes no others")
{
    int narrow = 0, wide = 0;
    for (const char* const model : {"both_ends", "sage", "gat", "gated", "several", "softmaxed"}) {
        CAPTURE(std::string(model));
        const Prepared p = prepared(model);
        for (const executor::LoopProgram& program : compiled(p, executor::Way::Gpu, {})) {
            std::map<executor::Register, std::set<std::string>> readers;
            for (const executor::Instruction& i : program.instructions)
                for (const executor::Operand& o : i.operands)
                    if (o.kind == executor::Operand::Index) readers[o.from].insert(p.analysis.program.op(i.op).name);
            for (const executor::Instruction& i : program.instructions) {
                if (i.act != executor::Act::Positions || !readers.contains(i.outputs[0])) continue;
                std::set<std::string> others = readers.at(i.outputs[0]);
                for (const char* const name : {"aten::index_select", "aten::index_add"}) others.erase(name);
                CHECK(i.wide == !others.empty());
                ++(i.wide ? wide : narrow);
            }
        }
    }
    CHECK(narrow > 0);
    CHECK(wide > 0);
}

TEST_CASE("fused or not, in batches or tiles, results are those of forward")
{
    for (const Expected& e : expected) {
        CAPTURE(std::string(e.model));
        const Prepared p = prepared(e.model);
        const auto whole = forward(p);
        for (const bool fused : {true, false})
            for (const std::int64_t rows : {-1, 1, 5, 41}) {
                CAPTURE(fused);
                CAPTURE(rows);
                executor::Options options;
                if (!fused) options.fuse.clear();
                if (rows > 0 && rows < 41) options.tile = rows;
                if (rows == 41) options.batch = 7;
                const auto staged = runStaged(p, options);
                REQUIRE(staged.has_value());
                for (const auto& [name, reference] : whole)
                    CHECK(at::allclose(staged->outputs.at(name), reference, 1e-4, 1e-5, true));
            }
    }
}

TEST_CASE("a fused loop gives the same bits in batches and tiles of any size, on any number of threads")
{
    // A layer whose products are made beforehand: those depend on the rows of a batch in the last bits.
    const Prepared p = prepared("several");
    const auto first = runStaged(p, {});
    REQUIRE(first.has_value());
    for (const std::int64_t rows : {1, 3, 20}) {
        executor::Options tiles, batches;
        tiles.tile = batches.batch = rows;
        tiles.threads = 3;
        for (const executor::Options& options : {tiles, batches}) {
            const auto again = runStaged(p, options);
            REQUIRE(again.has_value());
            for (const auto& [name, tensor] : first->outputs) CHECK(at::equal(again->outputs.at(name), tensor));
        }
    }
}

}  // namespace hopscope::tests
