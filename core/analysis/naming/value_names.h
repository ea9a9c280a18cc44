#pragma once

// Provides the readable names of an analysed model's values (analysis/naming/value_namer.h) and keys, and the places and
// kinds of its operators.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/naming/op_words.h"

namespace hopscope::analysis {

// Maps the values of an analysis to their names. Copies its data. The constructor names all values of the model: create
// one object for a table or an error report.
class ValueNames {
public:
    explicit ValueNames(const Analysis& analysis);

    [[nodiscard]] const std::string& operator[](ir::ValueId id) const { return m_names[id.at()]; }
    [[nodiscard]] std::optional<ir::ValueId> find(const std::string& name) const;  // none: no value has this name

private:
    std::vector<std::string> m_names;
    std::map<std::string, ir::ValueId> m_ids;
};

// Returns a single name. Names all values of the model for it.
std::string nameOfValue(const Analysis& analysis, ir::ValueId id);

// Returns the operator that computes a value, with module and source line: "aten::relu in convs.1 (model.py:17)". Empty
// for inputs, parameters and constants.
std::string placeOfValue(const Analysis& analysis, ir::ValueId id);

// Returns the name of a key's column: "row 0" or "row 1" for an edge index, the name of the value for a batch vector,
// "row 0 of NAME" for a row of a matrix, "the row number" for rows themselves. Names of composed keys are put together
// from these. Returns "none" for an invalid id.
std::string nameOfKey(const Analysis& analysis, KeyId id);

// Returns the kind of an operator, which is never Input or Output. Operators that were not analysed are Rowwise, or
// Structure if they work on numbers.
NodeKind nodeKind(const Analysis& analysis, ir::OpId op);

}  // namespace hopscope::analysis
