#pragma once

// Private to export: writes an operator as a statement, by the rules of executor/calls/call.h.

#include "analysis/naming/value_names.h"
#include "export/method.h"
#include "export/numbers.h"

namespace hopscope::exporter {

// The context of a call: the variables that hold its operands, and the sizes of tables in the batch and in the whole
// graph.
struct Surroundings {
    std::function<Text(ir::Slot, ir::ValueId)> operand;
    SizeText local, global;
    std::function<std::string(ir::ValueId)> item;
};

class CallWriter {
public:
    CallWriter(const analysis::Analysis& analysis, const analysis::ValueNames& names)
        : m_analysis(analysis),
          m_names(names)
    {}

    // Adds an operator to the method, and returns the variables that hold its results. Raises Unsupported for operators
    // that plain PyTorch cannot run.
    std::vector<std::string> write(Method& method, const ir::Op& op, const Surroundings& around) const;

private:
    std::optional<Text> shaped(const ir::Op& op, const Surroundings& around) const;
    Text filled(const ir::Op& op, const Text& number, const Surroundings& around) const;
    std::optional<Text> fillNumber(const ir::Op& op, const Surroundings& around) const;
    Text called(const ir::Op& op, const Surroundings& around) const;
    Text rankSelected(Method& method, const ir::Op& op, const Surroundings& around) const;
    Text groupsPadded(Method& method, const ir::Op& op, const Surroundings& around) const;

    const analysis::Analysis& m_analysis;
    const analysis::ValueNames& m_names;
};

Text dtypeText(base::DType dtype);
// Returns the origin of a statement: "conv1.lin (sage_conv.py:134: `x = self.lin(x)`)".
std::string comesFrom(const ir::Op& op);
// Returns a tensor with the shape and dtype of `value`, which is the same number in every row.
Text dummyText(const analysis::Analysis& analysis, ir::ValueId value, const std::optional<std::vector<Text>>& shape);

}  // namespace hopscope::exporter
