#pragma once

// The module tree of a model as plain data. The outline shows it as it is; the graph first merges runs of identical
// layers.

#include <QString>
#include <vector>

#include "protocol/model.h"

namespace hopscope::models {

struct Module {
    QString path;                     // "convs.0.lin"; a run: "convs.[1-62]"; unique
    QString name;                     // last part: "lin", "[1-62]"
    QString type;                     // "Linear"; empty without operators of its own
    int parent = -1;                  // index; -1 for the root
    std::vector<int> children;        // in order of their first operator
    std::vector<protocol::OpId> ops;  // its own, ascending, without structure-only ones
    int opCount = 0;                  // including those of its children
    protocol::OpId firstOp;           // none: the module has no operators, or only structure-only ones
    int repeat = 1;                   // for a run: the number of its identical children
    int identical = 1;          // the number of siblings, itself included, that are alike; 1 for at most one operator
    std::size_t signature = 0;  // equal for modules of the same type whose operators and children are alike
};

struct ModuleTree {
    std::vector<Module> modules;  // modules[0] is the root
    base::IdVector<protocol::OpId, int>
        moduleOf;  // by operator: the innermost module; the root for top-level operators

    [[nodiscard]] int find(const QString& path) const;  // -1: none
    [[nodiscard]] bool isInside(int module, int ancestor) const;
};

// Builds the tree in O(n log n) for n operators and modules, times the depth of the tree.
ModuleTree buildModuleTree(const protocol::ModelRecord& model);

}  // namespace hopscope::models
