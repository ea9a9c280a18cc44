#include "schema/pins.h"

#include "schema/stages.h"
#include "json/pin.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

ir::ValueId valueOf(const Reader& reader, const FindValue& find)
{
    const auto name = reader.as<std::string>();
    const auto found = find(name);
    if (!found && reader.ok())
        reader.refuse("is '" + name + "', which is not a value of this model: inspect --json lists the ids and labels");
    return found.value_or(ir::ValueId());
}

void checkModel(const Reader& root, const std::string& modelHash)
{
    const auto hash = root.maybe<std::string>("model_sha256");
    if (hash && root.ok() && *hash != modelHash)
        root.child("model_sha256").refuse("does not match: the pins were made for a different model file");
}

}  // namespace

Value writePin(const plan::Pin& pin)
{
    const Value third = pin.consumer.valid() ? Value(ir::valueName(pin.consumer)) : Value(pin.stage.number);
    return json::pinValue(pin.kind, ir::valueName(pin.value), third);
}

Value writePins(const std::vector<plan::Pin>& pins)
{
    Value list = Value::array();
    for (const plan::Pin& pin : pins) list.push(writePin(pin));
    return list;
}

plan::Pin readPin(const Reader& item, const FindValue& find)
{
    const std::optional<json::PinParts> parts = json::readPin(item);
    if (!parts) return {};
    plan::Pin pin{.kind = parts->kind, .value = valueOf(parts->value, find)};
    if (base::thirdOf(pin.kind) == base::PinThird::Consumer) pin.consumer = valueOf(*parts->third, find);
    if (base::thirdOf(pin.kind) == base::PinThird::Stage) pin.stage = readStage(*parts->third);
    return pin;
}

std::vector<plan::Pin> readPins(const Reader& list, const FindValue& find)
{
    std::vector<plan::Pin> pins;
    for (const Reader& item : list.items())
        if (item.ok()) pins.push_back(readPin(item, find));
    return pins;
}

std::vector<plan::Pin> readPins(const Reader& list, const Names& names)
{
    return readPins(list, [&](const std::string& name) { return names.findValue(name); });
}

base::Result<std::vector<plan::Pin>> readPinsFile(const std::string& text, const analysis::Analysis& analysis,
                                                  const std::string& file, const std::string& modelHash)
{
    const base::Result<Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    const Reader root(*document, file);
    root.only({"pins", "model_sha256"});
    checkModel(root, modelHash);
    std::vector<plan::Pin> pins;
    Names names(analysis);
    names.acceptValueNames(analysis);
    if (root.ok()) pins = readPins(root.child("pins"), names);
    if (!root.ok()) return base::forward(root.status());
    return pins;
}

}  // namespace hopscope::schema
