#include "json/pin.h"

#include "json/names.h"

namespace hopscope::json {

namespace {

const char* shapeOf(base::PinKind kind)
{
    if (kind == base::PinKind::Cut) return "must be [\"cut\", value, consumer]";
    return kind == base::PinKind::HopStage ? "must be [\"hop_stage\", value, stage]" : "must be [kind, value]";
}

}  // namespace

std::optional<PinParts> readPin(const Reader& item)
{
    const std::vector<Reader> parts = item.items();
    if (item.ok() && parts.empty()) item.refuse("is not a pin: must be [kind, value]");
    if (!item.ok()) return std::nullopt;
    const auto kind = named<base::PinKind>(parts[0]);
    if (item.ok() && parts.size() != (base::hasThird(kind) ? 3 : 2)) item.refuse(shapeOf(kind));
    if (!item.ok()) return std::nullopt;
    return PinParts{
        .kind = kind, .value = parts[1], .third = parts.size() > 2 ? std::optional(parts[2]) : std::nullopt};
}

Value pinValue(base::PinKind kind, const std::string& value, Value third)
{
    Value item = Value::array();
    item.push(base::nameOf(kind));
    item.push(value);
    if (base::hasThird(kind)) item.push(std::move(third));
    return item;
}

}  // namespace hopscope::json
