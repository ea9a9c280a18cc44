#pragma once

// Runs forward once on concrete inputs and records what ran: branches are taken, loops unrolled, calls entered, lists,
// tuples, dictionaries and attributes dissolved. Every failure is thrown as Refused and caught in walk().

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>

#include "loader/walk/recorder.h"

namespace hopscope::loader {

class Walker {
public:
    explicit Walker(const Model& model) : m_model(model) {}
    // `given`: the data keys; a number that is not among them is forward's own default, a constant.
    Walk run(const std::vector<c10::IValue>& inputs, const base::TensorMap& given);
    [[nodiscard]] std::string place() const;

private:
    using Node = torch::jit::Node;
    using Handler = void (Walker::*)(const Node&);
    struct Frame {
        std::string self;  // path of the module whose method this is
        std::unordered_map<const torch::jit::Value*, Item> items;
    };
    struct Sparse {  // the parts of a sparse input
        Item indices, crow, col, values, sizes[2];
    };
    enum class Leaf { Attribute, Literal, Input };

    // walk.cpp: ends and means
    Item wrap(const c10::IValue& value, const std::string& path, Leaf leaf);
    Item wrapLeaf(const c10::IValue& value, const std::string& path, Leaf leaf);
    Item wrapSparseInput(const at::Tensor& tensor, const std::string& path);
    void emitOutputs(const Item& item, const std::string& name);
    [[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) const;
    [[noreturn]] void refuseThrown(const std::string& what) const;
    ir::Op newOp(const std::string& name, const std::string& overload) const;
    const ir::Source& currentSource() const;

    // walk_control.cpp: instructions of the language
    static const std::unordered_map<c10::Symbol, Handler>& handlers();
    Item callGraph(const torch::jit::Graph& graph, std::vector<Item> arguments, const std::string& self);
    Item callFunction(torch::jit::Function& function, std::vector<Item> arguments, const std::string& self);
    void runBlock(const torch::jit::Block& block);
    void step(const Node& node);
    Item& in(const Node& node, std::size_t i) { return lookup(node.inputs()[i]); }
    Item& lookup(const torch::jit::Value* value);
    void set(const Node& node, Item item) { m_frames.back().items[node.output()] = std::move(item); }
    std::vector<Item> inputsOf(const Node& node);
    void guard(const Item& item);
    std::int64_t fixedInt(const Item& item);  // guards the number if it derives from inputs
    bool fixedBool(const Item& item);
    void constantNode(const Node& node);
    void getAttr(const Node& node);
    void setAttr(const Node& node);
    void ifNode(const Node& node);
    void loopNode(const Node& node);
    void callMethod(const Node& node);
    void callFunctionNode(const Node& node);
    void createObject(const Node& node);
    void raiseException(const Node& node);
    void isInstance(const Node& node);
    void passOn(const Node& node);
    void ignore(const Node& node);
    void isNode(const Node& node);
    std::vector<ir::ModuleFrame> framesFor(const std::string& caller, const std::string& callee);

    // walk_containers.cpp: lists, tuples, dictionaries
    void construct(const Node& node);
    void constructDict(const Node& node);
    void unpack(const Node& node);
    void tupleIndex(const Node& node);
    void tupleSlice(const Node& node);
    bool containerOp(const Node& node, std::vector<Item>& args);
    bool listOp(const std::string& name, const Node& node, std::vector<Item>& args);
    bool listChange(const std::string& name, const Node& node, std::vector<Item>& args);
    bool dictOp(const std::string& name, const Node& node, std::vector<Item>& args);
    bool dictChange(const std::string& name, const Node& node, std::vector<Item>& args);
    bool staticListOp(const Node& node, std::vector<Item>& args);
    std::size_t position(const Item& index, std::size_t count, bool pastEnd = false);
    std::optional<std::size_t> findKey(const Box& dict, const Item& key);
    Item sliceOf(const std::vector<Item>& args);
    Item contains(const Item& list, const Item& wanted);
    Item equalLists(const Item& a, const Item& b, bool wanted);
    Item extreme(const Item& list, const char* scalarName);

    // walk_numbers.cpp: numbers that derive from inputs
    bool numberOp(const Node& node, std::vector<Item>& args);
    bool tensorToNumber(const Node& node, std::vector<Item>& args);
    bool numberToTensor(const Node& node, std::vector<Item>& args);
    bool staticFact(const Node& node, const std::vector<Item>& args);
    Item sizeItem(const Item& tensor, std::int64_t dim);
    Item itemOf(const Item& tensor, const c10::IValue& result);
    Item tensorOf(const Item& number, const at::Tensor& result);
    Item scalar(const char* name, const std::vector<Item>& args, const c10::IValue& result);
    Item arithmetic(const char* name, const Item& a, const Item& b);
    Item rangeLength(const std::vector<Item>& args);
    Item deriveIndex(const std::vector<Item>& args);
    std::optional<Item> convert(const Node& node, const std::vector<Item>& args);

    // walk_operators.cpp: operators on tensors
    void tensorOp(const Node& node, std::vector<Item>& args);
    bool specialTensorOp(const Node& node, std::vector<Item>& args);
    bool sparsePart(const std::string& name, const Node& node, const std::vector<Item>& args);
    bool castOp(const Node& node, const std::vector<Item>& args);
    bool scatterOp(const Node& node, const std::vector<Item>& args);
    std::vector<Item> emit(const torch::jit::Operator& op, std::vector<Item> args);
    Item call(const char* name, const char* overload, std::vector<Item> args);
    void describeMutation(ir::Op& op, const c10::FunctionSchema& schema) const;
    ir::Arg toArg(const Item& item) const;
    torch::jit::Stack execute(torch::jit::Operation op, torch::jit::Stack stack) const;
    torch::jit::Stack executeNode(const Node& node, const std::vector<Item>& args) const;
    std::vector<Item> wrapResults(ir::Op op, const c10::FunctionSchema& schema, const torch::jit::Stack& results);

    const Model& m_model;
    Recorder m_recorder;
    std::vector<Frame> m_frames;
    std::vector<ir::ModuleFrame> m_modules;
    std::map<std::pair<const void*, std::string>, Item> m_attributes;  // set by the model, or lists read once
    std::vector<c10::IValue> m_created;                                // keeps created objects' addresses taken
    std::map<std::string, std::string> m_moduleTypes;                  // by path
    std::map<std::pair<ir::ValueId, std::int64_t>, Item> m_sizes;
    std::map<ir::ValueId, Item> m_numbersOf;  // 0-dim tensors made from numbers
    std::map<ir::ValueId, Sparse> m_sparse;
    mutable std::unordered_map<const Node*, ir::Source> m_sources;
    const Node* m_node = nullptr;
    std::int32_t m_calls = 0;
    std::int64_t m_steps = 0;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

// Why an operator may not run here (side effects, random numbers, missing library), or nothing.
std::optional<base::Error> forbidden(const c10::FunctionSchema& schema, const std::vector<Item>& args);

}  // namespace hopscope::loader
