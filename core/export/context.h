#pragma once

// Private to export: the state that the writers of all methods share, and the values that they require of the prologue.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/naming/value_names.h"
#include "export/calls.h"
#include "schema/names.h"
#include "schema/split_code.h"

namespace hopscope::exporter {

// The attributes of the module: weights and large constants, under names that are identifiers.
class Weights {
public:
    explicit Weights(const analysis::Analysis& analysis) : m_analysis(analysis) {}

    // Returns the attribute of a value: "self.conv1_lin_weight".
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

// Returns the readable name of a key: "row 0", also if self-loops were added to the edges.
std::string keyLabel(const analysis::Analysis& analysis, ir::KeyId key);

}  // namespace hopscope::exporter
