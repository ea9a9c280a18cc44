#include "loader/walk/value_wrapper.h"

namespace hopscope::loader {

using c10::IValue;

Item ValueWrapper::wrapLeaf(const IValue& value, const std::string& path, Leaf leaf)
{
    if (value.isTensor() && value.toTensor().defined()) {
        const at::Tensor& tensor = value.toTensor();
        if (leaf == Leaf::Attribute) return {value, m_recorder.parameter(path, tensor)};
        if (leaf == Leaf::Literal) return {value, m_recorder.constant(tensor)};
        if (tensor.layout() != at::kStrided) return m_sparse.add(tensor, path);
        return {value, m_recorder.input(path, value)};
    }
    const bool number = value.isInt() || value.isDouble() || value.isBool();
    if (leaf == Leaf::Input && number) return {value, m_recorder.input(path, value)};
    Item item(value);
    item.path = path;
    return item;
}

Item ValueWrapper::wrap(const IValue& value, const std::string& path, Leaf leaf)
{
    const auto below = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
    Item out;
    if (value.isList()) {
        const auto list = value.toList();
        out = boxed(c10::ListType::create(list.elementType()), {});
        for (std::size_t i = 0; i < list.size(); ++i)
            out.box->items.push_back(wrap(list.get(i), below(std::to_string(i)), leaf));
    } else if (value.isTuple()) {
        out = boxed(value.type(), {});
        for (const IValue& element : value.toTupleRef().elements())
            out.box->items.push_back(wrap(element, below(std::to_string(out.box->items.size())), leaf));
    } else if (value.isGenericDict()) {
        const auto dict = value.toGenericDict();
        out = boxed(c10::DictType::create(dict.keyType(), dict.valueType()), {});
        for (const auto& entry : dict) {
            out.box->keys.push_back(entry.key());
            out.box->items.push_back(wrap(entry.value(), below(keyText(entry.key())), leaf));
        }
    } else {
        return wrapLeaf(value, path, leaf);
    }
    return out;
}

std::vector<Item> ValueWrapper::literals(const std::vector<IValue>& values)
{
    std::vector<Item> items;
    for (const IValue& value : values) items.push_back(literal(value));
    return items;
}

}  // namespace hopscope::loader
