#pragma once

// Evaluates operators on dictionaries during the walk. The program contains the elements of dictionaries, but not the
// dictionaries themselves.

#include <optional>
#include <string>
#include <vector>

#include "loader/walk/numbers.h"

namespace hopscope::loader {

class DictionaryOperators {
public:
    using Node = torch::jit::Node;

    DictionaryOperators(const Location& location, Numbers& numbers) : m_location(location), m_numbers(numbers) {}

    // Returns the result of prim::DictConstruct (arguments: key, element, key, element, ..); nullopt for other nodes.
    static std::optional<Item> evaluateInstruction(const Node& node, const std::vector<Item>& args);
    // Returns the result of an operator on a dictionary; nullopt if the first argument is not a dictionary. Refuses
    // unknown operators on dictionaries. A change to a dictionary is visible through all references to it.
    std::optional<Item> evaluate(const Node& node, const std::vector<Item>& args);

private:
    std::optional<Item> read(const Node& node, const std::vector<Item>& args);
    std::optional<Item> change(const std::string& name, const std::vector<Item>& args);
    Item element(const std::string& name, const std::vector<Item>& args);
    Item remove(Box& dict, const Item& key);
    void put(Box& dict, const c10::IValue& key, const Item& value);
    std::optional<std::size_t> find(const Box& dict, const Item& key);

    const Location& m_location;
    Numbers& m_numbers;
};

}  // namespace hopscope::loader
