#pragma once

// Defines the names that documents contain, and predicates to check that a model has them.

#include <functional>
#include <string>

#include "ir/program.h"
#include "ir/rows.h"

namespace hopscope::schema {

// The name of a table, a key or a row class (schema/names.h).
template <class Id>
struct NameOf {
    std::string text;
    bool operator==(const NameOf&) const = default;
    bool operator==(const std::string& other) const { return text == other; }
};
using TableName = NameOf<ir::SpaceId>;
using KeyName = NameOf<ir::KeyId>;
using RowsName = NameOf<ir::RowClass>;

// Predicates for the names in a document: whether the model has them. Tables, keys and row classes are checked
// only if there is a predicate for them.
struct ModelNames {
    std::function<bool(ir::OpId)> op;
    std::function<bool(ir::ValueId)> value;
    std::function<bool(const TableName&)> table{};
    std::function<bool(const KeyName&)> key{};
    std::function<bool(const RowsName&)> rows{};
};

}  // namespace hopscope::schema
