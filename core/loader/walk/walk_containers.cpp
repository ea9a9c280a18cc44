// Lists, tuples and dictionaries dissolve: their elements are values of the program, they themselves are not.

#include <algorithm>

#include "loader/walk/walker.h"

namespace hopscope::loader {

namespace {

using c10::IValue;
using c10::TypeKind;

bool isKind(const Item& item, TypeKind kind) { return item.box && item.box->type->kind() == kind; }

bool sameKey(const IValue& a, const IValue& b)
{
    if (a.isString() && b.isString()) return a.toStringRef() == b.toStringRef();
    if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
    if (a.isDouble() && b.isDouble()) return a.toDouble() == b.toDouble();
    if (a.isBool() && b.isBool()) return a.toBool() == b.toBool();
    return false;
}

}  // namespace

void Walker::construct(const Node& node) { set(node, boxed(node.output()->type(), inputsOf(node))); }

void Walker::constructDict(const Node& node)
{
    Item dict = boxed(node.output()->type(), {});
    for (std::size_t i = 0; i + 1 < node.inputs().size(); i += 2) {
        dict.box->keys.push_back(in(node, i).concrete);
        dict.box->items.push_back(in(node, i + 1));
    }
    set(node, std::move(dict));
}

void Walker::unpack(const Node& node)
{
    const Item& whole = in(node, 0);
    if (!whole.box || whole.box->items.size() != node.outputs().size())
        refuse("a list or tuple with a different length than during export is unpacked");
    const std::vector<Item> items = whole.box->items;
    for (std::size_t i = 0; i < items.size(); ++i) m_frames.back().items[node.outputs()[i]] = items[i];
}

void Walker::tupleIndex(const Node& node)
{
    const Item& tuple = in(node, 0);
    if (!tuple.box) refuse("an object that is not a tuple is indexed");
    set(node, Item(tuple.box->items[position(in(node, 1), tuple.box->items.size())]));
}

void Walker::tupleSlice(const Node& node)
{
    const std::vector<Item>& items = in(node, 0).box->items;
    const auto begin = static_cast<std::size_t>(node.i(c10::attr::beg)),
               end = static_cast<std::size_t>(node.i(c10::attr::end));
    if (begin > end || end > items.size()) refuse("a tuple is sliced out of range");
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin),
               last = items.begin() + static_cast<std::ptrdiff_t>(end);
    set(node, boxed(node.output()->type(), {first, last}));
}

std::size_t Walker::position(const Item& index, std::size_t count, bool pastEnd)
{
    std::int64_t at = fixedInt(index);
    const auto size = static_cast<std::int64_t>(count);
    if (at < 0) at += size;
    if (pastEnd) return static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, size));
    if (at < 0 || at >= size) refuse("forward fails on the sample: list index out of range");
    return static_cast<std::size_t>(at);
}

bool Walker::containerOp(const Node& node, std::vector<Item>& args)
{
    if (args.empty()) return false;
    const std::string name = node.kind().toQualString();
    if (isKind(args[0], TypeKind::DictType)) return dictOp(name, node, args) || dictChange(name, node, args);
    if (isKind(args[0], TypeKind::TupleType) && name == "aten::len") {
        set(node, Item(IValue(static_cast<std::int64_t>(args[0].box->items.size()))));
        return true;
    }
    if (isKind(args[0], TypeKind::ListType))
        return listOp(name, node, args) || listChange(name, node, args) || staticListOp(node, args);
    return false;
}

Item Walker::sliceOf(const std::vector<Item>& args)
{
    const std::vector<Item>& items = args[0].box->items;
    const std::int64_t step = args[3].isNone() ? 1 : fixedInt(args[3]);
    if (step < 1) refuse("list slices with a step below one are not supported");
    const std::size_t begin = args[1].isNone() ? 0 : position(args[1], items.size(), true);
    const std::size_t end = args[2].isNone() ? items.size() : position(args[2], items.size(), true);
    Item out = boxed(args[0].box->type, {});
    for (std::size_t i = begin; i < end; i += static_cast<std::size_t>(step)) out.box->items.push_back(items[i]);
    return out;
}

// Operators that leave the list as it is.
bool Walker::listOp(const std::string& name, const Node& node, std::vector<Item>& args)
{
    const std::vector<Item>& items = args[0].box->items;
    const bool twoLists = args.size() == 2 && isKind(args[1], TypeKind::ListType);
    if (name == "aten::__getitem__") set(node, Item(items[position(args[1], items.size())]));
    else if (name == "aten::len") set(node, Item(IValue(static_cast<std::int64_t>(items.size()))));
    else if (name == "aten::slice" && args.size() == 4) set(node, sliceOf(args));
    else if (name == "aten::list" || name == "aten::copy") set(node, boxed(args[0].box->type, items));
    else if (name == "aten::__contains__") set(node, contains(args[0], args[1]));
    else if ((name == "aten::eq" || name == "aten::ne") && twoLists)
        set(node, equalLists(args[0], args[1], name == "aten::eq"));
    else if (name == "prim::min" && args.size() == 1) set(node, extreme(args[0], "scalar::min"));
    else if (name == "prim::max" && args.size() == 1) set(node, extreme(args[0], "scalar::max"));
    else if (name == "aten::add" && twoLists) {
        Item sum = boxed(args[0].box->type, items);
        for (const Item& item : args[1].box->items) sum.box->items.push_back(item);
        set(node, std::move(sum));
    } else if (name == "aten::mul" && args.size() == 2) {
        Item product = boxed(args[0].box->type, {});
        for (std::int64_t i = fixedInt(args[1]); i > 0; --i)
            product.box->items.insert(product.box->items.end(), items.begin(), items.end());
        set(node, std::move(product));
    } else {
        return false;
    }
    return true;
}

// Operators that change the list itself; whoever shares it sees the change.
bool Walker::listChange(const std::string& name, const Node& node, std::vector<Item>& args)
{
    std::vector<Item>& items = args[0].box->items;
    const auto at = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
    Item result = args[0];
    if (name == "aten::append") items.push_back(args[1]);
    else if (name == "aten::_set_item") items[position(args[1], items.size())] = args[2];
    else if (name == "aten::insert") items.insert(at(position(args[1], items.size(), true)), args[2]);
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
        return false;
    }
    if (!node.outputs().empty()) set(node, std::move(result));
    return true;
}

// Any other operator on a list of plain constants: LibTorch computes it.
bool Walker::staticListOp(const Node& node, std::vector<Item>& args)
{
    const auto tensorOrInput = [&](const Item& leaf) { return leaf.isTensor() || m_recorder.fromInput(leaf); };
    if (anyLeaf(args, tensorOrInput)) return false;
    for (const torch::jit::Value* out : node.outputs())
        if (out->type()->isSubtypeOf(*c10::TensorType::get())) return false;
    if (auto error = forbidden(node.schema(), args)) refuse(error->message, error->hint);
    torch::jit::Stack stack;
    for (const Item& arg : args) stack.push_back(concreteOf(arg));
    const IValue list = stack[0];
    if (node.schema().is_vararg()) stack.emplace_back(static_cast<std::int64_t>(args.size()));
    const torch::jit::Stack results = execute(node.getOperation(), std::move(stack));
    args[0].box->items = wrap(list, "", Leaf::Literal).box->items;
    for (std::size_t i = 0; i < results.size() && i < node.outputs().size(); ++i)
        m_frames.back().items[node.outputs()[i]] = wrap(results[i], "", Leaf::Literal);
    return true;
}

Item Walker::contains(const Item& list, const Item& wanted)
{
    const auto fixed = [&](const Item& leaf) {
        if (leaf.isTensor()) refuse("a tensor is searched for in a list");
        guard(leaf);
        return false;
    };
    anyLeaf(list, fixed);
    fixed(wanted);
    for (const Item& item : list.box->items)
        if (sameKey(item.concrete, wanted.concrete)) return Item(IValue(true));
    return Item(IValue(false));
}

Item Walker::equalLists(const Item& a, const Item& b, bool wanted)
{
    const std::vector<Item>&x = a.box->items, &y = b.box->items;
    if (x.size() != y.size()) return Item(IValue(!wanted));
    Item all{IValue(true)};
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i].isTensor() || x[i].box) refuse("lists of tensors are compared");
        const Item same = arithmetic("scalar::eq", x[i], y[i]);
        all = i == 0 ? same : arithmetic("scalar::and", all, same);
    }
    if (wanted) return all;
    return scalar("scalar::not", {all}, !all.concrete.toBool());
}

Item Walker::extreme(const Item& list, const char* scalarName)
{
    if (list.box->items.empty()) refuse("minimum or maximum of an empty list");
    Item best = list.box->items[0];
    for (std::size_t i = 1; i < list.box->items.size(); ++i) best = arithmetic(scalarName, best, list.box->items[i]);
    return best;
}

std::optional<std::size_t> Walker::findKey(const Box& dict, const Item& key)
{
    guard(key);
    for (std::size_t i = 0; i < dict.keys.size(); ++i)
        if (sameKey(dict.keys[i], key.concrete)) return i;
    return {};
}

bool Walker::dictOp(const std::string& name, const Node& node, std::vector<Item>& args)
{
    const Box& dict = *args[0].box;
    const auto& type = dict.type->expectRef<c10::DictType>();
    if (name == "aten::len") set(node, Item(IValue(static_cast<std::int64_t>(dict.items.size()))));
    else if (name == "aten::__contains__") set(node, Item(IValue(findKey(dict, args[1]).has_value())));
    else if (name == "aten::__getitem__" || name == "aten::get") {
        const auto at = findKey(dict, args[1]);
        if (!at && name == "aten::__getitem__")
            refuse("forward asks a dictionary for the key '" + keyText(args[1].concrete) +
                       "', which it does not contain",
                   "provide a data key with this name");
        set(node, at ? Item(dict.items[*at]) : args.size() > 2 ? args[2] : Item());
    } else if (name == "aten::values") {
        set(node, boxed(c10::ListType::create(type.getValueType()), dict.items));
    } else if (name == "aten::keys" || name == "aten::items") {
        std::vector<Item> out;
        for (std::size_t i = 0; i < dict.items.size(); ++i)
            out.push_back(name == "aten::keys" ? Item(dict.keys[i])
                                               : boxed(c10::TupleType::create({type.getKeyType(), type.getValueType()}),
                                                       {Item(dict.keys[i]), dict.items[i]}));
        set(node, boxed(node.output()->type(), std::move(out)));
    } else if (name == "aten::copy" || name == "aten::dict") {
        Item copy = boxed(dict.type, dict.items);
        copy.box->keys = dict.keys;
        set(node, std::move(copy));
    } else {
        return false;
    }
    return true;
}

bool Walker::dictChange(const std::string& name, const Node& node, std::vector<Item>& args)
{
    Box& dict = *args[0].box;
    const auto put = [&](const IValue& key, const Item& value) {
        const auto at = findKey(dict, Item(key));
        if (!at) dict.keys.push_back(key);
        if (!at) dict.items.push_back(value);
        else dict.items[*at] = value;
    };
    Item result = args[0];
    if (name == "aten::_set_item") {
        guard(args[1]);
        put(args[1].concrete, args[2]);
    } else if (name == "aten::update" && args[1].box) {
        const Box other = *args[1].box;
        for (std::size_t i = 0; i < other.items.size(); ++i) put(other.keys[i], other.items[i]);
    } else if (name == "aten::Delete" || name == "aten::pop") {
        const auto at = findKey(dict, args[1]);
        if (!at) refuse("forward removes a key that the dictionary does not contain");
        result = dict.items[*at];
        dict.items.erase(dict.items.begin() + static_cast<std::ptrdiff_t>(*at));
        dict.keys.erase(dict.keys.begin() + static_cast<std::ptrdiff_t>(*at));
    } else if (name == "aten::clear") {
        dict.items.clear();
        dict.keys.clear();
    } else {
        refuse("the dictionary operator " + name + " is not supported");
    }
    if (!node.outputs().empty()) set(node, std::move(result));
    return true;
}

}  // namespace hopscope::loader
