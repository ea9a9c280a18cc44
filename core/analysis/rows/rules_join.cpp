// Rules of operators that join tables, or values of one table.

#include <algorithm>

#include "analysis/rows/bag_ids.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

Ruled<Outcomes> stackRule(RuleContext& c)
{
    std::vector<RuleContext::Shaped> parts;
    std::vector<Role> roles;
    std::set<SpaceId> elements;
    for (ValueId v : c.operands()) {
        parts.push_back(c.shaped(v));
        if (c.of(v).role) roles.push_back(*c.of(v).role);
        elements.insert(c.of(v).elements.begin(), c.of(v).elements.end());
    }
    const auto dims = c.broadcast(parts);
    if (!dims) return Refusal(dims.error());
    Outcome o;
    o.dims = *dims;
    const int d = wrapDim(c.integer("dim", 0), static_cast<int>(dims->size()) + 1);
    o.dims.insert(o.dims.begin() + d, SpaceId{});
    if (roles.size() == parts.size()) o.pairRoles = roles;
    o.elements = elements;
    return Outcomes{o};
}

namespace {

Ruled<Outcomes> catFeatures(RuleContext& c, const std::vector<ValueId>& parts, int d)
{
    std::vector<RuleContext::Shaped> rest;
    Outcome o;
    std::vector<Role> roles;
    bool all = true;
    for (ValueId v : parts) {
        RuleContext::Shaped s = c.shaped(v);
        s.dims.erase(s.dims.begin() + d);
        s.shape.erase(s.shape.begin() + d);
        rest.push_back(std::move(s));
        const std::vector<Role>& pair = c.of(v).pairRoles;
        if (!pair.empty()) roles.insert(roles.end(), pair.begin(), pair.end());
        else if (c.of(v).role && c.extent(v, d) == 1) roles.push_back(*c.of(v).role);
        else all = false;
        o.elements.insert(c.of(v).elements.begin(), c.of(v).elements.end());
    }
    const auto dims = c.broadcast(rest);
    if (!dims) return Refusal(dims.error());
    o.dims = *dims;
    o.dims.insert(o.dims.begin() + d, SpaceId{});
    if (all) o.pairRoles = roles;
    return Outcomes{o};
}

// A column of row numbers, one part after the other.
struct ColumnPart {
    ValueId value;
    std::size_t column = 0;  // of a pair
    std::optional<Role> role;
};

// 0 1 2 .., which are rows of their own table, and could be of another one.
bool isNumbering(const RuleContext& c, const std::optional<Role>& role)
{
    return role && role->space == role->target && role->key == c.builder.analysis.tables.idKey();
}

// The numbers 0 1 2 .. as a column by itself, or in a pair; invalid where they are neither.
ValueId numbersOf(const RuleContext& c, ValueId v)
{
    while (c.of(v).pairRoles.empty() && c.rank(v) != 1) {
        if (c.value(v).origin != ir::Origin::Op) return {};
        const ValueId* const from = c.builder.analysis.program.op(c.value(v).producer).args.at(0).value();
        if (!from || c.of(*from).role != c.of(v).role) return {};
        v = *from;
    }
    return v;
}

// Numbers that stand below those of rows of another table are of that table, too: self-loops of edges between two tables.
void readNumberings(RuleContext& c, std::vector<ColumnPart>& parts)
{
    const auto other =
        std::ranges::find_if(parts, [&](const ColumnPart& part) { return part.role && !isNumbering(c, part.role); });
    if (other == parts.end()) return;
    const SpaceId target = other->role->target;
    for (ColumnPart& part : parts) {
        if (!isNumbering(c, part.role) || part.role->target == target) continue;
        const ValueId numbers = numbersOf(c, part.value);
        if (!numbers.valid()) continue;
        const KeyId key = c.builder.foreign(numbers, static_cast<int>(part.column));
        part.role = Role{.space = part.role->space, .key = key, .target = target};
    }
}

std::optional<Role> joinRoles(RuleContext& c, SpaceId cat, std::vector<ColumnPart> parts)
{
    readNumberings(c, parts);
    std::vector<KeyId> keys;
    for (const ColumnPart& part : parts) {
        if (!part.role || part.role->target != parts[0].role->target) return std::nullopt;
        keys.push_back(part.role->key);
    }
    return Role{.space = cat, .key = c.builder.parts(keys), .target = parts[0].role->target};
}

void joinAll(RuleContext& c, const std::vector<ValueId>& parts, SpaceId cat, Outcome& o)
{
    std::size_t columns = 0;
    for (ValueId v : parts) columns = std::max(columns, c.of(v).pairRoles.size());
    const auto column = [&](std::size_t i) {
        std::vector<ColumnPart> all;
        for (ValueId v : parts) {
            const ValueInfo& info = c.of(v);
            const auto role = i < info.pairRoles.size() ? std::optional(info.pairRoles[i]) : info.role;
            all.push_back({.value = v, .column = i, .role = role});
        }
        return joinRoles(c, cat, std::move(all));
    };
    if (columns == 0) {
        o.role = column(0);
        return;
    }
    for (std::size_t i = 0; i < columns; ++i)
        if (const auto r = column(i)) o.pairRoles.push_back(*r);
    if (o.pairRoles.size() != columns) o.pairRoles.clear();
}

// Rows of a table and rows that belong to none.
Refused joinsOthers(const RuleContext& c, const std::vector<ValueId>& parts, SpaceId others, int d)
{
    const auto known =
        std::ranges::find_if(parts, [&](ValueId v) { return c.dim(v, d) != others && c.isRow(c.dim(v, d)); });
    const std::string rows = known == parts.end() ? "a table" : c.spaceName(c.dim(*known, d));
    if (c.isRow(others)) return {"joins rows of " + rows + " with " + c.spaceName(others)};
    return {"joins rows of " + rows + " with rows that belong to no table", Refused::Kind::Added};
}

Ruled<Outcomes> catRows(RuleContext& c, const std::vector<ValueId>& parts, int d)
{
    std::vector<SpaceId> spaces;
    std::vector<RuleContext::Shaped> rest;
    Outcome o;
    for (ValueId v : parts) {
        const bool added = c.builder.positions && !c.anyRow(c.dims(v)) && !c.dim(v, d).valid() && c.extent(v, d) > 0;
        const SpaceId s = added ? c.builder.added(c.extent(v, d)) : c.dim(v, d);
        if (!added && (!c.isRow(s) || c.space(s).kind == SpaceKind::Opaque))
            return Refusal(joinsOthers(c, parts, s, d));
        spaces.push_back(s);
        RuleContext::Shaped shape = c.shaped(v);
        shape.dims.erase(shape.dims.begin() + d);
        shape.shape.erase(shape.shape.begin() + d);
        rest.push_back(std::move(shape));
        o.elements.insert(c.of(v).elements.begin(), c.of(v).elements.end());
    }
    const auto dims = c.broadcast(rest);
    if (!dims) return Refusal(dims.error());
    const SpaceId cat = c.builder.cat(spaces);
    for (int end : {0, 1}) c.builder.jointKey(cat, end);
    o.dims = *dims;
    o.dims.insert(o.dims.begin() + d, cat);
    joinAll(c, parts, cat, o);
    c.info.kind = OpKind::Concat;
    c.info.dim = d;
    c.info.result = cat;
    return Outcomes{o};
}

}  // namespace

Ruled<Outcomes> catRule(RuleContext& c)
{
    std::vector<ValueId> parts;
    std::vector<Slot> slots;
    const int list = c.index("tensors");
    ir::forEachOperand(c.op, [&](Slot s, ValueId v) {
        if (s.arg != list) return;
        const bool legacyEmpty = c.rank(v) == 1 && c.extent(v, 0) == 0;  // cat ignores 1-D empties of any width
        if (legacyEmpty && !c.dim(v, 0).valid()) return;
        parts.push_back(v);
        slots.push_back(s);
    });
    if (parts.empty()) return opaqueRule(c);
    const int d = wrapDim(c.integer("dim", 0), c.rank(parts[0]));
    const bool rows = std::any_of(parts.begin(), parts.end(), [&](ValueId v) { return c.isRow(c.dim(v, d)); });
    if (auto offsets = joinedOffsets(c, parts)) return *offsets;
    if (!rows) return catFeatures(c, parts, d);
    if (parts.size() == 1) {
        c.same = parts[0];
        return c.one(c.dims(parts[0]));
    }
    auto result = catRows(c, parts, d);
    if (result)
        for (std::size_t i = 0; i < slots.size(); ++i) c.use(slots[i], Use::Part, static_cast<int>(i));
    return result;
}

}  // namespace hopscope::analysis
