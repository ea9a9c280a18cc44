#include <doctest/doctest.h>

#include "analysis/analyse.h"
#include "executor/forecast/timing.h"
#include "support/program_text.h"
#include "support/temporary_folder.h"

using namespace hopscope;

namespace {

// Of a loop that stores rows of four numbers.
forecast::Timing timingOn(const plan::Machine& machine)
{
    const auto drawn = test::drawProgram("x = node f[7,4]\ny = aten::relu(self=x) -> f[7,4]\nout = y\n");
    const analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    const test::TemporaryFolder folder;
    const base::TensorMap inputs{{"x", base::allocate(base::DType::Float32, {7, 4}).view}};
    executor::Structure structure(loader::Walk{}, a, inputs, folder.path, 1, {});
    executor::LoopProgram program;
    program.writes = {{.value = a.program.outputs.at(0).value, .rows = {ir::RowKind::Batch, ir::SpaceId(0), {}}}};
    forecast::ReuseOfColumns reuse(structure);
    const forecast::LoopRun run{.program = program, .batches = 3, .rows = [](const ir::RowClass&) { return 1e6; }};
    return forecast::timingOf(a, structure, run, forecast::WallTable(machine), reuse);
}

}  // namespace

TEST_CASE("a loop takes longer on a machine whose runs did so, but no more at least")
{
    plan::Machine machine;
    const forecast::Timing usual = timingOn(machine);
    CHECK(usual.seconds == doctest::Approx(16e6 / machine.write + 3 * (machine.call + machine.batch)));
    CHECK(usual.boundSeconds() == doctest::Approx(16e6 / machine.write));
    machine.slowness = 2.5;
    CHECK(timingOn(machine).seconds == doctest::Approx(2.5 * usual.seconds));
    CHECK(timingOn(machine).boundSeconds() == usual.boundSeconds());
}
