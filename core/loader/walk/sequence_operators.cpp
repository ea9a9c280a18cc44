#include "loader/walk/sequence_operators.h"

#include <algorithm>

namespace hopscope::loader {

namespace {

using c10::IValue;
using c10::TypeKind;

Item lengthOf(const Item& sequence) { return Item(IValue(static_cast<std::int64_t>(sequence.box->items.size()))); }

}  // namespace

std::optional<std::vector<Item>> SequenceOperators::evaluateInstruction(const Node& node, const std::vector<Item>& args)
{
    switch (node.kind()) {
    case c10::prim::ListConstruct:
    case c10::prim::TupleConstruct: return std::vector{boxed(node.output()->type(), args)};
    case c10::prim::ListUnpack:
    case c10::prim::TupleUnpack: return unpack(node, args[0]);
    case c10::prim::TupleIndex: return std::vector{tupleIndex(args[0], args[1])};
    case c10::prim::TupleSlice: return std::vector{tupleSlice(node, args[0])};
    default: return {};
    }
}

std::vector<Item> SequenceOperators::unpack(const Node& node, const Item& whole) const
{
    if (!whole.box || whole.box->items.size() != node.outputs().size())
        m_tools.location.refuse("a list or tuple is unpacked into a different number of values than it has");
    return whole.box->items;
}

Item SequenceOperators::tupleIndex(const Item& tuple, const Item& index)
{
    if (!tuple.box) m_tools.location.refuse("an object that is not a tuple is indexed");
    return tuple.box->items[position(index, tuple.box->items.size())];
}

Item SequenceOperators::tupleSlice(const Node& node, const Item& tuple) const
{
    const std::vector<Item>& items = tuple.box->items;
    const auto begin = static_cast<std::size_t>(node.i(c10::attr::beg)),
               end = static_cast<std::size_t>(node.i(c10::attr::end));
    if (begin > end || end > items.size()) m_tools.location.refuse("a tuple is sliced out of range");
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin),
               last = items.begin() + static_cast<std::ptrdiff_t>(end);
    return boxed(node.output()->type(), {first, last});
}

std::size_t SequenceOperators::position(const Item& index, std::size_t count)
{
    std::int64_t at = m_tools.numbers.fixedInt(index);
    const auto size = static_cast<std::int64_t>(count);
    if (at < 0) at += size;
    if (at < 0 || at >= size) m_tools.location.refuse("forward fails on the sample: index out of range");
    return static_cast<std::size_t>(at);
}

// Clamps positions as Python's slices do: those beyond the ends mean the ends.
std::size_t SequenceOperators::clampedPosition(const Item& index, std::size_t count)
{
    std::int64_t at = m_tools.numbers.fixedInt(index);
    const auto size = static_cast<std::int64_t>(count);
    if (at < 0) at += size;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, size));
}

std::optional<std::vector<Item>> SequenceOperators::evaluate(const Node& node, const std::vector<Item>& args)
{
    if (args.empty()) return {};
    const std::string name = node.kind().toQualString();
    if (isKind(args[0], TypeKind::TupleType) && name == "aten::len") return std::vector{lengthOf(args[0])};
    if (!isKind(args[0], TypeKind::ListType)) return {};
    if (auto result = read(name, args)) return std::vector{std::move(*result)};
    if (auto result = combine(name, args)) return std::vector{std::move(*result)};
    if (auto result = change(name, args)) return std::vector{std::move(*result)};
    return computeByLibTorch(node, args);
}

Item SequenceOperators::slice(const std::vector<Item>& args)
{
    const std::vector<Item>& items = args[0].box->items;
    const std::int64_t step = args[3].isNone() ? 1 : m_tools.numbers.fixedInt(args[3]);
    if (step < 1) m_tools.location.refuse("list slices with a step below one are not supported");
    const std::size_t begin = args[1].isNone() ? 0 : clampedPosition(args[1], items.size());
    const std::size_t end = args[2].isNone() ? items.size() : clampedPosition(args[2], items.size());
    Item out = boxed(args[0].box->type, {});
    for (std::size_t i = begin; i < end; i += static_cast<std::size_t>(step)) out.box->items.push_back(items[i]);
    return out;
}

// Operators that read the list.
std::optional<Item> SequenceOperators::read(const std::string& name, const std::vector<Item>& args)
{
    const std::vector<Item>& items = args[0].box->items;
    const bool twoLists = args.size() == 2 && isKind(args[1], TypeKind::ListType);
    if (name == "aten::__getitem__") return items[position(args[1], items.size())];
    if (name == "aten::len") return lengthOf(args[0]);
    if (name == "aten::slice" && args.size() == 4) return slice(args);
    if (name == "aten::__contains__") return contains(args[0], args[1]);
    if ((name == "aten::eq" || name == "aten::ne") && twoLists) return compare(args[0], args[1], name == "aten::eq");
    if (name == "prim::min" && args.size() == 1) return extreme(args[0], "scalar::min");
    if (name == "prim::max" && args.size() == 1) return extreme(args[0], "scalar::max");
    return {};
}

// Operators that make a new list of the elements.
std::optional<Item> SequenceOperators::combine(const std::string& name, const std::vector<Item>& args)
{
    const std::vector<Item>& items = args[0].box->items;
    if (name == "aten::list" || name == "aten::copy") return boxed(args[0].box->type, items);
    if (name == "aten::add" && args.size() == 2 && isKind(args[1], TypeKind::ListType)) {
        Item sum = boxed(args[0].box->type, items);
        for (const Item& item : args[1].box->items) sum.box->items.push_back(item);
        return sum;
    }
    if (name == "aten::mul" && args.size() == 2) {
        Item product = boxed(args[0].box->type, {});
        for (std::int64_t i = m_tools.numbers.fixedInt(args[1]); i > 0; --i)
            product.box->items.insert(product.box->items.end(), items.begin(), items.end());
        return product;
    }
    return {};
}

// Operators that change the list itself.
std::optional<Item> SequenceOperators::change(const std::string& name, const std::vector<Item>& args)
{
    std::vector<Item>& items = args[0].box->items;
    const auto at = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
    Item result = args[0];
    if (name == "aten::append") items.push_back(args[1]);
    else if (name == "aten::_set_item") items[position(args[1], items.size())] = args[2];
    else if (name == "aten::insert") items.insert(at(clampedPosition(args[1], items.size())), args[2]);
    else if (name == "aten::clear") items.clear();
    else if (name == "aten::reverse") std::reverse(items.begin(), items.end());
    else if (name == "aten::extend" || name == "aten::add_") {
        const std::vector<Item> more = args[1].box ? args[1].box->items : std::vector<Item>();
        items.insert(items.end(), more.begin(), more.end());
    } else if (name == "aten::pop" || name == "aten::Delete") {
        const std::size_t i = position(args[1], items.size());
        result = items[i];
        items.erase(at(i));
    } else {
        return {};
    }
    return result;
}

// Any other operator on a list of plain constants.
std::optional<std::vector<Item>> SequenceOperators::computeByLibTorch(const Node& node, const std::vector<Item>& args)
{
    const auto tensorOrInput = [&](const Item& leaf) { return leaf.isTensor() || m_tools.recorder.fromInput(leaf); };
    if (anyLeaf(args, tensorOrInput)) return {};
    for (const torch::jit::Value* out : node.outputs())
        if (out->type()->isSubtypeOf(*c10::TensorType::get())) return {};
    m_tools.calls.checkAllowed(node.schema(), args);
    torch::jit::Stack stack;
    for (const Item& arg : args) stack.push_back(concreteOf(arg));
    const IValue list = stack[0];
    if (node.schema().is_vararg()) stack.emplace_back(static_cast<std::int64_t>(args.size()));
    const torch::jit::Stack results = m_tools.calls.execute(node.getOperation(), std::move(stack));
    args[0].box->items = m_tools.wrapper.literal(list).box->items;
    return m_tools.wrapper.literals(results);
}

Item SequenceOperators::contains(const Item& list, const Item& wanted)
{
    const auto fixed = [&](const Item& leaf) {
        if (leaf.isTensor()) m_tools.location.refuse("a tensor is searched for in a list");
        m_tools.numbers.guard(leaf);
        return false;
    };
    anyLeaf(list, fixed);
    fixed(wanted);
    for (const Item& item : list.box->items)
        if (sameScalar(item.concrete, wanted.concrete)) return Item(IValue(true));
    return Item(IValue(false));
}

Item SequenceOperators::compare(const Item& a, const Item& b, bool wanted)
{
    const std::vector<Item>&x = a.box->items, &y = b.box->items;
    if (x.size() != y.size()) return Item(IValue(!wanted));
    Item all{IValue(true)};
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i].isTensor() || x[i].box) m_tools.location.refuse("lists of tensors or of lists are compared");
        const Item same = m_tools.numbers.arithmetic("scalar::eq", x[i], y[i]);
        all = i == 0 ? same : m_tools.numbers.arithmetic("scalar::and", all, same);
    }
    if (wanted) return all;
    return m_tools.numbers.scalar("scalar::not", {all}, !all.concrete.toBool());
}

Item SequenceOperators::extreme(const Item& list, const char* scalarName)
{
    if (list.box->items.empty()) m_tools.location.refuse("minimum or maximum of an empty list");
    Item best = list.box->items[0];
    for (std::size_t i = 1; i < list.box->items.size(); ++i)
        best = m_tools.numbers.arithmetic(scalarName, best, list.box->items[i]);
    return best;
}

}  // namespace hopscope::loader
