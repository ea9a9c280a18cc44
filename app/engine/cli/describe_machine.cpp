#include <string_view>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"
#include "pipeline/machine/walls.h"

namespace hopscope::engine {

namespace {

std::string amount(std::string_view unit, double value)
{
    if (unit == "s") return base::formatSeconds(value);
    if (unit == "B/s") return base::formatBytes(value) + "/s";
    return base::formatCount(value) + "FLOP/s";
}

// The walls, with all cores and with one.
std::string describeWalls(const plan::Walls& walls)
{
    Table table({Align::Left, Align::Right, Align::Right});
    table.add({"Walls", "all cores", "one core"});
    for (const plan::WallRate& wall : walls)
        table.add({pipeline::wallText(wall), amount(pipeline::wallUnit(wall), wall.all),
                   wall.one < wall.all ? amount(pipeline::wallUnit(wall), wall.one) : ""});
    return table.render();
}

}  // namespace

std::string describeMachine(const plan::Machine& machine)
{
    Table table({Align::Left, Align::Right});
    for (const pipeline::Rate& rate : pipeline::machineRates())
        table.add({rate.what, amount(rate.unit, machine.*rate.field)});
    const std::string rates = machine.device + "\n" + table.render();
    return machine.walls.empty() ? rates : rates + "\n" + describeWalls(machine.walls);
}

}  // namespace hopscope::engine
