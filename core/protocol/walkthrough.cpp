#include "protocol/walkthrough.h"

#include "schema/stages.h"
#include "json/names.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

ValueId valueFrom(const Reader& name, const ModelRecord& model)
{
    const ValueId value = model.findValue(name.as<std::string>());
    if (!value.valid()) name.refuse("is not a value of this model");
    return value;
}

MovedOp movedFrom(const Reader& item, const ModelRecord& model)
{
    const Reader name = item.child("op");
    const MovedOp moved{.op = model.findOp(name.as<std::string>()), .stages = schema::readStages(item.child("stages"))};
    if (!moved.op.valid()) name.refuse("is not an operator of this model");
    return moved;
}

WalkStep stepFrom(const Reader& item, const ModelRecord& model)
{
    WalkStep step{.kind = json::named<base::WalkKind>(item, "kind"), .moved = {}, .stored = {}};
    for (const Reader& moved : item.items("moved")) step.moved.push_back(movedFrom(moved, model));
    if (step.kind == base::WalkKind::Store) step.stored = valueFrom(item.child("stored"), model);
    return step;
}

ColouringRecord colouringFrom(const Reader& item, const ModelRecord& model)
{
    ColouringRecord colouring{
        .cost = item.get<double>("cost"), .stored = {}, .missing = item.maybe<std::string>("missing")};
    for (const Reader& value : item.items("stored")) colouring.stored.push_back(valueFrom(value, model));
    return colouring;
}

}  // namespace

base::Result<Walkthroughs> readWalkthroughs(const json::Value& result, const ModelRecord& model)
{
    const Reader root(result, "steps");
    Walkthroughs all{.unit = json::named<base::Unit>(root, "unit"), .ways = {}, .colouring = {}};
    for (const Reader& item : root.items("ways")) {
        Walkthrough way{.strategy = json::named<base::Strategy>(item, "strategy"), .steps = {}};
        for (const Reader& step : item.items("steps")) way.steps.push_back(stepFrom(step, model));
        all.ways.push_back(std::move(way));
    }
    if (root.has("colouring")) all.colouring = colouringFrom(root.child("colouring"), model);
    if (!root.ok()) return base::forward(root.status());
    return all;
}

}  // namespace hopscope::protocol
