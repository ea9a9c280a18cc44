#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"
#include "confine/confine.h"

namespace hopscope::engine {

namespace {

std::string sizeText(std::int64_t bytes)
{
    return bytes > 0 ? base::formatBytes(static_cast<double>(bytes)) : std::string();
}

}  // namespace

std::string describeDevices(const pipeline::Devices& devices, const Style& style)
{
    Table table({Align::Left, Align::Left, Align::Right, Align::Left});
    for (const executor::DeviceInfo& device : devices.usable)
        table.add({style.bold(device.id), device.name, sizeText(device.memory),
                   device.driver.empty() ? "" : style.dim("driver " + device.driver)});
    std::string text = table.render(0);
    for (const std::string& sentence : devices.missing) text += "\n" + style.warn(sentence) + "\n";
    return text + "\nthe process that opens a model is " + confine::state() + "\n";
}

}  // namespace hopscope::engine
