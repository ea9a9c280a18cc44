#pragma once

// Private to analysis: an Analysis under construction. It interns row spaces and keys, emits functional operators with
// common subexpressions merged, and keeps all vectors as long as the ids that index them.

#include <string>
#include <unordered_map>

#include "analysis/analysis.h"

namespace hopscope::analysis {

// The result of a rule for one output.
struct Outcome {
    std::vector<SpaceId> dims;
    std::optional<Role> role;
    std::vector<Role> pairRoles;
    std::set<SpaceId> elements;
    std::optional<Linear> size;
    bool sparse = false;
    Role sparseRow, sparseColumn;
    std::optional<Compressed> compressed;
};

// The rows start, start + step, ... of a table before `end`, or to the last row if there is no end.
struct RowPart {
    SpaceId rows;
    Linear start;
    std::optional<Linear> end;
    std::int64_t step = 1;
    bool operator==(const RowPart&) const = default;
};

class Builder {
public:
    Builder();

    Analysis analysis;
    // Set for the second attempt at a model, which also follows rows by their positions, as in h.view(-1, 2, 8).flip(1)
    // or both[n:].
    bool positions = false;
    std::set<std::string>
        numbered;  // relations whose edges this attempt looks up by number; they must be a table of nodes
    std::map<SpaceId, ValueId> rowNumbers;              // the row numbers of tables that a part is selected from
    std::vector<std::pair<RowPart, ValueId>> rowParts;  // the masks of these parts
    // If set, the largest number in an index counts the first rows of the table that it points into, not all of its
    // rows.
    bool prefixes = false;
    std::map<ValueId, SpaceId> counted;  // by index: the table of these rows
    // If set, numbers of rows in the file are the sizes of tables with a weight that has their rows (fixed_sizes.h).
    bool fixedSizes = false;
    std::map<std::int64_t, SpaceId> fixed;  // by size; invalid if several tables have it
    std::set<SpaceId> graphs;               // the fixed tables with a row for each graph

    SpaceId node(const std::string& name) { return table(SpaceKind::Node, name); }
    SpaceId graph(const std::string& name) { return table(SpaceKind::Graph, name); }
    SpaceId edge(const std::string& name, SpaceId end0, SpaceId end1);
    SpaceId filter(SpaceId parent, ValueId mask);
    SpaceId perm(SpaceId parent, ValueId order);
    SpaceId cat(const std::vector<SpaceId>& parts);
    // Rows that belong to no table, and have the same number on every graph: learned rows after those of nodes, or a
    // mean of all nodes.
    SpaceId added(std::int64_t rows);
    SpaceId opaque(const std::string& why) { return table(SpaceKind::Opaque, why); }

    KeyId foreign(ValueId column, int end = 0);  // `end`: of a [2, E] or [E, 2] column, the row
    KeyId of(KeyId first, KeyId second);
    KeyId parts(const std::vector<KeyId>& keys);
    // Returns the key of a table that follows end 0 or 1 of the edges that the table is made of (for nodes, their own
    // id). For a Cat with parts that agree on the target, this is a joint key. Invalid if there is none.
    KeyId jointKey(SpaceId space, int end);

    // Records that some operator uses this key; a joint key also uses the keys of the parts.
    void useKey(const Role& role);

    // Fixes a table's size on the sample. Returns false if a different size is already known.
    bool fixSize(SpaceId space, std::int64_t size);

    ValueId addValue(ir::Value value, ValueInfo info);
    // Appends an operator, whose output values already exist, and returns its id.
    OpId addOp(ir::Op op, OpInfo info);

    // Returns a text that is equal only for equal operators on equal operands.
    static std::string operatorKey(const ir::Op& op);
    std::unordered_map<std::string, OpId> known;

private:
    SpaceId table(SpaceKind kind, const std::string& name);
    SpaceId intern(Space space);
    KeyId internKey(Key key);
};

}  // namespace hopscope::analysis
