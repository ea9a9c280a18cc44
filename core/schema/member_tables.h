#pragma once

// Private to schema and protocol: generates tables of docs/ (schema/contract.h) from described structs. Slow to
// compile.

#include <algorithm>
#include <string>
#include <vector>

#include "schema/contract.h"
#include "json/described.h"

namespace hopscope::schema {

class MemberTables {
public:
    // `later` is appended to the type of members that some documents lack.
    explicit MemberTables(const char* later) : m_later(later) {}

    // Adds a table for the struct and for each struct within it.
    template <base::Described T>
    void add()
    {
        json::Value definitions = json::Value::object();
        const json::Value schema = json::objectSchema<T>(definitions);
        const std::string rows = rowsOf<T>(*schema.find("properties"));
        m_structs.push_back({base::describedName<T>, "| member | type | meaning |\n|---|---|---|\n" + rows});
        addMembersOf<T>();
    }

    [[nodiscard]] const std::vector<DocumentedStruct>& structs() const { return m_structs; }

private:
    // Adds the tables of all structs in the members of T. An embedded struct has no table: its members are rows of T's.
    template <base::Described T>
    void addMembersOf()
    {
        base::forEachField<T>([&]<class M>(const base::Field<T, M>& field) {
            if constexpr (base::Described<M>)
                if (field.embedded()) return addMembersOf<M>();
            addWithin<M>();
        });
    }

    template <class M>
    void addWithin()
    {
        if constexpr (json::isOptional<M> || json::isList<M>) addWithin<typename M::value_type>();
        else if constexpr (base::Described<M> && !json::HasForm<M>)
            if (!isKnown(base::describedName<M>)) add<M>();
    }

    template <base::Described T>
    std::string rowsOf(const json::Value& properties) const
    {
        std::string rows;
        base::forEachField<T>([&]<class M>(const base::Field<T, M>& field) {
            if (!field.embedded()) rows += rowOf(properties, field);
            else if (*field.meaning != '\0') rows += std::string("| | | ") + field.meaning + " |\n";
            else if constexpr (base::Described<M>) rows += rowsOf<M>(properties);
        });
        return rows;
    }

    // Returns "| `name` | type | meaning |".
    [[nodiscard]] std::string rowOf(const json::Value& properties, const base::Traits& field) const;

    // Whether a struct needs no further table: it has one already, or it has no name.
    [[nodiscard]] bool isKnown(const std::string& name) const
    {
        return name.empty() || std::ranges::find(m_structs, name, &DocumentedStruct::name) != m_structs.end();
    }

    const char* m_later;
    std::vector<DocumentedStruct> m_structs;
};

}  // namespace hopscope::schema
