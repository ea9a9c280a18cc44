#pragma once

// The command line as plain data. The argument parser's types stay in arguments.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "bench.h"
#include "executor/executor.h"
#include "graph/generate.h"
#include "place.h"
#include "placement/cost_model.h"
#include "verify/verify.h"

namespace hopscope::engine {

struct ModelOptions {
    std::string model;
    std::vector<std::string> data, roles;
};

struct DeviceOptions {
    std::string device = "auto";
    std::optional<std::int64_t> memory;                     // bytes on the executing device
    std::optional<std::int64_t> batch;                      // none: auto
    std::optional<std::int64_t> hostMemory = std::nullopt;  // bytes of stores; none: stores stay until the end
};

struct PlanSource {  // a file, or made by a strategy
    std::string file;
    std::string strategy = "optimal";
    placement::Objective objective = placement::Objective::Time;
    std::string pins = {};                          // a file; empty: none
    std::optional<int> stages = std::nullopt;       // at most
    std::optional<double> deadline = std::nullopt;  // seconds
};

struct InspectCommand {
    ModelOptions model;
};

struct PlanCommand {
    ModelOptions model;
    PlanSource plan;
    DeviceOptions device;
    std::string output;   // empty: not written
    std::string explain;  // likewise
};

struct RunCommand {
    ModelOptions model;
    PlanSource plan;
    DeviceOptions device;
    std::string output;
    verify::Mode verify = verify::Mode::Sample;
    executor::NanPolicy nan = executor::NanPolicy::Propagate;
    std::string trace;  // empty: none
};

struct VerifyCommand {
    ModelOptions model;
    PlanSource plan;
    DeviceOptions device;
    verify::Mode mode = verify::Mode::Sample;
};

struct GenerateCommand {
    graph::GenerateOptions options;
    std::string output;
};

struct BenchCommand {
    BenchRunOptions options;
};

struct BenchPlansCommand {
    ModelOptions model;
    DeviceOptions device;
    int repeat = 3;
};

struct MachineCommand {
    std::string device = "auto";
};

struct PlaceCommand {
    PlaceOptions options;
};

struct DevicesCommand {};

struct OracleCommand {  // hidden: the child of a verification
    std::string request;
};

struct ServeCommand {};

struct ShowText {  // --help, --version
    std::string text;
};

using Command = std::variant<InspectCommand, PlanCommand, RunCommand, VerifyCommand, GenerateCommand, BenchCommand,
                             BenchPlansCommand, MachineCommand, PlaceCommand, DevicesCommand, OracleCommand,
                             ServeCommand, ShowText>;

struct Invocation {
    bool json = false;
    bool quiet = false;
    Command command;
};

// Fails with Usage.
base::Result<Invocation> parseArguments(int count, const char* const* arguments);

// Whether --json is among the arguments: errors of a command line that does not parse follow it too.
bool wantsJson(int count, const char* const* arguments);

}  // namespace hopscope::engine
