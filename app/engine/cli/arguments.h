#pragma once

// Parses the command line into plain data. The types of the argument parser stay in arguments.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/generate.h"
#include "pipeline/debugging/debugging.h"
#include "pipeline/publishing/evaluate.h"
#include "pipeline/publishing/export_folder.h"
#include "receptive/receptive_field.h"

namespace hopscope::engine {

struct InspectCommand {
    pipeline::ModelOptions model;
};

struct PlanCommand {
    pipeline::ModelOptions model;
    pipeline::PlanSource plan;
    base::Settings settings;
    std::string output;   // empty: not written
    std::string explain;  // empty: not written
    std::string steps;    // empty: not written
};

struct RunCommand : pipeline::EvaluationRequest {
    std::string output;
    std::string trace;  // empty: none
};

struct VerifyCommand {
    pipeline::ModelOptions model;
    pipeline::PlanSource plan;
    base::Settings settings;
    std::string schema;   // an exported folder; empty: none
    std::string against;  // a different model file, or its outputs; empty: the model's own forward
};

struct DiffCommand {
    std::string a, b;
};

using ExportCommand = pipeline::ExportRequest;

struct GenerateCommand {
    graph::GenerateOptions options;
    std::string output;
};

struct MachineCommand {
    std::string device;  // empty: the CPU and every GPU
};

struct ReceptiveFieldCommand {
    pipeline::ModelOptions model;
    receptive::Request request;
};

struct DebugCommand {
    pipeline::ModelOptions model;
    pipeline::DebugOptions options;
    bool nan = false;  // false: finds the first divergence, unless breakpoints or watched values are given
    debugger::WatchRequest request;
    debugger::TensorRequest show;  // without an operator or value: no tensor is shown
    std::optional<int> memoryOf;   // the stage to simulate; its batches are not run
};

struct DevicesCommand {};

struct TrustCommand {
    std::vector<std::string> paths;  // none: the list is shown
    bool remove = false;
};

struct OracleCommand {  // hidden: the child of a verification
    std::string request;
};

struct ServeCommand {};

struct WorkerCommand {};

struct ShowText {  // --help, --version, completion
    std::string text;
};

using Command = std::variant<InspectCommand, PlanCommand, RunCommand, VerifyCommand, ExportCommand, DiffCommand,
                             GenerateCommand, MachineCommand, ReceptiveFieldCommand, DebugCommand, DevicesCommand,
                             TrustCommand, OracleCommand, ServeCommand, WorkerCommand, ShowText>;

struct Invocation {
    bool json = false;
    bool quiet = false, verbose = false;
    bool sandbox = true;
    Command command;
};

// Parses the arguments. Fails with Usage.
base::Result<Invocation> parseArguments(int count, const char* const* arguments);

// Returns true if --json is among the arguments. It also applies to errors of a command line that cannot be parsed.
bool wantsJson(int count, const char* const* arguments);

}  // namespace hopscope::engine
