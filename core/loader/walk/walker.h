#pragma once

// Interprets forward once on concrete inputs and records the operators that are executed: branches are decided, loops
// unrolled, calls inlined, and containers and attributes replaced by their elements.

#include <torch/csrc/jit/ir/ir.h>

#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

#include "loader/walk/attributes.h"
#include "loader/walk/dictionary_operators.h"
#include "loader/walk/number_operators.h"
#include "loader/walk/sequence_operators.h"
#include "loader/walk/tensor_operators.h"

namespace hopscope::loader {

// Interprets TorchScript's control flow: blocks, branches, loops and calls. All other instructions are evaluated by the
// class for their kind, which returns the results. A walker serves a single run.
class Walker {
public:
    Walker() = default;
    Walker(const Walker&) = delete;
    Walker& operator=(const Walker&) = delete;

    // Runs forward. `given` contains the data keys; a number that is not among them is a default of forward, and a
    // constant. Throws Refused and LibTorch's exceptions; walk() catches both.
    Walk run(const torch::jit::Module& module, const std::vector<c10::IValue>& inputs, const base::TensorMap& given);
    [[nodiscard]] const Location& location() const { return m_location; }

private:
    using Node = torch::jit::Node;
    using Items = std::vector<Item>;
    using Handler = Items (Walker::*)(const Node&, const Items&);  // arguments to results
    struct Frame {
        std::string self;  // path of the module whose method this is
        std::unordered_map<const torch::jit::Value*, Item> items;
    };

    static const std::unordered_map<c10::Symbol, Handler>& handlers();
    void recordOutputs(const Item& item, const std::string& name);

    void runBlock(const torch::jit::Block& block);
    void step(const Node& node);
    void checkBudget();
    Items evaluate(const Node& node);
    Items evaluateOperator(const Node& node, const Items& args);

    [[nodiscard]] const Item& lookup(const torch::jit::Value* value) const;
    [[nodiscard]] Items lookupAll(at::ArrayRef<const torch::jit::Value*> values) const;
    void set(const torch::jit::Value* value, Item item) { m_frames.back().items[value] = std::move(item); }
    Item callFunction(torch::jit::Function& function, Items arguments, const std::string& self);
    Item callGraph(const torch::jit::Graph& graph, Items arguments, const std::string& self);

    // Instructions: each returns the values of the node's outputs.
    Items branch(const Node& node, const Items& args);
    Items loop(const Node& node, const Items& args);
    Items callMethod(const Node& node, const Items& args);
    Items callFreeFunction(const Node& node, const Items& args);
    Items raise(const Node& node, const Items& args);
    Items constant(const Node& node, const Items& args);
    Items testType(const Node& node, const Items& args);
    Items testIdentity(const Node& node, const Items& args);
    Items passOn(const Node& node, const Items& args);
    Items ignore(const Node& node, const Items& args);
    Items print(const Node& node, const Items& args);

    Location m_location;
    Recorder m_recorder;
    OperatorCalls m_calls{m_recorder, m_location};
    SparseMatrices m_sparse{m_recorder, m_location, m_calls};
    ValueWrapper m_wrapper{m_recorder, m_sparse};
    Attributes m_attributes{m_location, m_wrapper};
    Numbers m_numbers{m_recorder, m_location, m_calls, m_sparse};
    OperatorTools m_tools{.recorder = m_recorder,
                          .location = m_location,
                          .calls = m_calls,
                          .wrapper = m_wrapper,
                          .numbers = m_numbers};
    NumberOperators m_numberOperators{m_tools};
    SequenceOperators m_sequences{m_tools};
    DictionaryOperators m_dictionaries{m_location, m_numbers};
    TensorOperators m_tensorOperators{m_recorder, m_location, m_calls, m_sparse, m_numbers};
    std::vector<Frame> m_frames;
    std::int64_t m_steps = 0, m_prints = 0;
    std::string m_firstPrint;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace hopscope::loader
