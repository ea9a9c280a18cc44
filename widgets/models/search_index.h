#pragma once

// A search index for graph and outline, which finds operators by id, name, label, module and shape.

#include <QString>
#include <vector>

#include "models/modules.h"

namespace hopscope::models {

class SearchIndex {
public:
    SearchIndex() = default;
    SearchIndex(const protocol::ModelRecord& model, const ModuleTree& tree);
    // Returns the operators, in order, that contain all words of the query, ignoring case; empty for an empty query.
    // Takes a few milliseconds for 50,000 operators.
    [[nodiscard]] std::vector<protocol::OpId> find(const QString& query) const;

private:
    QString m_text;                  // one lower-case line per operator
    std::vector<qsizetype> m_begin;  // of each line
};

// Derived data that views of a model need; computed once, on any thread.
struct ModelParts {
    ModuleTree modules;
    SearchIndex search;
};
ModelParts partsOf(const protocol::ModelRecord& model);

}  // namespace hopscope::models
