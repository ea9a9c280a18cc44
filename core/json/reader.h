#pragma once

// Reads a document field by field. A Reader is a cursor that shares one sticky error with its children. An accessor
// that fails returns a default, and after the first failure items() and members() are empty, so that callers read
// straight through and check once, at the end.
//
//     Reader root(value, "plan.json");
//     plan.batch = root.get<std::int64_t>("batch");
//     for (Reader stage : root.items("stages")) plan.stages.push_back(readStage(stage));
//     if (!root.ok()) return forward(root.status());

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace hopscope::json {

class Reader {
public:
    // `root` must outlive the reader and its children.
    Reader(const Value& root, std::string file);

    // Read a T, which is bool, std::int64_t, int, double (integers are accepted), std::string, or a std::vector of
    // these.
    template <class T>
    [[nodiscard]] T as() const;  // this value
    template <class T>
    [[nodiscard]] T get(std::string_view key) const  // a required member
    {
        return child(key).template as<T>();
    }
    template <class T>
    [[nodiscard]] std::optional<T> maybe(std::string_view key) const  // nullopt if the member is missing or null
    {
        if (!has(key)) return std::nullopt;
        return child(key).template as<T>();
    }
    [[nodiscard]] bool has(std::string_view key) const;      // present and not null
    [[nodiscard]] Reader child(std::string_view key) const;  // a required member; null is passed on as null
    [[nodiscard]] std::vector<Reader> items() const;         // of this array
    [[nodiscard]] std::vector<Reader> items(std::string_view key) const { return child(key).items(); }
    [[nodiscard]] std::vector<std::pair<std::string, Reader>> members() const;  // of this object, by key
    // Refuses members that are not in `known`.
    void only(const std::set<std::string, std::less<>>& known) const;

    // Refuses the document: "FILE: field /stages/0/index MESSAGE", or "FILE: the document MESSAGE" at the root. Only
    // the first failure is kept.
    void refuse(const std::string& message) const;
    [[nodiscard]] bool ok() const { return !m_state->error.has_value(); }
    [[nodiscard]] base::Status status() const;
    [[nodiscard]] const Value& value() const { return *m_value; }
    [[nodiscard]] const std::string& pointer() const { return m_pointer; }

private:
    struct State {
        std::string file;
        std::optional<base::Error> error;
    };
    Reader(std::shared_ptr<State> state, const Value* value, std::string pointer);
    void expect(const char* kind) const;

    std::shared_ptr<State> m_state;
    const Value* m_value;
    std::string m_pointer;
};

// Reads one required field by its pointer, as in field<std::int64_t>(root, "/stages/0/index", "plan.json").
template <class T>
base::Result<T> field(const Value& root, std::string_view pointer, const std::string& file = "JSON");

}  // namespace hopscope::json
