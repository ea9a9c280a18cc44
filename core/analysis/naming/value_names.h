#pragma once

// The readable names of an analysed model's values (analysis/naming/value_namer.h); ids such as v17 are for
// documents.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/naming/op_words.h"

namespace hopscope::analysis {

// Copies its data. Construction is linear: create it once for a table, or for an error report.
class ValueNames {
public:
    explicit ValueNames(const Analysis& analysis);

    [[nodiscard]] const std::string& operator[](ir::ValueId id) const { return m_names[id.at()]; }
    [[nodiscard]] std::optional<ir::ValueId> find(const std::string& name) const;  // none: no value has this name

private:
    std::vector<std::string> m_names;
    std::map<std::string, ir::ValueId> m_ids;
};

// A single name; linear in the model.
std::string nameOfValue(const Analysis& analysis, ir::ValueId id);

// The place where a value is computed: "aten::relu in convs.1 (model.py:17)"; empty for inputs, parameters and
// constants.
std::string placeOfValue(const Analysis& analysis, ir::ValueId id);

// The name of a key's column: "row 0" and "row 1" of an edge index, a batch vector by the name of the value.
std::string nameOfKey(const Analysis& analysis, KeyId id);

// The kind of an operator: never an end of the model; Rowwise after a refusal.
NodeKind nodeKind(const Analysis& analysis, ir::OpId op);

}  // namespace hopscope::analysis
