#include "json/pin.h"

#include "json/names.h"

namespace hopscope::json {

namespace {

std::string shapeOf(base::PinKind kind)
{
    if (base::thirdOf(kind) == base::PinThird::Nothing) return "must be [kind, value]";
    const bool consumed = base::thirdOf(kind) == base::PinThird::Consumer;
    return std::string("must be [\"") + base::nameOf(kind) + "\", value, " + (consumed ? "consumer]" : "stage]");
}

std::size_t partsOf(base::PinKind kind) { return base::thirdOf(kind) == base::PinThird::Nothing ? 2 : 3; }

}  // namespace

std::optional<PinParts> readPin(const Reader& item)
{
    const std::vector<Reader> parts = item.items();
    if (item.ok() && parts.empty()) item.refuse("must be [kind, value] or [kind, value, consumer or stage]");
    if (!item.ok()) return std::nullopt;
    const auto kind = named<base::PinKind>(parts[0]);
    if (item.ok() && parts.size() != partsOf(kind)) item.refuse(shapeOf(kind));
    if (!item.ok()) return std::nullopt;
    return PinParts{
        .kind = kind, .value = parts[1], .third = parts.size() > 2 ? std::optional(parts[2]) : std::nullopt};
}

Value pinValue(base::PinKind kind, const std::string& value, Value third)
{
    Value item = Value::array();
    item.push(base::nameOf(kind));
    item.push(value);
    if (partsOf(kind) > 2) item.push(std::move(third));
    return item;
}

}  // namespace hopscope::json
