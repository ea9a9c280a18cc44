#include "schema/contract.h"

#include <algorithm>

#include "analysis/roles/roles.h"
#include "plan/walkthrough.h"
#include "schema/comparison.h"
#include "schema/error.h"
#include "schema/forms.h"
#include "schema/graph_part.h"
#include "schema/inspect_forms.h"
#include "schema/journal.h"
#include "schema/member_tables.h"
#include "schema/plan_forms.h"
#include "schema/receptive_field.h"
#include "schema/report.h"
#include "schema/split.h"
#include "schema/stage_memory.h"
#include "schema/tensor.h"

namespace hopscope::schema {

namespace {

using json::Value;

constexpr std::size_t manyNames = 9;  // which a table does not list

std::string joined(const json::Array& names)
{
    std::string text;
    for (const Value& name : names) {
        if (!text.empty()) text += ", ";
        const std::string* const word = name.asString();
        text += word == nullptr ? "null" : word->empty() ? "empty" : "`" + *word + "`";
    }
    return text;
}

std::vector<std::string> typesOf(const Value& schema);

// "list of strings and nulls".
std::string listText(const Value& items)
{
    std::string text;
    for (const std::string& type : typesOf(items)) {
        if (type.starts_with("`")) return "list: " + type;
        text += text.empty() ? "list of " : " and ";
        text += type.starts_with("list") ? "lists" + type.substr(4) : type + "s";
    }
    return text;
}

std::vector<std::string> typesOf(const Value& schema)
{
    if (schema.find("$ref") != nullptr) return {"object"};
    if (schema.find("anyOf") != nullptr) return {"object", "null"};
    if (const Value* const names = schema.find("enum"))
        return {names->size() < manyNames ? joined(*names->asArray()) : "string"};
    const Value& type = *schema.find("type");
    std::vector<std::string> types;
    for (const Value& each : type.asArray() ? *type.asArray() : json::Array{type}) {
        const bool list = each == Value("array");
        types.push_back(!list ? *each.asString() : schema.find("items") ? listText(*schema.find("items")) : "list");
    }
    return types;
}

// "integer or null", "list of numbers", "`equal`, `different`": of a member's schema.
std::string typeText(const Value& schema)
{
    std::string text;
    for (const std::string& type : typesOf(schema)) text += (text.empty() ? "" : " or ") + type;
    return text;
}

class Writer {
public:
    // The object, as a document of this format.
    template <base::Described T>
    Value envelope(const std::string& format)
    {
        m_tables.add<T>();
        Value schema = json::objectSchema<T>(m_definitions);
        schema["properties"]["format"]["const"] = "hopscope-" + format;
        Value version = json::typed("string");
        version["pattern"] = "^1\\.[0-9]+$";
        schema["properties"]["version"] = std::move(version);
        for (const char* const each : {"format", "version"}) schema["required"].push(each);
        return schema;
    }

    Contract contract(Value schema, const std::string& format, const std::string& title, const std::string& page)
    {
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
        schema["$id"] = "https://hopscope.org/schemas/" + format + "-1.schema.json";
        schema["title"] = title;
        schema["$defs"] = m_definitions;
        return {format + "-1.schema.json", std::move(schema), page, m_tables.structs()};
    }

    template <base::Described T>
    Contract document(const std::string& format, const std::string& title, const std::string& page)
    {
        return contract(envelope<T>(format), format, title, page);
    }

    Value& definitions() { return m_definitions; }

private:
    Value m_definitions = Value::object();
    MemberTables m_tables{"; absent in older files"};
};

// Its own members, and the quick check on the sample.
Contract verificationContract()
{
    Writer writer;
    const Value sample = json::schemaOf<std::optional<Verification>>(writer.definitions());
    Contract contract = writer.document<Verification>("verification", "Hopscope verification", "format-report.md");
    contract.schema["properties"]["sample"] = sample;
    contract.schema["required"].push("sample");
    contract.structs.clear();  // they are those of the report
    return contract;
}

// A document with nothing but the error.
Contract errorContract()
{
    Writer writer;
    Value schema = json::typed("object");
    schema["properties"]["error"] = json::objectSchema<ErrorRecord>(writer.definitions());
    schema["required"].push("error");
    return writer.contract(std::move(schema), "error", "Hopscope error", "");
}

// The contract without the tables of T, which are on another page.
template <base::Described T>
Contract without(Contract contract)
{
    const auto others = Writer().document<T>("", "", "").structs;
    std::erase_if(contract.structs, [&](const DocumentedStruct& each) {
        return std::ranges::find(others, each.name, &DocumentedStruct::name) != others.end();
    });
    return contract;
}

Contract splitContract()
{
    return without<Verification>(
        Writer().document<Split>("schema", "Hopscope schema: a split for use by other programs", "format-schema.md"));
}

Contract comparisonContract()
{
    return without<Verification>(without<DivergenceRecord>(
        Writer().document<Comparison>("comparison", "Hopscope comparison of two model files", "format-comparison.md")));
}

Contract journalContract()
{
    Contract contract = Writer().document<JournalDocument>(
        "journal", "Hopscope journal: the conditions under which a run was begun (run.json)", "format-journal.md");
    contract.schema["properties"]["plan"]["pattern"] = "^[0-9a-f]{32}$";
    return contract;
}

// One of three kinds.
Contract findingsContract()
{
    Writer writer;
    Value schema = Value::object();
    const auto add = [&](const char* kind, Value one) {
        one["properties"]["kind"]["const"] = kind;
        one["required"].push("kind");
        schema["oneOf"].push(std::move(one));
    };
    add("divergence", writer.envelope<DivergenceRecord>("findings"));
    add("nan", writer.envelope<NonFiniteReport>("findings"));
    add("watch", writer.envelope<WatchReport>("findings"));
    return writer.contract(std::move(schema), "findings", "Hopscope findings of the debugger", "format-findings.md");
}

}  // namespace

std::string MemberTables::rowOf(const Value& properties, const base::Traits& field) const
{
    const char* const absent = field.presence == base::Presence::Always  ? ""
                               : field.presence == base::Presence::Later ? m_later
                                                                         : ", or absent";
    return std::string("| `") + field.name + "` | " + typeText(*properties.find(field.name)) + absent + " | " +
           field.meaning + " |\n";
}

std::string rolesTable()
{
    std::string text = "| role | the input holds |\n|---|---|\n";
    for (const analysis::RoleWord& word : analysis::roleWords)
        text += std::string("| `") + word.name + word.types + "` | " + word.meaning + " |\n";
    return text;
}

std::string strategiesTable()
{
    std::string text = "| strategy | heuristic | chooses the cuts |\n|---|---|---|\n";
    for (const base::StrategyTraits& strategy : base::strategies)
        text += std::string("| `") + strategy.name + "` | " + (strategy.rule ? "yes" : "no") + " | " +
                strategy.meaning + " |\n";
    return text;
}

std::string pinsTable()
{
    std::string text = "| pin | meaning |\n|---|---|\n";
    for (const base::PinTraits& kind : base::pinKinds) {
        const char* const parts = kind.third == base::PinThird::Consumer ? "u, v"
                                  : kind.third == base::PinThird::Stage  ? "h, s"
                                                                         : "v";
        text += std::string("| `[\"") + kind.name + "\", " + parts + "]` | " + kind.meaning + " |\n";
    }
    return text;
}

std::vector<Contract> contracts()
{
    return {
        errorContract(),
        Writer().document<InspectDocument>("inspect", "Hopscope inspect: the operators, values and stages of a model",
                                           "format-inspect.md"),
        Writer().document<PlanDocument>("plan", "Hopscope plan: stages and stored values", "format-plan.md"),
        Writer().document<Report>("report", "Hopscope report: what happened in a run", "format-report.md"),
        verificationContract(),
        splitContract(),
        journalContract(),
        Writer().document<ReceptiveField>("receptive-field", "Hopscope receptive field of a node",
                                          "format-receptive-field.md"),
        findingsContract(),
        comparisonContract(),
        Writer().document<GraphPart>("graph-part", "Hopscope part of a graph", "format-plan-answers.md"),
        Writer().document<StageMemoryRecord>("stage-memory", "Hopscope memory of a stage", "format-plan-answers.md"),
        Writer().document<plan::Walkthroughs>(
            "steps", "Hopscope steps: how the rules and the optimum arrive at their plans", "format-steps.md"),
        Writer().document<TensorSummary>("tensor", "Hopscope tensor: statistics and rows of a value",
                                         "format-tensor.md"),
    };
}

}  // namespace hopscope::schema
