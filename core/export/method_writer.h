#pragma once

// Private to export: a method with the arguments that a runner calls it with. Values without rows are computed where
// they are used: they are small, and the code then shows their origin.

#include "export/context.h"

namespace hopscope::exporter {

class MethodWriter {
public:
    MethodWriter(Context& context, std::string name) : m_context(context), m_method(std::move(name)) {}

    Method& method() { return m_method; }
    Context& context() { return m_context; }
    // The parameter for such an argument; its name is filled in here.
    std::string argument(schema::CodeArgument wanted, const std::string& label);
    // A value without rows, or a table as a whole.
    std::string whole(ir::ValueId value);
    // The number of rows of a whole table.
    Text size(ir::SpaceId space);
    // The arguments that remain after the method has been pruned, in the order of its parameters.
    [[nodiscard]] std::vector<schema::CodeArgument> arguments() const;

private:
    void computeWhole(const ir::Op& op);

    Context& m_context;
    Method m_method;
    std::vector<schema::CodeArgument> m_arguments;
    std::map<ir::ValueId, std::string> m_whole;
};

}  // namespace hopscope::exporter
