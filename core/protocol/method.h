#pragma once

// Defines the entries of the tables of requests (protocol/requests.h), and members that several requests share.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/settings.h"
#include "json/json.h"

namespace hopscope::protocol {

// A string literal that can be a template argument.
template <std::size_t size>
struct Text {
    char letters[size];
    consteval Text(const char (&text)[size]) { std::copy_n(text, size, letters); }
};

// A request: its members, with its method, the type of its answer, and its meaning, a phrase for docs/.
template <Text name, base::Described Members, class Answered, Text purpose>
struct Method : Members {
    using Own = Members;
    using Answer = Answered;
    static constexpr const char* method = name.letters;
    static constexpr const char* meaning = purpose.letters;
};

template <Text name, class Members, class Answered, Text purpose>
constexpr auto fieldsOf(const Method<name, Members, Answered, purpose>*)
{
    return base::extended<Method<name, Members, Answered, purpose>, Members>();
}

// Sets `query` to the request whose own members are `members`.
template <class Members, class... Each>
void setTo(const Members& members, std::variant<Each...>& query)
{
    const auto setIf = [&]<class T>(const T*) {
        if constexpr (std::same_as<T, Members>) query = members;
        else if constexpr (std::same_as<typename T::Own, Members>) query = T{members};
    };
    (setIf(static_cast<const Each*>(nullptr)), ...);
}

// Concatenates several tables.
template <class... Tables>
struct Joining;
template <class... Each>
struct Joining<std::variant<Each...>> {
    using Type = std::variant<Each...>;
};
template <class... One, class... Other, class... More>
struct Joining<std::variant<One...>, std::variant<Other...>, More...>
    : Joining<std::variant<One..., Other...>, More...> {};
template <class... Tables>
using Joined = typename Joining<Tables...>::Type;

// Collects types in a variant, each once, except those that are named documents.
template <class Known, class... Types>
struct Distinct {
    using Type = Known;
};
template <class... Known, class T, class... Types>
struct Distinct<std::variant<Known...>, T, Types...>
    : Distinct<std::conditional_t<(std::same_as<Known, T> || ...) || *base::describedName<T> != '\0',
                                  std::variant<Known...>, std::variant<Known..., T>>,
               Types...> {};

template <class Table>
struct Answering;
template <class... Each>
struct Answering<std::variant<Each...>> {
    using Type = typename Distinct<std::variant<>, typename Each::Answer...>::Type;
};
// A variant of the answers to all requests of the tables.
template <class... Tables>
using AnswersOf = typename Answering<Joined<Tables...>>::Type;

// ---- members that several requests share

// A JSON document within a message.
struct JsonObject {
    json::Value value = json::Value::object();
};

// The answer null.
struct Nothing {};
template <std::same_as<Nothing> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("null");
}

struct OfDocument {
    std::int64_t document = 0;
};
template <std::same_as<OfDocument> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("document", &T::document, "the number of an open model"));
}

struct OfPlan : OfDocument {
    JsonObject plan{};
};
template <std::same_as<OfPlan> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfDocument>(base::field("plan", &T::plan, "a [plan](format-plan.md)"));
}

struct ModelFiles {
    std::string model;
    std::vector<std::string> data{}, roles{};
    bool trusted = false;
};
template <std::same_as<ModelFiles> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described(
        "", field("model", &T::model, "its file; relative to the engine's working directory"),
        field("data", &T::data, "as for `--data`", Presence::Later),
        field("roles", &T::roles, "as for `--role`", Presence::Later),
        field("trusted", &T::trusted, "run it without an agreement: the client vouches for it", Presence::Later));
}

struct OfRun {
    std::int64_t run = 0;
};
template <std::same_as<OfRun> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("run", &T::run, "its number"));
}

}  // namespace hopscope::protocol
