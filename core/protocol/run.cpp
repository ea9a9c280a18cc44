#include "protocol/run.h"

#include "schema/error.h"
#include "schema/forms.h"

namespace hopscope::protocol {

using json::Reader;
using json::Value;

namespace {

// The "type" of an event is the name of its description.
Value eventValue(const RunEvent& event)
{
    return std::visit(
        []<class T>(const T& each) {
            Value item = json::written(each);
            item["type"] = base::describedName<T>;
            return item;
        },
        event);
}

template <class... Each>
void addEvent(const Reader& item, std::vector<std::variant<Each...>>& events)
{
    const auto type = item.get<std::string>("type");
    const auto addIf = [&]<class T>(const T*) {
        if (type == base::describedName<T>) events.push_back(json::readAs<T>(item));
    };
    (addIf(static_cast<const Each*>(nullptr)), ...);
}

}  // namespace

Value writeEvents(const RunEvents& events)
{
    Value params;
    params["run"] = events.run;
    params["state"] = base::nameOf(events.state);
    params["events"] = Value::array();
    for (const RunEvent& event : events.events) params["events"].push(eventValue(event));
    return params;
}

base::Result<RunEvents> readEvents(const json::Value& params)
{
    const Reader root(params, "run/events");
    RunEvents events;
    events.run = root.get<std::int64_t>("run");
    events.state = json::named<RunState>(root, "state");
    for (const Reader& item : root.items("events")) addEvent(item, events.events);
    if (!root.ok()) return base::forward(root.status());
    return events;
}

Value writeFinished(const RunFinished& finished)
{
    Value params;
    params["run"] = finished.run;
    if (finished.error) {
        params["error"] = schema::errorValue(*finished.error);
        return params;
    }
    params["folder"] = finished.folder;
    params["report"] = finished.report ? schema::reportValue(*finished.report) : Value();
    return params;
}

base::Result<RunFinished> readFinished(const json::Value& params)
{
    const Reader root(params, "run/finished");
    RunFinished finished;
    finished.run = root.get<std::int64_t>("run");
    const bool failed = root.has("error");
    if (failed) finished.error = schema::errorFrom(root.child("error"));
    else finished.folder = root.get<std::string>("folder");
    if (root.ok() && !failed) finished.reportText = json::write(root.child("report").value(), true);
    if (!root.ok()) return base::forward(root.status());
    if (failed) return finished;
    base::Result<schema::Report> report = schema::readReport(finished.reportText, "run/finished /report");
    if (!report) return base::forward(report);
    finished.report = std::move(*report);
    return finished;
}

}  // namespace hopscope::protocol
