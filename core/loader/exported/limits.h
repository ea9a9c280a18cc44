#pragma once

// Reads the conditions that an exported program places on the sizes of its inputs: sizes that were fixed when it was
// exported, ranges of symbols, and guards. For the LibTorch modules only.

#include <map>
#include <string>
#include <vector>

#include "loader/exported/members.h"
#include "loader/loader.h"

namespace hopscope::loader::exported {

// Collects the limits of all inputs of a program; `program` is the root of its JSON.
class Limits {
public:
    explicit Limits(const json::Reader& program);

    // Adds the tensor that the graph calls `value` and that is given as `argument`.
    void addInput(const std::string& value, const std::string& argument);
    // Adds a number that was an input on export and is a constant of the program.
    void addConstant(const std::string& argument, std::int64_t number);
    // To be called after the last input. `arguments`: the names of all inputs in order.
    ModelLimits finish(const std::vector<std::string>& arguments);

private:
    void addSize(const json::Reader& size, const SizePlace& place);
    void addGuard(const std::string& code, const std::vector<std::string>& arguments);
    bool nameSizes(SizeExpression& expression, const std::vector<std::string>& arguments) const;

    json::Reader m_program;
    std::map<std::string, json::Reader> m_tensors, m_ranges;
    ModelLimits m_limits;
};

}  // namespace hopscope::loader::exported
