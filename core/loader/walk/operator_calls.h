#pragma once

// Calls LibTorch's operators on the sample and records the calls in the program.

#include <optional>

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>

#include "loader/walk/location.h"
#include "loader/walk/recorder.h"
#include "loader/walk/walk_item.h"

namespace hopscope::loader {

// All functions throw Refused if the operator may not run, throws, or cannot be recorded. The recorder and the location
// must outlive this object.
class OperatorCalls {
public:
    using Node = torch::jit::Node;

    OperatorCalls(Recorder& recorder, const Location& location) : m_recorder(recorder), m_location(location) {}

    // Executes an operator, or that of a node, without recording it. Returns the results.
    [[nodiscard]] torch::jit::Stack execute(torch::jit::Operation op, torch::jit::Stack stack) const;
    [[nodiscard]] torch::jit::Stack executeNode(const Node& node, const std::vector<Item>& args) const;

    // Executes and records the operator: all arguments of its schema, in-place writes, aliasing. Returns one item for
    // each result; a list of tensors is a single item. An operator that writes into an argument "out" is recorded as
    // the one that returns its result, and a copy.
    std::vector<Item> record(const torch::jit::Operator& op, const std::vector<Item>& args);
    // Does the same for an operator with a single result, given by name.
    Item record(const char* name, const char* overload, const std::vector<Item>& args);

    // Refuses operators that may not run (safety.h).
    void checkAllowed(const c10::FunctionSchema& schema, const std::vector<Item>& args) const;
    [[nodiscard]] ir::Arg toArg(const Item& item) const;

private:
    std::optional<std::vector<Item>> recordOut(const c10::FunctionSchema& schema, const std::vector<Item>& args);
    void describeMutation(ir::Op& op, const c10::FunctionSchema& schema) const;
    void describeArguments(ir::Op& op, const c10::FunctionSchema& schema, const std::vector<Item>& args) const;
    void checkSharing(ir::Op& op, const std::vector<Item>& args, const torch::jit::Stack& results) const;
    std::vector<Item> wrapResults(ir::Op op, const c10::FunctionSchema& schema, const torch::jit::Stack& results);

    Recorder& m_recorder;
    const Location& m_location;
};

}  // namespace hopscope::loader
