#include "models/breakpoints.h"

#include <algorithm>

#include "models/labels.h"
#include "models/op_names.h"
#include "models/tr.h"

namespace hopscope::models {

namespace {

const QString stagePrefix = QStringLiteral("stage ");

// None if the model has no such place, or another operator there.
Target placeOf(const protocol::ModelRecord& model, const SavedBreakpoint& saved)
{
    if (saved.place.startsWith(stagePrefix)) {
        const int stage = saved.place.mid(stagePrefix.size()).toInt();
        return stage > 0 ? Target::stage(protocol::StageId(stage)) : Target();
    }
    const protocol::OpId op = model.findOp(saved.place.toStdString());
    if (!op.valid() || !model.ops[op].computes()) return {};
    const Target place = Target::op(op);
    return saved.name.isEmpty() || placeText(model, place) == saved.name ? place : Target();
}

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
    return opName(model, place.opId());
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
    return place.kind == Target::Kind::Stage ? stagePrefix + QString::number(place.index)
                                             : text(model.ops[place.opId()].id);
}

std::vector<SavedBreakpoint> saved(const protocol::ModelRecord& model, const std::vector<Breakpoint>& breakpoints)
{
    std::vector<SavedBreakpoint> all;
    for (const Breakpoint& each : breakpoints) {
        Breakpoint rest = each;
        rest.place = {};
        all.push_back({.place = placeId(model, each.place), .name = placeText(model, each.place), .rest = rest});
    }
    return all;
}

RestoredBreakpoints restored(const protocol::ModelRecord& model, const std::vector<SavedBreakpoint>& all)
{
    RestoredBreakpoints result;
    for (const SavedBreakpoint& each : all) {
        Breakpoint breakpoint = each.rest;
        breakpoint.place = placeOf(model, each);
        if (breakpoint.place.kind != Target::Kind::None) result.found.push_back(breakpoint);
        else result.lost.append(each.name.isEmpty() ? each.place : each.name);
    }
    return result;
}

}  // namespace hopscope::models
