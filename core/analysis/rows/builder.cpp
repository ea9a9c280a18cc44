#include "analysis/rows/builder.h"

#include <cstring>

namespace hopscope::analysis {

namespace {

bool sameSpace(const Space& a, const Space& b)
{
    return a.kind == b.kind && a.name == b.name && a.parent == b.parent && a.selector == b.selector &&
           a.parts == b.parts && a.rows == b.rows;
}

bool sameKey(const Key& a, const Key& b)
{
    return a.kind == b.kind && a.end == b.end && a.column == b.column && a.first == b.first && a.second == b.second &&
           a.parts == b.parts;
}

void appendBits(std::string& key, double number)
{
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    key += "d" + std::to_string(bits);
}

struct KeyWriter {
    std::string& key;
    void operator()(std::monostate) const { key += "n"; }
    void operator()(ir::ValueId v) const { key += "v" + std::to_string(v.index); }
    void operator()(std::int64_t i) const { key += "i" + std::to_string(i); }
    void operator()(double d) const { appendBits(key, d); }
    void operator()(bool b) const { key += b ? "t" : "f"; }
    void operator()(const std::string& s) const { key += "s" + std::to_string(s.size()) + ":" + s; }
    void operator()(ir::DeviceArg) const { key += "D"; }
    void operator()(const ir::ArgList& list) const
    {
        key += "(";
        for (const ir::Arg& a : list) {
            std::visit(KeyWriter{key}, a.data);
            key += ",";
        }
        key += ")";
    }
};

}  // namespace

Builder::Builder()
{
    internKey({.kind = KeyKind::Id, .end = 0, .column = {}, .first = {}, .second = {}, .parts = {}});
    internKey({.kind = KeyKind::Pos, .end = 0, .column = {}, .first = {}, .second = {}, .parts = {}});
    internKey({.kind = KeyKind::End, .end = 0, .column = {}, .first = {}, .second = {}, .parts = {}});
    internKey({.kind = KeyKind::End, .end = 1, .column = {}, .first = {}, .second = {}, .parts = {}});
}

SpaceId Builder::intern(Space space)
{
    std::vector<Space>& spaces = analysis.tables.spaces;
    for (std::size_t i = 0; i < spaces.size(); ++i)
        if (sameSpace(spaces[i], space)) return SpaceId(i);
    spaces.push_back(std::move(space));
    return SpaceId(spaces.size() - 1);
}

KeyId Builder::internKey(Key key)
{
    std::vector<Key>& keys = analysis.tables.keys;
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (sameKey(keys[i], key)) return KeyId(i);
    keys.push_back(std::move(key));
    return KeyId(keys.size() - 1);
}

SpaceId Builder::table(SpaceKind kind, const std::string& name) { return intern({.kind = kind, .name = name}); }

SpaceId Builder::edge(const std::string& name, SpaceId end0, SpaceId end1)
{
    const SpaceId id = table(SpaceKind::Edge, name);
    Space& s = analysis.tables.spaces[id.at()];
    if (end0.valid()) s.ends[0] = end0;
    if (end1.valid()) s.ends[1] = end1;
    return id;
}

SpaceId Builder::filter(SpaceId parent, ValueId mask)
{
    return intern({.kind = SpaceKind::Filter, .parent = parent, .selector = mask});
}

SpaceId Builder::perm(SpaceId parent, ValueId order)
{
    return intern({.kind = SpaceKind::Perm, .parent = parent, .selector = order});
}

SpaceId Builder::cat(const std::vector<SpaceId>& parts) { return intern({.kind = SpaceKind::Cat, .parts = parts}); }

SpaceId Builder::added(std::int64_t rows)
{
    const SpaceId id =
        intern({.kind = SpaceKind::Graph, .name = std::to_string(rows) + (rows == 1 ? " row" : " rows"), .rows = rows});
    fixSize(id, rows);
    return id;
}

KeyId Builder::foreign(ValueId column, int end)
{
    return internKey({.kind = KeyKind::Foreign, .end = end, .column = column});
}

KeyId Builder::of(KeyId first, KeyId second)
{
    return internKey({.kind = KeyKind::Of, .first = first, .second = second});
}

KeyId Builder::parts(const std::vector<KeyId>& keys) { return internKey({.kind = KeyKind::Parts, .parts = keys}); }

void Builder::useKey(const Role& role)
{
    if (!analysis.tables.usedKeys.emplace(std::pair(role.space, role.key), role.target).second) return;
    const Key key = analysis.tables.key(role.key);
    const Space space = analysis.tables.space(role.space);
    if (key.kind == KeyKind::Parts && space.kind == SpaceKind::Cat)
        for (std::size_t i = 0; i < key.parts.size(); ++i)
            useKey({.space = space.parts[i], .key = key.parts[i], .target = role.target});
    const bool derived = space.kind == SpaceKind::Filter || space.kind == SpaceKind::Perm;
    if (derived && key.kind != KeyKind::Pos) useKey({.space = space.parent, .key = role.key, .target = role.target});
}

KeyId Builder::jointKey(SpaceId id, int end)
{
    const Space space = analysis.tables.space(id);
    switch (space.kind) {
    case SpaceKind::Node: return analysis.tables.idKey();
    case SpaceKind::Edge: return analysis.tables.endKey(end);
    case SpaceKind::Filter:
    case SpaceKind::Perm: return jointKey(space.parent, end);
    case SpaceKind::Cat: break;
    default: return {};
    }
    std::vector<KeyId> keys;
    for (SpaceId part : space.parts) {
        keys.push_back(jointKey(part, end));
        const SpaceId target = analysis.tables.target(part, keys.back());
        if (!target.valid() || target != analysis.tables.target(space.parts[0], keys[0])) return {};
    }
    return parts(keys);
}

bool Builder::fixSize(SpaceId space, std::int64_t size)
{
    if (!space.valid() || analysis.tables.space(space).kind == SpaceKind::Opaque) return true;
    return analysis.sampleSizes.emplace(space, size).first->second == size;
}

ValueId Builder::addValue(ir::Value value, ValueInfo info)
{
    const ValueId id(analysis.program.values.size());
    value.id = id;
    analysis.program.values.push_back(std::move(value));
    analysis.values.push_back(std::move(info));
    return id;
}

OpId Builder::addOp(ir::Op op, OpInfo info)
{
    const OpId id(analysis.program.ops.size());
    op.id = id;
    for (ValueId out : op.outputs) analysis.program.values[out.at()].producer = id;
    analysis.program.ops.push_back(std::move(op));
    analysis.ops.push_back(std::move(info));
    return id;
}

std::string Builder::operatorKey(const ir::Op& op)
{
    std::string key = op.name + "." + op.overload + "(";
    KeyWriter{key}(op.args);
    return key;
}

}  // namespace hopscope::analysis
