#include "protocol/messages_contract.h"

#include <sstream>
#include <utility>

#include "protocol/run.h"
#include "schema/forms.h"
#include "schema/machine_rates.h"
#include "schema/member_tables.h"
#include "schema/plan_answers.h"
#include "schema/plan_forms.h"

namespace hopscope::protocol {

namespace {

constexpr const char* later = "; may be absent";

// The first column has the type of the event.
template <class... Each>
schema::DocumentedStruct eventTable(const std::variant<Each...>*)
{
    schema::MemberTables tables(later);
    (tables.add<Each>(), ...);
    std::string text = "| `type` | member | type of the member | meaning |\n|---|---|---|---|\n";
    for (const auto& [name, table] : tables.structs()) {
        std::istringstream lines(table);
        std::string first = "| `" + name + "` ", line;
        for (int at = 0; std::getline(lines, line); ++at)
            if (at > 1) text += std::exchange(first, "| ") + line + "\n";
    }
    return {"events", text};
}

}  // namespace

std::vector<schema::DocumentedStruct> messageTables()
{
    schema::MemberTables rates(later);
    rates.add<schema::MachineRates>();
    std::vector<schema::DocumentedStruct> tables = rates.structs();
    tables.push_back(eventTable(static_cast<const RunEvent*>(nullptr)));
    return tables;
}

std::vector<schema::DocumentedStruct> planAnswerTables()
{
    schema::MemberTables tables(later);
    tables.add<schema::Prediction>();
    tables.add<schema::Explanation>();
    tables.add<schema::Repairs>();
    return tables.structs();
}

}  // namespace hopscope::protocol
