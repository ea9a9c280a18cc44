#include "loader/walk/dictionary_operators.h"

#include "loader/torch_model.h"

namespace hopscope::loader {

namespace {

using c10::IValue;

std::vector<Item> keysOf(const Box& dict)
{
    std::vector<Item> keys;
    for (const IValue& key : dict.keys) keys.emplace_back(key);
    return keys;
}

// (key, element) pairs.
std::vector<Item> entriesOf(const Box& dict)
{
    const auto& type = dict.type->expectRef<c10::DictType>();
    std::vector<Item> entries;
    for (std::size_t i = 0; i < dict.items.size(); ++i)
        entries.push_back(boxed(c10::TupleType::create({type.getKeyType(), type.getValueType()}),
                                {Item(dict.keys[i]), dict.items[i]}));
    return entries;
}

Item copyOf(const Box& dict)
{
    Item copy = boxed(dict.type, dict.items);
    copy.box->keys = dict.keys;
    return copy;
}

}  // namespace

std::optional<Item> DictionaryOperators::evaluateInstruction(const Node& node, const std::vector<Item>& args)
{
    if (node.kind() != c10::prim::DictConstruct) return {};
    Item dict = boxed(node.output()->type(), {});
    for (std::size_t i = 0; i + 1 < args.size(); i += 2) {
        dict.box->keys.push_back(args[i].concrete);
        dict.box->items.push_back(args[i + 1]);
    }
    return dict;
}

std::optional<Item> DictionaryOperators::evaluate(const Node& node, const std::vector<Item>& args)
{
    if (args.empty() || !isKind(args[0], c10::TypeKind::DictType)) return {};
    if (auto result = read(node, args)) return result;
    const std::string name = node.kind().toQualString();
    if (auto result = change(name, args)) return result;
    m_location.refuse("the dictionary operator " + name + " is not supported");
}

std::optional<std::size_t> DictionaryOperators::find(const Box& dict, const Item& key)
{
    m_numbers.guard(key);
    for (std::size_t i = 0; i < dict.keys.size(); ++i)
        if (sameScalar(dict.keys[i], key.concrete)) return i;
    return {};
}

Item DictionaryOperators::element(const std::string& name, const std::vector<Item>& args)
{
    const Box& dict = *args[0].box;
    if (const auto at = find(dict, args[1])) return dict.items[*at];
    if (name == "aten::__getitem__")
        m_location.refuse("forward asks a dictionary for the key '" + keyText(args[1].concrete) +
                              "', which it does not contain",
                          "if the dictionary is an input, provide its element as the data key NAME.KEY");
    return args.size() > 2 ? args[2] : Item();
}

// Operators that leave the dictionary as it is.
std::optional<Item> DictionaryOperators::read(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    const Box& dict = *args[0].box;
    if (name == "aten::len") return Item(IValue(static_cast<std::int64_t>(dict.items.size())));
    if (name == "aten::__contains__") return Item(IValue(find(dict, args[1]).has_value()));
    if (name == "aten::__getitem__" || name == "aten::get") return element(name, args);
    if (name == "aten::values")
        return boxed(c10::ListType::create(dict.type->expectRef<c10::DictType>().getValueType()), dict.items);
    if (name == "aten::keys") return boxed(node.output()->type(), keysOf(dict));
    if (name == "aten::items") return boxed(node.output()->type(), entriesOf(dict));
    if (name == "aten::copy" || name == "aten::dict") return copyOf(dict);
    return {};
}

void DictionaryOperators::put(Box& dict, const IValue& key, const Item& value)
{
    const auto at = find(dict, Item(key));
    if (!at) dict.keys.push_back(key);
    if (!at) dict.items.push_back(value);
    else dict.items[*at] = value;
}

Item DictionaryOperators::remove(Box& dict, const Item& key)
{
    const auto at = find(dict, key);
    if (!at) m_location.refuse("forward removes a key that the dictionary does not contain");
    Item removed = dict.items[*at];
    dict.items.erase(dict.items.begin() + static_cast<std::ptrdiff_t>(*at));
    dict.keys.erase(dict.keys.begin() + static_cast<std::ptrdiff_t>(*at));
    return removed;
}

// Operators that change the dictionary itself.
std::optional<Item> DictionaryOperators::change(const std::string& name, const std::vector<Item>& args)
{
    Box& dict = *args[0].box;
    if (name == "aten::Delete" || name == "aten::pop") return remove(dict, args[1]);
    if (name == "aten::_set_item") {
        m_numbers.guard(args[1]);
        put(dict, args[1].concrete, args[2]);
    } else if (name == "aten::update" && args[1].box) {
        const Box other = *args[1].box;
        for (std::size_t i = 0; i < other.items.size(); ++i) put(dict, other.keys[i], other.items[i]);
    } else if (name == "aten::clear") {
        dict.items.clear();
        dict.keys.clear();
    } else {
        return {};
    }
    return args[0];
}

}  // namespace hopscope::loader
