#include "protocol/requests_contract.h"

#include <sstream>

#include "protocol/forms.h"
#include "protocol/requests.h"
#include "schema/member_tables.h"

namespace hopscope::protocol {

namespace {

using json::Value;

// Calls visit for each of the requests, as a null pointer to it.
template <class... Each, class Visit>
void forEach(const std::variant<Each...>*, const Visit& visit)
{
    (visit(static_cast<const Each*>(nullptr)), ...);
}

template <class Visit>
void forEachRequest(const Visit& visit)
{
    forEach(static_cast<const Query*>(nullptr), visit);
    forEach(static_cast<const RunQuery*>(nullptr), visit);
    forEach(static_cast<const WorkerQuery*>(nullptr), visit);
}

template <class T>
Value answerSchema(Value& definitions)
{
    if constexpr (std::same_as<T, Nothing>) return json::typed("null");
    else return json::schemaOf<T>(definitions);
}

// A schema of its own: structs of different answers may have the same name.
template <class T>
Value exchangeSchema()
{
    Value exchange = json::typed("object"), definitions = Value::object();
    exchange["$id"] = std::string("https://hopscope.org/schemas/requests-1/") + T::method;
    exchange["description"] = T::meaning;
    exchange["properties"]["params"] = json::objectSchema<T>(definitions);
    exchange["properties"]["params"]["additionalProperties"] = false;
    exchange["properties"]["result"] = answerSchema<typename T::Answer>(definitions);
    exchange["$defs"] = std::move(definitions);
    return exchange;
}

// "requests model" for "model/open".
std::string sectionOf(const std::string& method)
{
    const std::string prefix = method.substr(0, method.find('/'));
    return "requests " + (prefix == "shard" || prefix == "stage" ? "worker" : prefix);
}

// The rows of a table of members, each behind `column`.
std::string rowsBehind(const std::string& column, const std::string& table)
{
    std::istringstream lines(table);
    std::string rows, line;
    for (int at = 0; std::getline(lines, line); ++at)
        if (at > 1) rows += column + line.substr(1) + "\n";
    return rows;
}

// Documents have tables of their own.
template <class T>
std::string answerRows()
{
    if constexpr (std::same_as<T, Nothing>) return "| | -> null | | |\n";
    else if constexpr (*base::describedName<T> != '\0') return "";
    else {
        schema::MemberTables tables("; may be absent");
        tables.add<T>();
        return rowsBehind("| | ->", tables.structs().front().table);
    }
}

class Tables {
public:
    template <class T>
    void add()
    {
        schema::MemberTables members("; may be absent");
        members.add<T>();
        table(sectionOf(T::method), "| request | member | type | meaning |\n|---|---|---|---|\n") +=
            std::string("| `") + T::method + "` | | | " + T::meaning + " |\n" +
            rowsBehind("| |", members.structs().front().table) + answerRows<typename T::Answer>();
        for (const schema::DocumentedStruct& within : members.structs())
            if (!within.name.empty()) table(within.name, within.table);
    }

    [[nodiscard]] const std::vector<schema::DocumentedStruct>& all() const { return m_all; }

private:
    // That of this name, or a new one.
    std::string& table(const std::string& name, const std::string& beginning)
    {
        const auto known = std::ranges::find(m_all, name, &schema::DocumentedStruct::name);
        return known != m_all.end() ? known->table
                                    : m_all.emplace_back(schema::DocumentedStruct{name, beginning}).table;
    }

    std::vector<schema::DocumentedStruct> m_all;
};

}  // namespace

Value requestsSchema()
{
    Value schema = json::typed("object");
    forEachRequest([&]<class T>(const T*) { schema["properties"][T::method] = exchangeSchema<T>(); });
    schema["additionalProperties"] = false;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["$id"] = "https://hopscope.org/schemas/requests-1.schema.json";
    schema["title"] = "Hopscope requests: by method, the params and the result";
    return schema;
}

std::vector<schema::DocumentedStruct> requestTables()
{
    Tables tables;
    forEachRequest([&]<class T>(const T*) { tables.add<T>(); });
    return tables.all();
}

}  // namespace hopscope::protocol
