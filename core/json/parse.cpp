#include <nlohmann/json.hpp>

#include "json/json.h"

namespace hopscope::json {

namespace {

using base::ErrorCode;
using base::fail;

// Walks the text and tells how far it came, because the parser's events carry no position.
struct Cursor {
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at = nullptr;
    const char** furthest = nullptr;

    reference operator*() const { return *at; }
    Cursor& operator++()
    {
        *furthest = ++at;
        return *this;
    }
    Cursor operator++(int)
    {
        const Cursor before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Cursor& other) const { return at == other.at; }
    bool operator!=(const Cursor& other) const { return at != other.at; }
};

// Builds a Value from the parser's events. A handler that returns false stops the parse; m_problem then says why.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
    Builder(std::size_t size, std::size_t depth) : m_size(size), m_depth(depth) {}

    bool null() override { return add(Value()); }
    bool boolean(bool value) override { return add(Value(value)); }
    bool number_integer(std::int64_t value) override { return add(Value(value)); }
    bool number_unsigned(std::uint64_t value) override
    {
        if (value > static_cast<std::uint64_t>(INT64_MAX)) return refuse("an integer is outside the 64-bit range");
        return add(Value(static_cast<std::int64_t>(value)));
    }
    bool number_float(double value, const std::string& text) override
    {
        // The library turns integers beyond 64 bits into doubles.
        const bool integer = text.find_first_of(".eE") == std::string::npos;
        return integer ? refuse("an integer is outside the 64-bit range") : add(Value(value));
    }
    bool string(std::string& value) override { return add(Value(std::move(value))); }
    bool binary(binary_t& /*value*/) override { return refuse("binary values are not JSON"); }
    bool start_object(std::size_t /*size*/) override { return open(Value::object()); }
    bool start_array(std::size_t /*size*/) override { return open(Value::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(std::string& value) override
    {
        if (m_open.back()->find(value) != nullptr) return refuse("the key '" + value + "' is repeated");
        m_key = std::move(value);
        return true;
    }
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& why) override
    {
        offset = position > 0 ? position - 1 : 0;
        if (*offset >= m_size) return refuse("unexpected end of text");
        if (std::string_view(why.what()).find("ill-formed UTF-8") != std::string_view::npos)
            return refuse("a string is not valid UTF-8");
        if (why.id == outOfRange) return refuse("the number " + shorten(token) + " is out of range");
        return refuse("unexpected text '" + shorten(token) + "'");
    }

    Value root;
    std::string problem;
    std::string problemPointer;
    std::optional<std::size_t> offset;

private:
    static constexpr int outOfRange = 406;  // the library's number of this error

    static std::string shorten(const std::string& token)
    {
        return token.size() <= 40 ? token : "..." + token.substr(token.size() - 37);
    }

    bool refuse(std::string why)
    {
        problem = std::move(why);
        for (const std::string& token : m_path) problemPointer = childPointer(problemPointer, token);
        if (!m_open.empty() && !nextToken().empty()) problemPointer = childPointer(problemPointer, nextToken());
        return false;
    }

    [[nodiscard]] std::string nextToken() const
    {
        return m_open.back()->isArray() ? std::to_string(m_open.back()->size()) : m_key;
    }

    Value* place(Value value)
    {
        if (m_open.empty()) return &(root = std::move(value));
        Value& parent = *m_open.back();
        if (parent.isObject()) return &(parent[m_key] = std::move(value));
        parent.push(std::move(value));
        return &parent.asArray()->back();
    }

    bool add(Value value)
    {
        place(std::move(value));
        return true;
    }

    bool open(Value value)
    {
        if (m_open.size() >= m_depth) return refuse("nesting is deeper than " + std::to_string(m_depth));
        if (!m_open.empty()) m_path.push_back(nextToken());
        m_open.push_back(place(std::move(value)));
        m_key.clear();
        return true;
    }

    bool close()
    {
        m_open.pop_back();
        m_key.clear();
        if (m_path.empty()) return true;
        m_key = std::move(m_path.back());
        m_path.pop_back();
        return true;
    }

    std::size_t m_size, m_depth;
    std::vector<Value*> m_open;       // only the innermost container grows, so the pointers stay valid
    std::vector<std::string> m_path;  // tokens of the open containers below the root
    std::string m_key;
};

tl::unexpected<base::Error> refused(const std::string& file, const Builder& builder, std::size_t offset)
{
    std::string message = file + ": at byte " + std::to_string(offset);
    if (!builder.problemPointer.empty()) message += ", field " + builder.problemPointer;
    return fail(ErrorCode::Input, message + ": " + builder.problem, {},
                file + ":" + std::to_string(offset) +
                    (builder.problemPointer.empty() ? "" : " " + builder.problemPointer));
}

}  // namespace

base::Result<Value> parse(std::string_view text, const std::string& file, Limits limits)
{
    if (text.size() > limits.bytes)
        return fail(ErrorCode::Input,
                    file + ": has " + std::to_string(text.size()) + " bytes of JSON, more than the limit of " +
                        std::to_string(limits.bytes),
                    {}, file + ":0");
    if (text.starts_with("\xEF\xBB\xBF"))
        return fail(ErrorCode::Input, file + ": starts with a byte order mark", {}, file + ":0");
    const char* furthest = text.data();
    const char* const end = text.data() + text.size();
    Builder builder(text.size(), limits.depth);
    const bool done = nlohmann::json::sax_parse(Cursor{text.data(), &furthest}, Cursor{end, &furthest}, &builder);
    if (!done) return refused(file, builder, builder.offset.value_or(static_cast<std::size_t>(furthest - text.data())));
    return std::move(builder.root);
}

}  // namespace hopscope::json
