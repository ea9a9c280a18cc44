#include "json/reader.h"

#include <cassert>
#include <limits>

namespace hopscope::json {

namespace {

const Value& nothing()
{
    static const Value null;
    return null;
}

template <class T>
struct Scalar;

template <>
struct Scalar<bool> {
    static constexpr const char* kind = "a boolean";
    static std::optional<bool> read(const Value& value)
    {
        return value.asBool() != nullptr ? std::optional(*value.asBool()) : std::nullopt;
    }
};

template <>
struct Scalar<std::int64_t> {
    static constexpr const char* kind = "an integer";
    static std::optional<std::int64_t> read(const Value& value)
    {
        return value.asInt() != nullptr ? std::optional(*value.asInt()) : std::nullopt;
    }
};

template <>
struct Scalar<int> {
    static constexpr const char* kind = "a 32-bit integer";
    static std::optional<int> read(const Value& value)
    {
        const std::int64_t* const number = value.asInt();
        const bool fits = number != nullptr && *number >= std::numeric_limits<int>::min() &&
                          *number <= std::numeric_limits<int>::max();
        return fits ? std::optional(static_cast<int>(*number)) : std::nullopt;
    }
};

template <>
struct Scalar<double> {
    static constexpr const char* kind = "a number";
    static std::optional<double> read(const Value& value)
    {
        if (value.asInt() != nullptr) return static_cast<double>(*value.asInt());
        return value.asDouble() != nullptr ? std::optional(*value.asDouble()) : std::nullopt;
    }
};

template <>
struct Scalar<std::string> {
    static constexpr const char* kind = "a string";
    static std::optional<std::string> read(const Value& value)
    {
        return value.asString() != nullptr ? std::optional(*value.asString()) : std::nullopt;
    }
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

}  // namespace

Reader::Reader(const Value& root, std::string file)
    : m_state(std::make_shared<State>(State{std::move(file), std::nullopt})),
      m_value(&root)
{}

Reader::Reader(std::shared_ptr<State> state, const Value* value, std::string pointer)
    : m_state(std::move(state)),
      m_value(value),
      m_pointer(std::move(pointer))
{}

void Reader::refuse(const std::string& message) const
{
    if (m_state->error.has_value()) return;
    const std::string place = m_pointer.empty() ? "the document" : "field " + m_pointer;
    m_state->error = base::makeError(base::ErrorCode::Input, m_state->file + ": " + place + " " + message, {},
                                     m_state->file + (m_pointer.empty() ? "" : " " + m_pointer));
}

void Reader::expect(const char* kind) const
{
    refuse(std::string("must be ") + kind + ", but is " +
           (m_value->isNull() ? "null" : std::string("of kind ") + m_value->kindName()));
}

base::Status Reader::status() const
{
    if (m_state->error.has_value()) return tl::unexpected<base::Error>(*m_state->error);
    return {};
}

bool Reader::has(std::string_view key) const
{
    const Value* const member = m_value->find(key);
    return member != nullptr && !member->isNull();
}

Reader Reader::child(std::string_view key) const
{
    const Value* const member = m_value->find(key);
    Reader result(m_state, member != nullptr ? member : &nothing(), childPointer(m_pointer, key));
    if (member != nullptr) return result;
    if (m_value->isObject()) result.refuse("is missing");
    else expect("an object");
    return result;
}

std::vector<Reader> Reader::items() const
{
    std::vector<Reader> result;
    const Array* const array = m_value->asArray();
    if (array == nullptr) expect("an array");
    if (array == nullptr || !ok()) return result;
    for (std::size_t i = 0; i < array->size(); ++i)
        result.push_back(Reader(m_state, &(*array)[i], m_pointer + "/" + std::to_string(i)));
    return result;
}

std::vector<std::pair<std::string, Reader>> Reader::members() const
{
    std::vector<std::pair<std::string, Reader>> result;
    const Object* const object = m_value->asObject();
    if (object == nullptr) expect("an object");
    if (object == nullptr || !ok()) return result;
    for (const auto& [key, value] : *object)
        result.emplace_back(key, Reader(m_state, &value, childPointer(m_pointer, key)));
    return result;
}

void Reader::only(const std::set<std::string, std::less<>>& known) const
{
    for (const auto& [key, member] : members())
        if (!known.contains(key)) member.refuse("is not known");
}

template <class T>
T Reader::as() const
{
    if constexpr (IsVector<T>::value) {
        T result;
        for (const Reader& item : items()) result.push_back(item.template as<typename T::value_type>());
        return result;
    } else {
        const std::optional<T> value = Scalar<T>::read(*m_value);
        if (!value.has_value()) expect(Scalar<T>::kind);
        return value.value_or(T{});
    }
}

template <class T>
base::Result<T> field(const Value& root, std::string_view pointer, const std::string& file)
{
    const Value* const found = resolve(root, pointer);
    if (found == nullptr) {
        const std::string place(pointer);
        return base::fail(base::ErrorCode::Input, file + ": field " + place + " is missing", {}, file + " " + place);
    }
    const std::optional<T> value = Scalar<T>::read(*found);
    if (value.has_value()) return *value;
    return base::fail(base::ErrorCode::Input,
                      file + ": field " + std::string(pointer) + " must be " + Scalar<T>::kind + ", but is of kind " +
                          found->kindName(),
                      {}, file + " " + std::string(pointer));
}

template bool Reader::as<bool>() const;
template int Reader::as<int>() const;
template std::int64_t Reader::as<std::int64_t>() const;
template double Reader::as<double>() const;
template std::string Reader::as<std::string>() const;
template std::vector<bool> Reader::as<std::vector<bool>>() const;
template std::vector<int> Reader::as<std::vector<int>>() const;
template std::vector<std::int64_t> Reader::as<std::vector<std::int64_t>>() const;
template std::vector<double> Reader::as<std::vector<double>>() const;
template std::vector<std::string> Reader::as<std::vector<std::string>>() const;

template base::Result<bool> field<bool>(const Value&, std::string_view, const std::string&);
template base::Result<int> field<int>(const Value&, std::string_view, const std::string&);
template base::Result<std::int64_t> field<std::int64_t>(const Value&, std::string_view, const std::string&);
template base::Result<double> field<double>(const Value&, std::string_view, const std::string&);
template base::Result<std::string> field<std::string>(const Value&, std::string_view, const std::string&);

}  // namespace hopscope::json
