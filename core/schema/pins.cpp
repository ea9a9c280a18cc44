#include "schema/pins.h"

#include <algorithm>
#include <array>

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;
using plan::PinKind;

constexpr std::array<PinKind, 5> kinds{PinKind::Checkpoint, PinKind::NoCheckpoint, PinKind::Cut, PinKind::HopStage,
                                       PinKind::NoRecompute};

ir::ValueId valueOf(const Reader& reader, const Names& names)
{
    const auto found = names.findValue(reader.as<std::string>());
    if (!found && reader.ok()) reader.refuse("is not a value of this model");
    return found.value_or(ir::ValueId());
}

int stageOf(const Reader& reader)
{
    const int stage = reader.as<int>();
    if (stage < 1 && reader.ok()) reader.refuse("must be at least 1");
    return stage;
}

const char* shapeOf(PinKind kind)
{
    if (kind == PinKind::Cut) return "must be [\"cut\", value, consumer]";
    return kind == PinKind::HopStage ? "must be [\"hop_stage\", value, stage]" : "must be [kind, value]";
}

plan::Pin readPin(const Reader& item, const Names& names)
{
    const std::vector<Reader> parts = item.items();
    if (item.ok() && parts.empty()) item.refuse("must be [kind, value]");
    if (!item.ok()) return {};
    const auto name = parts[0].as<std::string>();
    const auto* const kind = std::ranges::find(kinds, name, [](PinKind k) { return std::string(plan::pinName(k)); });
    if (kind == kinds.end()) {
        parts[0].refuse("is not a kind of pin");
        return {};
    }
    const bool three = *kind == PinKind::Cut || *kind == PinKind::HopStage;
    if (parts.size() != (three ? 3 : 2)) item.refuse(shapeOf(*kind));
    if (!item.ok()) return {};
    plan::Pin pin{*kind, valueOf(parts[1], names), {}, 0};
    if (*kind == PinKind::Cut) pin.consumer = valueOf(parts[2], names);
    if (*kind == PinKind::HopStage) pin.stage = stageOf(parts[2]);
    return pin;
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
    Value item = Value::array();
    item.push(plan::pinName(pin.kind));
    item.push(ir::valueName(pin.value));
    if (pin.kind == PinKind::Cut) item.push(ir::valueName(pin.consumer));
    if (pin.kind == PinKind::HopStage) item.push(pin.stage);
    return item;
}

Value writePins(const std::vector<plan::Pin>& pins)
{
    Value list = Value::array();
    for (const plan::Pin& pin : pins) list.push(writePin(pin));
    return list;
}

std::vector<plan::Pin> readPins(const Reader& list, const Names& names)
{
    std::vector<plan::Pin> pins;
    for (const Reader& item : list.items())
        if (item.ok()) pins.push_back(readPin(item, names));
    return pins;
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
