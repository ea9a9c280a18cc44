#include "loader/walk/attributes.h"

namespace hopscope::loader {

using c10::IValue;

std::optional<std::vector<Item>> Attributes::evaluateInstruction(const torch::jit::Node& node,
                                                                 const std::vector<Item>& args)
{
    if (node.kind() == c10::prim::GetAttr) return std::vector{get(args[0], node.s(c10::attr::name))};
    if (node.kind() == c10::prim::CreateObject)
        return std::vector{create(node.output()->type()->expect<c10::ClassType>())};
    if (node.kind() != c10::prim::SetAttr) return {};
    set(args[0], node.s(c10::attr::name), args[1]);
    return std::vector<Item>();
}

Item Attributes::get(const Item& object, const std::string& name)
{
    if (!object.concrete.isObject()) m_location.refuse("an attribute is read from an object without attributes");
    const auto instance = object.concrete.toObject();
    const Key key{instance.get(), name};
    if (const auto it = m_values.find(key); it != m_values.end()) return it->second;
    const IValue value = instance->getAttr(name);
    Item item = m_wrapper.wrap(value, object.path.empty() ? name : object.path + "." + name, Leaf::Attribute);
    if (value.isObject() && value.toObject()->type()->name())
        m_location.setModuleClass(item.path, value.toObject()->type()->name()->name());
    if (item.box) m_values[key] = item;
    return item;
}

void Attributes::set(const Item& object, const std::string& name, const Item& value)
{
    if (!object.concrete.isObject()) m_location.refuse("an attribute is set on an object without attributes");
    m_values[{object.concrete.toObject().get(), name}] = value;
}

Item Attributes::create(const c10::ClassTypePtr& type)
{
    const IValue object(c10::ivalue::Object::create(type, type->numAttributes()));
    m_created.push_back(object);
    return Item(object);
}

}  // namespace hopscope::loader
