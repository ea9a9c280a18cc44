#include "pipeline/machine/machine.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "executor/executor.h"
#include "pipeline/files/text_file.h"
#include "pipeline/machine/walls.h"
#include "json/reader.h"

namespace hopscope::pipeline {

namespace {

using plan::Machine;

constexpr std::array<Rate, 9> rates{{
    {"read", "sequential reads from a store", "B/s", &Machine::read},
    {"gather", "random reads from a store", "B/s", &Machine::gather},
    {"write", "writes to a store", "B/s", &Machine::write},
    {"structure", "building blocks", "B/s", &Machine::structure},
    {"elementwise", "row-wise operators", "B/s", &Machine::elementwise},
    {"aggregate", "aggregation of messages", "B/s", &Machine::aggregate},
    {"matmul", "matrix products", "FLOP/s", &Machine::matmul},
    {"call", "overhead per operator", "s", &Machine::call},
    {"batch", "overhead per batch", "s", &Machine::batch},
}};

constexpr std::int64_t version = 3;  // 1 had no walls, 2 MKL's products

json::Value readFile()
{
    std::ifstream file(machineFile(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return json::parse(text, "machine.json").value_or(json::Value::object());
}

// Rates have to be positive: a document that says otherwise is as good as none.
std::optional<Machine> machineOf(const json::Value& value, const std::string& device)
{
    const json::Reader reader(value, "machine.json");
    Machine machine;
    machine.device = device;
    machine.walls = readWalls(reader.child("walls"));
    machine.slowness = reader.get<double>("slowness");
    if (reader.ok() && !(machine.slowness > 0)) return std::nullopt;
    for (const Rate& rate : rates) {
        machine.*rate.field = reader.get<double>(rate.key);
        if (reader.ok() && !(machine.*rate.field > 0)) return std::nullopt;
    }
    if (!reader.ok()) return std::nullopt;
    return machine;
}

bool isCurrent(const json::Value& document)
{
    const json::Value* const written = document.find("version");
    const std::int64_t* const number = written ? written->asInt() : nullptr;
    return number && *number == version;
}

// Measurements of an engine with other rates are dropped at the next measurement.
json::Value knownDevices()
{
    const json::Value document = readFile();
    const json::Value* const devices = document.find("devices");
    if (!isCurrent(document)) return json::Value::object();
    return devices && devices->isObject() ? *devices : json::Value::object();
}

base::Status writeDevices(json::Value devices)
{
    const std::string file = machineFile();
    if (file.empty())
        return base::fail(base::ErrorCode::Resources, "no folder for the measured rates", "set XDG_CACHE_HOME or HOME");
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
    json::Value document;
    document["format"] = "hopscope-machine";
    document["version"] = version;
    document["devices"] = std::move(devices);
    return writeTextFile(json::write(document, true), file);
}

}  // namespace

std::string machineFile() { return usersFile("XDG_CACHE_HOME", "/.cache", "machine.json"); }

KnownMachine knownMachine(const std::string& oneOrSeveral)
{
    const std::string device = executor::devicesOf(oneOrSeveral).front();
    const json::Value document = readFile();
    const json::Value* const devices = document.find("devices");
    const json::Value* const known = devices ? devices->find(device) : nullptr;
    if (known && !isCurrent(document))
        return {.rates = plan::typicalMachine(device), .measured = false, .runs = 0, .outdated = true};
    const std::optional<Machine> machine = known ? machineOf(*known, device) : std::nullopt;
    if (!machine) return {.rates = plan::typicalMachine(device), .measured = false, .runs = 0};
    const json::Value* const runs = known->find("runs");
    const std::int64_t* const count = runs ? runs->asInt() : nullptr;
    return {.rates = *machine, .measured = true, .runs = count ? *count : 0};
}

std::string noteOf(const KnownMachine& machine)
{
    if (!machine.outdated) return {};
    return "the rates of " + machine.rates.device + " in " + machineFile() +
           " were measured by another version and are not used: run hopscope-engine bench machine once more";
}

std::span<const Rate> machineRates() { return rates; }

Machine machineFor(const std::string& oneOrSeveral) { return knownMachine(oneOrSeveral).rates; }

base::Status keepMachine(const KnownMachine& machine)
{
    json::Value known = machineValue(machine.rates);
    known["runs"] = machine.runs;
    json::Value devices = knownDevices();
    devices[machine.rates.device] = std::move(known);
    return writeDevices(std::move(devices));
}

base::Status forgetMachine(const std::string& device)
{
    if (!knownMachine(device).measured) return {};
    json::Value devices = knownDevices();
    devices.asObject()->erase(device);
    return writeDevices(std::move(devices));
}

json::Value machineValue(const Machine& machine)
{
    json::Value value;
    for (const Rate& rate : rates) value[rate.key] = machine.*rate.field;
    value["walls"] = wallsValue(machine.walls);
    value["slowness"] = machine.slowness;
    return value;
}

schema::MachineRates ratesOf(const KnownMachine& machine)
{
    schema::MachineRates known{.device = machine.rates.device, .measured = machine.measured, .runs = machine.runs};
    for (const Rate& rate : rates) known.rates.push_back({rate.key, rate.what, rate.unit, machine.rates.*rate.field});
    for (const plan::WallRate& wall : machine.rates.walls)
        known.walls.push_back({wallText(wall), wallUnit(wall), wall.all, wall.one});
    return known;
}

}  // namespace hopscope::pipeline
