#pragma once

// Provides JSON: a value type, a strict and bounded reader, and a deterministic writer. The types of the parsing
// library do not appear in the interface.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace hopscope::json {

class Value;
using Array = std::vector<Value>;
using Object = std::map<std::string, Value, std::less<>>;  // sorted: two equal values are written as equal bytes

// Null, bool, int64, double, string, array or object. Numbers keep their kind: 1 is an integer, 1.0 is not.
class Value {
public:
    Value() = default;
    Value(std::nullptr_t) {}
    Value(bool value) : m_data(value) {}
    template <std::integral T>
    requires(!std::same_as<T, bool>) Value(T value) : m_data(static_cast<std::int64_t>(value)) {}
    template <std::floating_point T>
    Value(T value) : m_data(static_cast<double>(value))
    {}
    Value(std::string value) : m_data(std::move(value)) {}
    Value(std::string_view value) : m_data(std::string(value)) {}
    Value(const char* value) : m_data(std::string(value)) {}
    Value(Array value) : m_data(std::move(value)) {}
    Value(Object value) : m_data(std::move(value)) {}
    template <class T>
    explicit Value(const std::vector<T>& items) : m_data(Array(items.begin(), items.end()))
    {}
    static Value object() { return Value(Object{}); }
    static Value array() { return Value(Array{}); }

    [[nodiscard]] bool isNull() const { return std::holds_alternative<std::nullptr_t>(m_data); }
    [[nodiscard]] bool isObject() const { return asObject() != nullptr; }
    [[nodiscard]] bool isArray() const { return asArray() != nullptr; }
    // Return null pointers if the value is of a different kind.
    [[nodiscard]] const bool* asBool() const { return std::get_if<bool>(&m_data); }
    [[nodiscard]] const std::int64_t* asInt() const { return std::get_if<std::int64_t>(&m_data); }
    [[nodiscard]] const double* asDouble() const { return std::get_if<double>(&m_data); }
    [[nodiscard]] const std::string* asString() const { return std::get_if<std::string>(&m_data); }
    [[nodiscard]] const Array* asArray() const { return std::get_if<Array>(&m_data); }
    [[nodiscard]] const Object* asObject() const { return std::get_if<Object>(&m_data); }
    [[nodiscard]] Array* asArray() { return std::get_if<Array>(&m_data); }
    [[nodiscard]] Object* asObject() { return std::get_if<Object>(&m_data); }

    // Return the member of a key, which is added if it is missing, and append an item. A null value first becomes an
    // object or an array; any other kind violates the contract.
    Value& operator[](std::string_view key);
    void push(Value item);
    // Returns the member of an object; a null pointer if there is none, or if this is not an object.
    [[nodiscard]] const Value* find(std::string_view key) const;
    [[nodiscard]] std::size_t size() const;      // members or items; 0 for anything else
    [[nodiscard]] const char* kindName() const;  // "null", "boolean", "integer", "number", "string", "array", "object"

    bool operator==(const Value&) const = default;

private:
    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> m_data = nullptr;
};

struct Limits {
    std::size_t bytes = std::size_t{16} << 20;
    std::size_t depth = 64;
};

// Parses JSON strictly by RFC 8259: refuses comments, trailing text, duplicate keys, invalid UTF-8, a byte order mark,
// integers outside int64, numbers outside double, and anything that exceeds the limits. Fails with Input: the message
// begins with `file`, and `where` is "file:offset /json/pointer" (at the root "file:offset"), with the offset in bytes.
// No reference to the text is kept.
base::Result<Value> parse(std::string_view text, const std::string& file = "JSON", Limits limits = {});

// Writes a value with sorted keys. Doubles become the shortest text that reads back equal (always with '.' or 'e', so
// that they stay doubles), NaN and infinities become null, and bytes that are not UTF-8 become U+FFFD. `pretty` indents
// by two spaces, keeps arrays of scalars on one line, and adds a final newline.
std::string write(const Value& value, bool pretty = false);

// Appends one token to a JSON pointer (RFC 6901), escaping '~' and '/'.
std::string childPointer(const std::string& pointer, std::string_view key);
// Returns the value at a pointer ("" is the root), or a null pointer if there is none.
const Value* resolve(const Value& root, std::string_view pointer);

}  // namespace hopscope::json
