#pragma once

// Holds the attributes of modules and other TorchScript objects during the walk. Attributes that forward sets are
// stored here; the loaded model is not modified.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loader/walk/location.h"
#include "loader/walk/value_wrapper.h"

namespace hopscope::loader {

class Attributes {
public:
    Attributes(Location& location, ValueWrapper& wrapper) : m_location(location), m_wrapper(wrapper) {}

    // Returns the results of prim::GetAttr, SetAttr and CreateObject; nullopt for other nodes. Refuses attributes of
    // items that are not objects. Reading a container twice returns the same container, so that changes to it are
    // visible.
    std::optional<std::vector<Item>> evaluateInstruction(const torch::jit::Node& node, const std::vector<Item>& args);

private:
    Item get(const Item& object, const std::string& name);
    void set(const Item& object, const std::string& name, const Item& value);
    Item create(const c10::ClassTypePtr& type);

    using Key = std::pair<const void*, std::string>;  // object and name

    Location& m_location;
    ValueWrapper& m_wrapper;
    std::map<Key, Item> m_values;        // set by forward, or containers read before
    std::vector<c10::IValue> m_created;  // kept alive, so that no address is used again
};

}  // namespace hopscope::loader
