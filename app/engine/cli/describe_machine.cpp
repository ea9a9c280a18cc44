#include <string_view>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

std::string amount(const pipeline::Rate& rate, double value)
{
    if (std::string_view(rate.unit) == "s") return base::formatSeconds(value);
    if (std::string_view(rate.unit) == "B/s") return base::formatBytes(value) + "/s";
    return base::formatCount(value) + "FLOP/s";
}

}  // namespace

std::string describeMachine(const plan::Machine& machine)
{
    Table table({Table::Align::Left, Table::Align::Right});
    for (const pipeline::Rate& rate : pipeline::machineRates())
        table.add({rate.what, amount(rate, machine.*rate.field)});
    return machine.device + "\n" + table.render();
}

}  // namespace hopscope::engine
