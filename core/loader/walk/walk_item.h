#pragma once

// A TorchScript value during the walk: its concrete value on the sample, the program's value that represents it, and,
// for lists, tuples and dictionaries, the elements (shared between references to a container, as in Python).

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace hopscope::loader {

struct Box;

struct Item {
    c10::IValue concrete;      // leaves
    ir::ValueId value;         // every tensor; numbers that derive from inputs
    std::shared_ptr<Box> box;  // lists, tuples, dictionaries
    std::string path;          // objects: attribute path from the model

    Item() = default;
    explicit Item(c10::IValue v) : concrete(std::move(v)) {}
    Item(c10::IValue v, ir::ValueId id) : concrete(std::move(v)), value(id) {}

    [[nodiscard]] bool isTensor() const { return !box && concrete.isTensor() && concrete.toTensor().defined(); }
    [[nodiscard]] bool isNone() const { return !box && concrete.isNone(); }
    [[nodiscard]] bool dynamicNumber() const { return value.valid() && !concrete.isTensor(); }
};

struct Box {
    c10::TypePtr type;
    std::vector<Item> items;
    std::vector<c10::IValue> keys;  // dictionaries
};

Item boxed(c10::TypePtr type, std::vector<Item> items);

// True if the item is a container of this kind (ListType, TupleType, DictType).
bool isKind(const Item& item, c10::TypeKind kind);
// True if two dictionary keys or list elements are equal; false for values of different types and for objects.
bool sameScalar(const c10::IValue& a, const c10::IValue& b);

// Returns the concrete value, including elements. A list has the element type of `expected` if that is a list type.
c10::IValue concreteOf(const Item& item, const c10::TypePtr& expected = nullptr);
c10::TypePtr typeOf(const Item& item);

template <class Predicate>
bool anyLeaf(const Item& item, const Predicate& predicate)
{
    if (!item.box) return predicate(item);
    for (const Item& i : item.box->items)
        if (anyLeaf(i, predicate)) return true;
    return false;
}

template <class Predicate>
bool anyLeaf(const std::vector<Item>& items, const Predicate& predicate)
{
    for (const Item& i : items)
        if (anyLeaf(i, predicate)) return true;
    return false;
}

// Thrown at any depth to end the walk. walk() catches it, together with LibTorch's exceptions.
struct Refused {
    base::Error error;
    bool byForward = false;  // forward itself threw an exception, as it would in Python
};

}  // namespace hopscope::loader
