#pragma once

// Private to export: writes a method, and the arguments with which a runner calls it. Values without rows are computed
// where they are used: they are small, and the code then shows their origin.

#include "export/context.h"

namespace hopscope::exporter {

class MethodWriter {
public:
    MethodWriter(Context& context, std::string name) : m_context(context), m_method(std::move(name)) {}

    Method& method() { return m_method; }
    Context& context() { return m_context; }
    // Returns the parameter for an argument, and fills in its name.
    std::string argument(schema::CodeArgument wanted, const std::string& label);
    // Returns the variable that holds a value without rows, or a value for a whole table.
    std::string whole(ir::ValueId value);
    // Returns the number of rows of a whole table.
    Text size(ir::SpaceId space);
    // Returns the arguments that remain after the method has been pruned, in the order of its parameters.
    [[nodiscard]] std::vector<schema::CodeArgument> arguments() const;

private:
    void computeWhole(const ir::Op& op);

    Context& m_context;
    Method m_method;
    std::vector<schema::CodeArgument> m_arguments;
    std::map<ir::ValueId, std::string> m_whole;
};

}  // namespace hopscope::exporter
