#pragma once

// Describes structs that are written to files, sent through pipes or used from other languages. A table of the members
// is declared next to the struct and found by argument-dependent lookup, like the tables of enums (base/names.h). The
// code that reads and writes JSON (json/described.h), the JSON Schemas and the tables in docs/ are all based on it.
//     template <std::same_as<Tolerance> T>
//     constexpr auto fieldsOf(const T*)
//     {
//         return base::described(
//             "tolerance", base::field("absolute", &T::absolute, "largest difference", base::Quantity::Ratio), ..);
//     }
// The function is a template, so that only sources that use the table pay for it.

#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

namespace hopscope::base {

// The kind of a number. Numbers of all kinds but None are never negative.
enum class Quantity : std::uint8_t { None, Seconds, Bytes, Count, Ratio };

enum class Presence : std::uint8_t {
    Always,   // null if there is nothing
    Later,    // the same, but older documents may lack it: the member then keeps its default
    WhenSet,  // omitted if there is nothing
};

// The meaning of null: nothing; the default of a text, a number or an id; or infinity or NaN, which JSON lacks, in a
// number or in lists of numbers.
enum class Null : std::uint8_t { IsNone, IsDefault, IsInfinite, IsNaN };

// The range of a whole number, including both ends.
struct Within {
    std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
};

struct Traits {
    const char* name;     // in documents; empty: the members of this struct are among those of T
    const char* meaning;  // for docs/, with Markdown; a phrase without a full stop
    Quantity quantity = Quantity::None;
    Presence presence = Presence::Always;
    Null null = Null::IsNone;
    Within within{};

    constexpr void take(Quantity q) { quantity = q; }
    constexpr void take(Presence p) { presence = p; }
    constexpr void take(Null n) { null = n; }
    constexpr void take(Within w) { within = w; }

    [[nodiscard]] constexpr bool embedded() const { return *name == '\0'; }
};

template <class T, class M>
struct Field : Traits {
    M T::*member;
};

// Makes a field. The traits are a Quantity, a Presence, a Null and a Within, each at most once.
template <class T, class M, class... Given>
constexpr Field<T, M> field(const char* name, M T::*member, const char* meaning, Given... traits)
{
    Field<T, M> made{{name, meaning}, member};
    (made.take(traits), ...);
    return made;
}

// Makes a field for a struct whose members are written among those of T. The tables in docs/ contain `meaning`
// instead of these members; if it is empty, they contain the members.
template <class T, class M>
constexpr Field<T, M> embedded(M T::*member, const char* meaning = "")
{
    return {{"", meaning}, member};
}

template <class... Fields>
struct Description {
    const char* name;  // in schemas and tables, and the "type" of an event: "stage"; empty: part of other structs only
    std::tuple<Fields...> fields;
};

template <class... Fields>
constexpr Description<Fields...> described(const char* name, std::tuple<Fields...> fields)
{
    return {name, std::move(fields)};
}

template <class... Fields>
constexpr Description<Fields...> described(const char* name, Fields... fields)
{
    return {name, {fields...}};
}

template <class T, class Base, class M>
constexpr Field<T, M> fieldOf(const Field<Base, M>& f)
{
    return {f, f.member};
}

// Returns the fields of a base class as fields of T, to be joined with others by std::tuple_cat.
template <class T, class Base>
constexpr auto inherited()
{
    return std::apply([](const auto&... field) { return std::tuple(fieldOf<T>(field)...); },
                      fieldsOf(static_cast<const Base*>(nullptr)).fields);
}

// Describes a struct without a name of its own, which has the members of a base class and others.
template <class T, class Base, class... Fields>
constexpr auto extended(Fields... fields)
{
    return described("", std::tuple_cat(inherited<T, Base>(), std::tuple(fields...)));
}

template <class T>
concept Described = requires
{
    fieldsOf(static_cast<const T*>(nullptr));
};

template <Described T>
inline constexpr const char* describedName = fieldsOf(static_cast<const T*>(nullptr)).name;

// Calls `visit` with each Field of T, in order.
template <Described T, class Visit>
constexpr void forEachField(Visit&& visit)
{
    std::apply([&](const auto&... field) { (visit(field), ...); }, fieldsOf(static_cast<const T*>(nullptr)).fields);
}

}  // namespace hopscope::base
