#include <doctest/doctest.h>

#include "analysis/analyse.h"
#include "executor/forecast/holdings.h"
#include "support/program_text.h"

using namespace hopscope;
using executor::Act;
using executor::Instruction;
using executor::Register;

namespace {

const ir::RowClass batch{ir::RowKind::Batch, ir::SpaceId(0), {}};
constexpr double bytesPerRow = 16, rows = 10;
constexpr std::int64_t table = 160;

// A chain of operators on rows of four numbers, each of which is the only reader of what is before it.
struct Chain {
    explicit Chain(const std::string& operators)
    {
        const auto drawn = test::drawProgram("x = node f[7,4]\nw = weight f[4,4]\n" + operators);
        a = analysis::analyse(drawn.program, drawn.schema);
        REQUIRE(!a.refusal);
        Instruction read;
        read.act = Act::Read;
        read.value = a.program.inputs.at(0).value;
        add(std::move(read), a.program.inputs.at(0).value);
        for (const ir::Op& op : a.program.ops) {
            const Register last = static_cast<Register>(program.registers.size()) - 1;
            Instruction call;
            call.op = op.id;
            call.operands = {{.slot = {0, -1}, .value = *op.args.at(0).value(), .from = last, .rows = batch}};
            call.dead = {last};
            add(std::move(call), op.outputs.at(0));
        }
    }

    void add(Instruction i, ir::ValueId result)
    {
        i.rows = batch;
        i.outputs = {static_cast<Register>(program.registers.size())};
        program.registers.push_back({result, batch, bytesPerRow});
        program.instructions.push_back(std::move(i));
    }

    [[nodiscard]] std::vector<std::int64_t> held() const
    {
        return forecast::holdingsOf(a, program, false, [](const ir::RowClass&) { return rows; }).bytes;
    }

    analysis::Analysis a;
    executor::LoopProgram program;
};

}  // namespace

TEST_CASE("while an operator runs, its operand is held beside its result, and nothing of what came before")
{
    const Chain products("y = aten::linear(input=x, weight=w, bias=none) -> f[7,4]\n"
                         "z = aten::linear(input=y, weight=w, bias=none) -> f[7,4]\n"
                         "r = aten::linear(input=z, weight=w, bias=none) -> f[7,4]\nout = r\n");
    CHECK(products.held() == std::vector<std::int64_t>{0, table, 2 * table, 2 * table});
}

TEST_CASE("an operator that writes over its operand holds it once")
{
    const Chain chain("y = aten::linear(input=x, weight=w, bias=none) -> f[7,4]\n"
                      "z = aten::relu(self=y) -> f[7,4]\n"
                      "r = aten::linear(input=z, weight=w, bias=none) -> f[7,4]\nout = r\n");
    CHECK(chain.held() == std::vector<std::int64_t>{0, table, table, 2 * table});
}
