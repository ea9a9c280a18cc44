#pragma once

// The names of an analysed model's values, as people read them (analysis/value_namer.h); ids such as v17 are for documents.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/op_words.h"

namespace hopscope::analysis {

// Copies what it needs. Linear to make: made once for a table, or where an error is told.
class ValueNames {
public:
    explicit ValueNames(const Analysis& analysis);

    [[nodiscard]] const std::string& operator[](ir::ValueId id) const { return m_names[id.at()]; }
    [[nodiscard]] std::optional<ir::ValueId> find(const std::string& name) const;  // none: no value is called so

private:
    std::vector<std::string> m_names;
    std::map<std::string, ir::ValueId> m_ids;
};

// One name, where no more are needed; linear in the model.
std::string nameOfValue(const Analysis& analysis, ir::ValueId id);

// Never an end of the model; Rowwise for operators behind a refusal.
NodeKind nodeKind(const Analysis& analysis, ir::OpId op);

}  // namespace hopscope::analysis
