#include "analysis/lowering/sharing.h"

#include <algorithm>
#include <map>

#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Op;
using ir::OpId;
using ir::ValueId;
using operators::Aliasing;

Aliasing aliasingOf(const Op& op) { return operators::of(op.name).traits.aliasing; }

bool mayFollow(Aliasing a) { return a != Aliasing::Fresh && a != Aliasing::Copy && a != Aliasing::Unfollowed; }

bool claimsSharing(const ir::Program& raw, const Op& op, ValueId result)
{
    const Aliasing a = aliasingOf(op);
    if (a != Aliasing::SameDtype) return mayFollow(a);
    return raw.value(result).dtype == raw.value(*op.args[0].value()).dtype;
}

// Sizes and arguments that lend their shape do not read numbers.
bool readsNumbers(const Op& op, ir::Slot slot)
{
    if (op.name == "scalar::size" || op.name == "scalar::numel") return false;
    const auto arg = static_cast<std::size_t>(slot.arg);
    return arg >= op.argInfo.size() || !operators::isShapeOnly(op.name, op.argInfo[arg].name);
}

// True as far as the walk saw: sparse matrices have parts, but no memory of their own.
bool mayShare(const ir::Value& a, const ir::Value& b)
{
    if (a.kind != ir::ValueKind::Tensor || b.kind != ir::ValueKind::Tensor) return false;
    return a.memory < 0 || b.memory < 0 || a.memory == b.memory;
}

std::vector<int> lastReads(const ir::Program& raw)
{
    std::vector<int> last(raw.values.size(), -1);
    for (const Op& op : raw.ops)
        ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
            if (readsNumbers(op, slot)) last[v.at()] = op.id.index;
        });
    const int end = static_cast<int>(raw.ops.size());
    for (const ir::NamedValue& out : raw.outputs) last[out.value.at()] = end;
    for (const ir::Guard& guard : raw.guards) last[guard.condition.at()] = end;
    return last;
}

}  // namespace

bool sharesWithFirst(const ir::Program& raw, const Op& op, ValueId result)
{
    const ValueId* first = op.args.empty() ? nullptr : op.args[0].value();
    if (!first) return false;
    const int own = raw.value(result).memory, others = raw.value(*first).memory;
    return own >= 0 && others >= 0 ? own == others : claimsSharing(raw, op, result);
}

Sharing::Sharing(const ir::Program& raw) : m_raw(raw), m_lastRead(lastReads(raw))
{
    for (std::size_t v = 0; v < raw.values.size(); ++v) m_family.push_back(static_cast<int>(v));
    for (const Op& op : raw.ops) follow(op);
    doubtMemory();
    for (std::size_t v = 0; v < m_family.size(); ++v) m_family[v] = root(static_cast<int>(v));
    for (Doubt& doubt : m_doubts) doubt = {.a = root(doubt.a), .b = root(doubt.b), .op = doubt.op};
}

int Sharing::root(int v)
{
    int& above = m_family[static_cast<std::size_t>(v)];
    if (above != v) above = m_family[static_cast<std::size_t>(above)];
    return above == v ? v : root(above);
}

void Sharing::join(ValueId a, ValueId b) { m_family[static_cast<std::size_t>(root(b.index))] = root(a.index); }

void Sharing::follow(const Op& op)
{
    const ValueId* first = op.args.empty() ? nullptr : op.args[0].value();
    if (op.mutatedArg >= 0) {
        const ValueId target = *op.args[static_cast<std::size_t>(op.mutatedArg)].value();
        for (const ValueId out : op.outputs) join(target, out);
        return;
    }
    const bool unfollowed = aliasingOf(op) == Aliasing::Unfollowed;
    for (const ValueId out : op.outputs) {
        const bool follows = mayFollow(aliasingOf(op)) && !op.sharingVaries;
        if (follows && sharesWithFirst(m_raw, op, out)) join(*first, out);
        if (op.sharingVaries && first) m_doubts.push_back({.a = first->index, .b = out.index, .op = op.id});
        if (!unfollowed) continue;
        ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
            if (mayShare(m_raw.value(v), m_raw.value(out)))
                m_doubts.push_back({.a = v.index, .b = out.index, .op = op.id});
        });
    }
}

// Weights that share memory under two names, and the like.
void Sharing::doubtMemory()
{
    std::map<int, int> firstOf;
    for (const ir::Value& v : m_raw.values) {
        if (v.memory < 0) continue;
        const int first = firstOf.try_emplace(v.memory, v.id.index).first->second;
        if (root(first) != root(v.id.index)) m_doubts.push_back({.a = first, .b = v.id.index, .op = v.producer});
    }
}

std::optional<ValueId> Sharing::readLater(int wanted, OpId write) const
{
    for (const ir::Value& v : m_raw.values)
        if (family(v.id) == wanted && v.producer < write && m_lastRead[v.id.at()] > write.index) return v.id;
    return std::nullopt;
}

std::optional<base::Error> Sharing::conflict(const Op& write) const
{
    std::vector<int> reached{family(*write.args[static_cast<std::size_t>(write.mutatedArg)].value())};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        for (const Doubt& doubt : m_doubts) {
            if (doubt.op > write.id || (doubt.a != reached[i] && doubt.b != reached[i])) continue;
            const int other = doubt.a == reached[i] ? doubt.b : doubt.a;
            if (std::ranges::find(reached, other) != reached.end()) continue;
            if (const auto read = readLater(other, write.id)) return error(write, *read, doubt);
            reached.push_back(other);
        }
    }
    return std::nullopt;
}

base::Error Sharing::error(const Op& write, ValueId read, const Doubt& doubt) const
{
    std::string why = "another tensor lies in the same memory";
    if (doubt.op.valid()) {
        const Op& op = m_raw.op(doubt.op);
        why = ir::describeOp(op) + (op.sharingVaries ? " gives a view on some graphs and a copy on others"
                                                     : " may share memory in a way that is not followed");
    }
    const std::string name = m_raw.value(read).name.empty() ? "a value that is read later"
                                                            : "'" + m_raw.value(read).name + "', which is read later,";
    return base::makeError(base::ErrorCode::Unsupported,
                           ir::describeOp(write) + " writes in place, and " + name + " may change with it: " + why,
                           "call clone() before the write, or write the result to a new tensor", ir::describeOp(write));
}

}  // namespace hopscope::analysis
