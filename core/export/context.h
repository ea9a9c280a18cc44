#pragma once

// Private to export: state shared by the writers of all methods, and the values that they require of the prologue.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/naming/value_names.h"
#include "export/calls.h"
#include "schema/names.h"
#include "schema/split_code.h"

namespace hopscope::exporter {

// The module's attributes: weights and large constants, by names that can be written in code.
class Weights {
public:
    explicit Weights(const analysis::Analysis& analysis) : m_analysis(analysis) {}

    // "self.conv1_lin_weight".
    std::string attribute(ir::ValueId value);
    [[nodiscard]] std::vector<schema::CodeWeight> list() const;

private:
    const analysis::Analysis& m_analysis;
    std::map<ir::ValueId, schema::CodeWeight> m_weights;
    std::set<std::string> m_taken;
};

// The values that stages require of the prologue.
struct Needs {
    std::set<ir::ValueId> values;
    std::set<std::pair<ir::SpaceId, ir::KeyId>> columns;
    std::set<ir::SpaceId> parents, sizes;
};

struct Context {
    explicit Context(const analysis::Analysis& a) : analysis(a), names(a), ids(a), calls(a, names), weights(a) {}
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const analysis::Analysis& analysis;
    analysis::ValueNames names;
    schema::Names ids;
    CallWriter calls;
    Weights weights;
    Needs needs;
};

// "row 0", also for edges with self-loops, whose ends are "row 0 + the row number".
std::string keyLabel(const analysis::Analysis& analysis, ir::KeyId key);

}  // namespace hopscope::exporter
