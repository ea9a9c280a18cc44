#pragma once

// Private to analysis: an Analysis under construction. Interns row spaces and keys, emits functional operators with common
// subexpressions merged, and keeps every table the same length as its ids.

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

// The rows of a table from `start` on, before `end` (all if there is none), every `step`-th of them.
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
    // A second attempt at a model: rows are also followed by their positions, as in h.view(-1, 2, 8).flip(1) or in
    // both[n:].
    bool positions = false;
    std::set<std::string>
        numbered;  // relations whose edges are looked up by number then: they must be a table of nodes
    std::map<SpaceId, ValueId> rowNumbers;              // made for tables that a part is selected from
    std::vector<std::pair<RowPart, ValueId>> rowParts;  // and the masks of these parts
    // The largest number in an index counts the first rows of the table that it points into, not all of them.
    bool prefixes = false;
    std::map<ValueId, SpaceId> counted;  // by index: the table of these rows
    // Numbers of rows in the file are sizes of tables whose rows a weight has.
    bool fixedSizes = false;
    std::map<std::int64_t, SpaceId> fixed;  // by size; invalid if several tables have it
    std::set<SpaceId> graphs;               // those of them with a row for each graph

    SpaceId node(const std::string& name) { return table(SpaceKind::Node, name); }
    SpaceId graph(const std::string& name) { return table(SpaceKind::Graph, name); }
    SpaceId edge(const std::string& name, SpaceId end0, SpaceId end1);
    SpaceId filter(SpaceId parent, ValueId mask);
    SpaceId perm(SpaceId parent, ValueId order);
    SpaceId cat(const std::vector<SpaceId>& parts);
    // Rows that belong to no table and whose number is the same on every graph: learned rows after those of nodes, or a
    // mean of all.
    SpaceId added(std::int64_t rows);
    SpaceId opaque(const std::string& why) { return table(SpaceKind::Opaque, why); }

    KeyId foreign(ValueId column, int end = 0);  // `end`: of a [2, E] or [E, 2] column, the row
    KeyId of(KeyId first, KeyId second);
    KeyId parts(const std::vector<KeyId>& keys);
    // The key of a table that follows end 0 or 1 of the edges it is made of (nodes: their own id); joint for a Cat whose
    // parts agree on the target. Invalid if there is none.
    KeyId jointKey(SpaceId space, int end);

    // Records that some operator uses this key; a joint key also uses the keys of the parts.
    void useKey(const Role& role);

    // Fixes a table's size on the sample; false if it is known to be another.
    bool fixSize(SpaceId space, std::int64_t size);

    ValueId addValue(ir::Value value, ValueInfo info);
    // Appends an operator whose outputs (already valued) follow in `outputs`; returns its id.
    OpId addOp(ir::Op op, OpInfo info);

    // A text that is equal only for equal operators on equal operands.
    static std::string operatorKey(const ir::Op& op);
    std::unordered_map<std::string, OpId> known;

private:
    SpaceId table(SpaceKind kind, const std::string& name);
    SpaceId intern(Space space);
    KeyId internKey(Key key);
};

}  // namespace hopscope::analysis
