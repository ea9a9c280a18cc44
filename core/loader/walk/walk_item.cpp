#include "loader/walk/walk_item.h"

namespace hopscope::loader {

namespace {

c10::TypePtr elementType(const Box& box, const c10::TypePtr& expected)
{
    const auto wanted = expected ? expected->cast<c10::ListType>() : nullptr;
    if (wanted && !wanted->hasFreeVariables()) return wanted->getElementType();
    const c10::TypePtr own = box.type->expectRef<c10::ListType>().getElementType();
    return own->isSubtypeOf(*c10::TensorType::get()) ? c10::TypePtr(c10::TensorType::get()) : own;
}

c10::IValue concreteList(const Box& box, const c10::TypePtr& expected)
{
    c10::impl::GenericList list(elementType(box, expected));
    list.reserve(box.items.size());
    for (const Item& item : box.items) list.push_back(concreteOf(item));
    return list;
}

c10::IValue concreteDict(const Box& box)
{
    const auto& type = box.type->expectRef<c10::DictType>();
    c10::impl::GenericDict dict(type.getKeyType(), type.getValueType());
    for (std::size_t i = 0; i < box.items.size(); ++i) dict.insert(box.keys[i], concreteOf(box.items[i]));
    return dict;
}

c10::IValue concreteTuple(const Box& box)
{
    std::vector<c10::IValue> elements;
    for (const Item& item : box.items) elements.push_back(concreteOf(item));
    const auto type = box.type->cast<c10::TupleType>();
    if (type && type->schema()) return c10::ivalue::Tuple::createNamed(std::move(elements), type);
    return c10::ivalue::Tuple::create(std::move(elements));
}

}  // namespace

Item boxed(c10::TypePtr type, std::vector<Item> items)
{
    Item out;
    out.box = std::make_shared<Box>(Box{.type = std::move(type), .items = std::move(items), .keys = {}});
    return out;
}

bool isKind(const Item& item, c10::TypeKind kind) { return item.box && item.box->type->kind() == kind; }

bool sameScalar(const c10::IValue& a, const c10::IValue& b)
{
    if (a.isString() && b.isString()) return a.toStringRef() == b.toStringRef();
    if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
    if (a.isDouble() && b.isDouble()) return a.toDouble() == b.toDouble();
    if (a.isBool() && b.isBool()) return a.toBool() == b.toBool();
    return false;
}

c10::IValue concreteOf(const Item& item, const c10::TypePtr& expected)
{
    if (!item.box) return item.concrete;
    switch (item.box->type->kind()) {
    case c10::TypeKind::ListType: return concreteList(*item.box, expected);
    case c10::TypeKind::DictType: return concreteDict(*item.box);
    default: return concreteTuple(*item.box);
    }
}

c10::TypePtr typeOf(const Item& item)
{
    if (!item.box) return item.concrete.type();
    const auto tuple = item.box->type->cast<c10::TupleType>();
    if (!tuple || tuple->schema()) return item.box->type;
    std::vector<c10::TypePtr> types;
    for (const Item& i : item.box->items) types.push_back(typeOf(i));
    return c10::TupleType::create(std::move(types));
}

}  // namespace hopscope::loader
