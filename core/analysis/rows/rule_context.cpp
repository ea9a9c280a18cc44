#include <algorithm>
#include <set>
#include <sstream>

#include "analysis/rows/linear.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

namespace {

const ir::Arg none{};

// The number of rows as a sum over the tables that were joined.
Linear flattened(const Tables& tables, SpaceId s)
{
    if (tables.space(s).kind != SpaceKind::Cat) return rowsOf(tables, s);
    Linear sum;
    for (SpaceId part : tables.space(s).parts) sum = add(sum, flattened(tables, part));
    return sum;
}

// The table that the rows were selected from or reordered from.
SpaceId rootOf(const Tables& tables, SpaceId s)
{
    while (s.valid() && (tables.space(s).kind == SpaceKind::Filter || tables.space(s).kind == SpaceKind::Perm))
        s = tables.space(s).parent;
    return s;
}

// The device and the layout in memory do not change numbers, and a run chooses its own.
bool saysWhereAlone(const std::string& argument, const ir::Arg& given)
{
    static const std::set<std::string> places{"copy", "device", "memory_format", "non_blocking", "pin_memory"};
    const bool strided = argument == "layout" && given.integer() && *given.integer() == 0;
    return strided || places.contains(argument);
}

bool isTensor(const RuleContext& c, const ir::Arg& arg)
{
    if (arg.list()) return std::ranges::any_of(*arg.list(), [&](const ir::Arg& item) { return isTensor(c, item); });
    return arg.value() && c.value(*arg.value()).kind == ir::ValueKind::Tensor;
}

// An operand with rows among those of an argument.
bool hasRows(const RuleContext& c, int argument)
{
    bool any = false;
    ir::forEachOperand(c.op, [&](Slot s, ValueId v) {
        if (s.arg != argument || c.value(v).kind != ir::ValueKind::Tensor || c.info.use(s).use == Use::Shape) return;
        any = any || c.anyRow(c.dims(v));
    });
    return any;
}

struct ArgumentText {
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const
    {
        std::ostringstream text;
        text << d;
        return text.str();
    }
    std::string operator()(bool b) const { return b ? "True" : "False"; }
    std::string operator()(const std::string& s) const { return "'" + s + "'"; }
    std::string operator()(const ir::ArgList& list) const
    {
        std::string text;
        for (const ir::Arg& item : list) text += (text.empty() ? "[" : ", ") + std::visit(*this, item.data);
        return text.empty() ? "[]" : text + "]";
    }
    std::string operator()(std::monostate) const { return "None"; }
    template <class Computed>
    std::string operator()(const Computed&) const
    {
        return "a number of the graph";
    }
};

std::string textOf(const ir::Arg& arg) { return std::visit(ArgumentText{}, arg.data); }

}  // namespace

ir::Op anew(const RuleContext& c)
{
    c.passOnAll();
    ir::Op same = c.op;
    same.outputs.clear();
    return same;
}

int wrapDim(std::int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + std::max(rank, 1) : dim); }

int RuleContext::index(const std::string& argument) const
{
    for (std::size_t i = 0; i < op.argInfo.size(); ++i)
        if (op.argInfo[i].name == argument) {
            m_read.insert(static_cast<int>(i));
            return static_cast<int>(i);
        }
    return -1;
}

bool RuleContext::has(const std::string& argument) const { return !arg(argument).none(); }

const ir::Arg& RuleContext::arg(const std::string& argument) const
{
    const int i = index(argument);
    return i < 0 ? none : op.args[static_cast<std::size_t>(i)];
}

ValueId RuleContext::tensor(const std::string& argument) const
{
    const ValueId* v = arg(argument).value();
    return v && value(*v).kind == ir::ValueKind::Tensor ? *v : ValueId{};
}

std::int64_t RuleContext::integer(const std::string& argument, std::int64_t otherwise) const
{
    if (!has(argument)) return otherwise;
    const auto l = linear(arg(argument));
    return l && l->isConstant() ? l->constant : unknownNumber;
}

bool RuleContext::boolean(const std::string& argument, bool otherwise) const
{
    const bool* b = std::get_if<bool>(&arg(argument).data);
    return b ? *b : otherwise;
}

std::string RuleContext::text(const std::string& argument) const
{
    const std::string* s = std::get_if<std::string>(&arg(argument).data);
    return s ? *s : std::string();
}

std::vector<ValueId> RuleContext::operands() const
{
    ir::forEachOperand(op, [&](Slot s, ValueId v) {
        if (value(v).kind == ir::ValueKind::Tensor) m_read.insert(s.arg);
    });
    return dependencies();
}

std::vector<ValueId> RuleContext::dependencies() const
{
    std::vector<ValueId> found;
    ir::forEachOperand(op, [&](Slot s, ValueId v) {
        if (value(v).kind == ir::ValueKind::Tensor && info.use(s).use != Use::Shape) found.push_back(v);
    });
    return found;
}

void RuleContext::passOn(std::initializer_list<const char*> arguments) const
{
    for (const char* const argument : arguments) static_cast<void>(index(argument));
}

void RuleContext::passOnAll() const
{
    for (std::size_t i = 0; i < op.args.size(); ++i) m_read.insert(static_cast<int>(i));
}

std::optional<Refused> RuleContext::unread() const
{
    for (int i = 0; i < static_cast<int>(op.argInfo.size()); ++i) {
        const ir::ArgInfo& argument = op.argInfo[static_cast<std::size_t>(i)];
        if (m_read.contains(i) || saysWhereAlone(argument.name, op.args[static_cast<std::size_t>(i)])) continue;
        if (hasRows(*this, i))
            return Refused("has an operand with rows, " + argument.name + ", that its rule does not expect there",
                           Refused::Kind::Argument);
        const ir::Arg& given = op.args[static_cast<std::size_t>(i)];
        if (argument.given && !isTensor(*this, given))
            return Refused("is called with " + argument.name + "=" + textOf(given) +
                               ", which its rule does not support",
                           Refused::Kind::Argument);
    }
    return std::nullopt;
}

bool RuleContext::anyRow(const std::vector<SpaceId>& d) const
{
    return std::any_of(d.begin(), d.end(), [&](SpaceId s) { return isRow(s); });
}

std::optional<Linear> RuleContext::linear(const ir::Arg& a) const
{
    if (const std::int64_t* i = a.integer()) return constant(*i);
    if (const ValueId* v = a.value()) return of(*v).size;
    return std::nullopt;
}

std::vector<ir::Arg> RuleContext::items(const std::string& argument) const
{
    const ir::Arg& a = arg(argument);
    if (a.none()) return {};
    return a.list() ? *a.list() : std::vector<ir::Arg>{a};
}

std::vector<std::int64_t> RuleContext::integers(const std::string& argument) const
{
    std::vector<std::int64_t> found;
    for (const ir::Arg& a : items(argument)) {
        const auto l = linear(a);
        found.push_back(l && l->isConstant() ? l->constant : -2);
    }
    return found;
}

Refused constantMeets(const RuleContext& c, std::int64_t extent, SpaceId table)
{
    return bakedSize("a constant of " + std::to_string(extent) + " rows meets " + c.spaceName(table));
}

Ruled<SpaceId> RuleContext::spaceOf(const Linear& size) const
{
    if (size.isConstant()) return SpaceId{};
    if (size.constant == 0 && size.atoms.empty() && size.sizes.size() == 1 && size.sizes.begin()->second == 1)
        return size.sizes.begin()->first;
    const Tables& tables = builder.analysis.tables;
    for (std::size_t i = 0; i < tables.spaces.size(); ++i)
        if (tables.spaces[i].kind == SpaceKind::Cat && flattened(tables, SpaceId(i)) == size) return SpaceId(i);
    return Refusal(
        Refused("a size that is computed from the graph is not the size of a known table", Refused::Kind::Derived));
}

Ruled<SpaceId> RuleContext::spaceOf(const ir::Arg& size) const
{
    const auto l = linear(size);
    return l ? spaceOf(*l) : Ruled<SpaceId>(SpaceId{});
}

Refused RuleContext::differ(SpaceId a, SpaceId b) const
{
    const SpaceId one = rootOf(builder.analysis.tables, a), other = rootOf(builder.analysis.tables, b);
    if (one == other)
        return {"two orders or selections of the rows of " + spaceName(one) + " meet", Refused::Kind::Orders};
    return {"row spaces differ: " + spaceName(a) + " and " + spaceName(b), Refused::Kind::Roles};
}

Ruled<std::vector<SpaceId>> RuleContext::broadcast(const std::vector<Shaped>& operands) const
{
    std::size_t rank = 0;
    for (const Shaped& o : operands) rank = std::max(rank, o.dims.size());
    std::vector<SpaceId> result(rank);
    for (std::size_t back = 1; back <= rank; ++back) {
        SpaceId found;
        std::int64_t largest = 1;
        for (const Shaped& o : operands) {
            if (o.dims.size() < back) continue;
            const SpaceId s = o.dims[o.dims.size() - back];
            if (!s.valid()) largest = std::max(largest, o.shape[o.shape.size() - back]);
            else if (!found.valid() || found == s) found = s;
            else return Refusal(differ(found, s));
        }
        if (isRow(found) && largest > 1) return Refusal(constantMeets(*this, largest, found));
        result[rank - back] = found;
    }
    return result;
}

Ruled<std::vector<SpaceId>> RuleContext::broadcastOperands() const
{
    std::vector<Shaped> list;
    for (ValueId v : operands()) list.push_back(shaped(v));
    return broadcast(list);
}

Outcomes RuleContext::all(const std::vector<SpaceId>& d) const
{
    Outcome o;
    o.dims = d;
    return Outcomes(outputs.size(), o);
}

Outcomes RuleContext::one(std::vector<SpaceId> d)
{
    Outcome o;
    o.dims = std::move(d);
    return {std::move(o)};
}

Outcomes RuleContext::keep(ValueId v, std::vector<SpaceId> d, bool pairRoles) const
{
    Outcome o;
    o.dims = std::move(d);
    o.role = of(v).role;
    if (pairRoles) o.pairRoles = of(v).pairRoles;
    o.elements = of(v).elements;
    return {std::move(o)};
}

}  // namespace hopscope::analysis
