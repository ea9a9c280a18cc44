#include "protocol/pin.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

bool isStoring(const std::string& kind) { return kind == "checkpoint" || kind == "no_checkpoint"; }

bool isKnown(const std::string& kind)
{
    return isStoring(kind) || kind == "cut" || kind == "hop_stage" || kind == "no_recompute";
}

std::size_t lengthOf(const std::string& kind) { return kind == "cut" || kind == "hop_stage" ? 3 : 2; }

}  // namespace

bool sameQuestion(const PinRecord& left, const PinRecord& right)
{
    if (left.value != right.value) return false;
    if (isStoring(left.kind)) return isStoring(right.kind);
    return left.kind == right.kind && left.consumer == right.consumer;
}

bool needsOptimum(const PinRecord& pin) { return !isStoring(pin.kind); }

bool mentions(const PinRecord& pin, const std::string& value) { return pin.value == value || pin.consumer == value; }

bool fits(const PinRecord& pin, const ModelRecord& model)
{
    return model.valueIndex(pin.value) >= 0 && (pin.kind != "cut" || model.valueIndex(pin.consumer) >= 0);
}

PinRecord readPin(const Reader& item)
{
    const std::vector<Reader> parts = item.items();
    if (item.ok() && parts.size() < 2) item.refuse("is not a pin: expected [kind, value]");
    if (!item.ok()) return {};
    PinRecord pin{parts[0].as<std::string>(), parts[1].as<std::string>()};
    if (item.ok() && !isKnown(pin.kind)) parts[0].refuse("is not known");
    if (item.ok() && parts.size() != lengthOf(pin.kind)) item.refuse("is not a pin of the kind " + pin.kind);
    if (!item.ok()) return {};
    if (pin.kind == "cut") pin.consumer = parts[2].as<std::string>();
    if (pin.kind == "hop_stage") pin.stage = parts[2].as<int>();
    if (item.ok() && pin.kind == "hop_stage" && pin.stage < 1) parts[2].refuse("is not a valid stage");
    return pin;
}

json::Value writePins(const std::vector<PinRecord>& pins)
{
    json::Value list = json::Value::array();
    for (const PinRecord& pin : pins) {
        json::Value item = json::Value::array();
        item.push(pin.kind);
        item.push(pin.value);
        if (pin.kind == "cut") item.push(pin.consumer);
        if (pin.kind == "hop_stage") item.push(pin.stage);
        list.push(std::move(item));
    }
    return list;
}

}  // namespace hopscope::protocol
