#include "models/breakpoints.h"

#include <QCoreApplication>
#include <algorithm>

#include "models/labels.h"

namespace hopscope::models {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("Breakpoints", text); }

}  // namespace

Target breakPlace(const protocol::ModelRecord& model, const Target& selected)
{
    if (selected.kind == Target::Kind::Stage) return selected;
    protocol::OpId op = selected.opId();
    if (model.values.contains(selected.valueId())) op = model.values[selected.valueId()].producer;
    return model.ops.contains(op) && model.ops[op].computes() ? Target::op(op) : Target();
}

const Breakpoint* breakpointAt(const std::vector<Breakpoint>& breakpoints, const Target& place)
{
    const auto found = std::ranges::find(breakpoints, place, &Breakpoint::place);
    return found == breakpoints.end() ? nullptr : &*found;
}

std::vector<Breakpoint> toggled(std::vector<Breakpoint> breakpoints, const Target& place)
{
    const auto isThere = [&](const Breakpoint& each) { return each.place == place; };
    if (std::erase_if(breakpoints, isThere) == 0) breakpoints.push_back({.place = place});
    return breakpoints;
}

QString placeText(const protocol::ModelRecord& model, const Target& place)
{
    if (place.kind == Target::Kind::Stage) return tr("Stage %1").arg(place.index);
    const protocol::OpRecord& op = model.ops[place.opId()];
    return op.outputs.empty() ? opLabel(model, op) : valueLabel(model, op.outputs.front());
}

QString conditionText(const Breakpoint& breakpoint)
{
    switch (breakpoint.condition) {
    case BreakOn::Always: break;
    case BreakOn::NotFinite: return tr("on NaN or infinity");
    case BreakOn::OutsideRange: return tr("outside %1 to %2").arg(breakpoint.least).arg(breakpoint.most);
    case BreakOn::Node: return tr("in the batch of node %1").arg(breakpoint.node);
    }
    return {};
}

QString placeId(const protocol::ModelRecord& model, const Target& place)
{
    return place.kind == Target::Kind::Stage ? QStringLiteral("stage %1").arg(place.index)
                                             : text(model.ops[place.opId()].id);
}

}  // namespace hopscope::models
