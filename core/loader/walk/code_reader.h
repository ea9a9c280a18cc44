#pragma once

// Reads the operators out of TorchScript code without running it (readCode() in loader.h).

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/tensor.h"
#include "loader/walk/location.h"

namespace hopscope::loader {

// Reads the code of a single model. LibTorch's exceptions pass through; the program then ends at that point.
class CodeReader {
public:
    // `where` is the location that becomes an operator in any case; may be empty.
    explicit CodeReader(std::string where) : m_where(std::move(where)) {}

    void read(const torch::jit::Module& module, const base::TensorMap& sample);
    [[nodiscard]] ir::Program& program() { return m_program; }

private:
    void readMethod(const torch::jit::Module& module, const torch::jit::Method& method, const base::TensorMap& sample,
                    const std::string& out);
    using Node = torch::jit::Node;

    // The facts known about a TorchScript value: the program's values that it consists of, and the value itself if it
    // is a constant, an attribute or a module.
    struct Known {
        std::vector<ir::ValueId> values;
        std::optional<c10::IValue> concrete;
        std::string path;  // of a module: its attribute path from the model
    };
    struct Frame {
        std::string self;
        std::unordered_map<const torch::jit::Value*, Known> known;
    };

    Known argument(const c10::Argument& argument, const base::TensorMap& sample);
    ir::ValueId addValue(ir::Value value);
    void readBlock(const torch::jit::Block& block);
    void readNode(const Node& node);
    void readInstruction(const Node& node);

    Known call(torch::jit::Function* function, std::vector<Known> arguments, const std::string& self);
    void callMethod(const Node& node);
    void callFunction(const Node& node);
    void branch(const Node& node);
    void loop(const Node& node);
    void attribute(const Node& node);
    void setAttribute(const Node& node);
    void constant(const Node& node);
    void passOn(const Node& node);  // containers and casts: the result is the operand
    void readOperator(const Node& node);
    void addOperator(const Node& node);
    [[nodiscard]] std::optional<bool> decided(const Node& node) const;  // of `is`, `is not` and `not`
    [[nodiscard]] bool inTheWay(const Node& node);
    [[nodiscard]] bool fromNumbers(const Node& node) const;

    [[nodiscard]] const Known& known(const torch::jit::Value* value) const;
    void set(const torch::jit::Value* value, Known known) { m_frames.back().known[value] = std::move(known); }

    std::string m_where;
    Location m_location;
    ir::Program m_program;
    std::map<const void*, ir::ValueId> m_parameters;  // by tensor
    std::vector<Frame> m_frames;
    int m_steps = 0;
};

}  // namespace hopscope::loader
