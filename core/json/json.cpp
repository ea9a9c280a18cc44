#include "json/json.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

namespace hopscope::json {

Value& Value::operator[](std::string_view key)
{
    if (isNull()) m_data = Object{};
    Object* const members = asObject();
    assert(members != nullptr);
    const auto found = members->find(key);
    return found != members->end() ? found->second : (*members)[std::string(key)];
}

void Value::push(Value item)
{
    if (isNull()) m_data = Array{};
    assert(isArray());
    asArray()->push_back(std::move(item));
}

const Value* Value::find(std::string_view key) const
{
    const Object* const members = asObject();
    if (members == nullptr) return nullptr;
    const auto found = members->find(key);
    return found == members->end() ? nullptr : &found->second;
}

std::size_t Value::size() const
{
    if (const Array* const items = asArray()) return items->size();
    const Object* const members = asObject();
    return members == nullptr ? 0 : members->size();
}

const char* Value::kindName() const
{
    constexpr std::array<const char*, 7> names{"null", "boolean", "integer", "number", "string", "array", "object"};
    return names[m_data.index()];
}

std::string childPointer(const std::string& pointer, std::string_view key)
{
    std::string result = pointer + "/";
    for (const char c : key) {
        if (c == '~') result += "~0";
        else if (c == '/') result += "~1";
        else result += c;
    }
    return result;
}

namespace {

std::string unescapeToken(std::string_view token)
{
    std::string text;
    for (std::size_t i = 0; i < token.size(); ++i) {
        const bool escaped = token[i] == '~' && i + 1 < token.size();
        if (escaped) ++i;
        text += escaped ? (token[i] == '1' ? '/' : '~') : token[i];
    }
    return text;
}

const Value* step(const Value& value, std::string_view token)
{
    const Array* const items = value.asArray();
    if (items == nullptr) return value.find(unescapeToken(token));
    std::size_t index = 0;
    const char* const end = token.data() + token.size();
    const auto [stop, error] = std::from_chars(token.data(), end, index);
    const bool number = error == std::errc{} && stop == end && (token.size() == 1 || token.front() != '0');
    return number && index < items->size() ? &(*items)[index] : nullptr;
}

}  // namespace

const Value* resolve(const Value& root, std::string_view pointer)
{
    const Value* value = &root;
    while (value != nullptr && !pointer.empty()) {
        if (pointer.front() != '/') return nullptr;
        const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
        value = step(*value, pointer.substr(1, end - 1));
        pointer.remove_prefix(end);
    }
    return value;
}

}  // namespace hopscope::json
