#include "placement/pins.h"

#include <algorithm>
#include <map>

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::ValueId;
using plan::Pin;
using plan::PinKind;
using Values = std::set<ValueId>;
using Pinned = std::map<ValueId, PinKind>;  // the last pin on each value

constexpr std::size_t conflictLimit = 64;  // pins among which the smallest conflict is looked for

std::string place(const Analysis& a, ValueId v)
{
    const ir::Value& value = a.program.value(v);
    return value.producer.valid() ? ir::describeOp(a.program.op(value.producer)) : value.name;
}

const ir::NamedValue* resultOf(const Analysis& a, ValueId v)
{
    const auto it = std::ranges::find(a.program.outputs, v, &ir::NamedValue::value);
    return it == a.program.outputs.end() ? nullptr : &*it;
}

Values withPins(const Values& strategy, const Pinned& decisions)
{
    Values stored = strategy;
    for (const auto& [value, kind] : decisions) {
        if (kind == PinKind::Checkpoint) stored.insert(value);
        else stored.erase(value);
    }
    return stored;
}

bool writes(const plan::Plan& plan, ValueId v)
{
    return std::ranges::find(plan.checkpoints, v, &plan::Checkpoint::value) != plan.checkpoints.end();
}

// The first pinned value, in the order of execution, that nobody reads from a store.
ValueId firstUnread(const plan::Plan& plan, const Pinned& decisions)
{
    for (const auto& [value, kind] : decisions)
        if (kind == PinKind::Checkpoint && !writes(plan, value)) return value;
    return {};
}

// Pinned stores that no later stage would read become cuts, one at a time: each may bring the others their readers.
base::Result<plan::Plan> cut(const Analysis& a, const Values& stored, const Pinned& decisions)
{
    Values read;
    for (;;) {
        base::Result<plan::Plan> plan = evaluate(a, stored, read);
        if (!plan) return plan;
        const ValueId missing = firstUnread(*plan, decisions);
        if (!missing.valid()) return plan;
        if (!read.insert(missing).second)
            return base::fail(base::ErrorCode::Unsupported,
                              ir::valueName(missing) + " is not stored: no result of the model needs its rows", {},
                              place(a, missing));
    }
}

// Pins without which, taken one by one, the plan would still fail are dropped: what is left is in conflict.
Pinned conflict(const Analysis& a, const Values& strategy, Pinned decisions)
{
    if (decisions.size() > conflictLimit) return decisions;
    for (const auto& [value, kind] : Pinned(decisions)) {
        Pinned without = decisions;
        without.erase(value);
        if (!cut(a, withPins(strategy, without), without)) decisions = std::move(without);
    }
    return decisions;
}

base::Error explain(const Analysis& a, const Values& strategy, const Pinned& decisions, base::Error error)
{
    std::string text;
    for (const auto& [value, kind] : conflict(a, strategy, decisions))
        text += (text.empty() ? "" : ", ") + describePin(a, {kind, value});
    error.message = "no legal plan is left by: " + text + ". " + error.message;
    return error;
}

}  // namespace

base::Status checkPin(const Analysis& a, const Pin& pin)
{
    const std::string name = ir::valueName(pin.value);
    if (const std::string reason = whyNotStorable(a, pin.value); !reason.empty())
        return base::fail(base::ErrorCode::Unsupported, name + " cannot be stored: " + reason, {}, place(a, pin.value));
    const ir::NamedValue* const result = resultOf(a, pin.value);
    if (pin.kind == PinKind::NoCheckpoint && result != nullptr)
        return base::fail(base::ErrorCode::Unsupported,
                          name + " has to be stored: it is the model's result '" + result->name + "'", {},
                          place(a, pin.value));
    return {};
}

std::string describePin(const Analysis& a, const Pin& pin)
{
    const std::string what = pin.kind == PinKind::Checkpoint ? "store " : "never store ";
    return what + ir::valueName(pin.value) + " of " + place(a, pin.value);
}

std::string whyNotStorable(const Analysis& a, ValueId v)
{
    const ir::Value& value = a.program.value(v);
    if (value.origin == ir::Origin::Input) return "it is the input '" + value.name + "'";
    if (value.origin == ir::Origin::Parameter) return "it is the parameter '" + value.name + "'";
    if (value.origin == ir::Origin::Constant) return "it is a constant";
    if (value.kind != ir::ValueKind::Tensor) return "it is a number";
    if (a.info(v).structureOnly) return "it follows from the graph alone and is made once, before the first stage";
    if (a.info(v).sparse || value.layoutSparse) return "it is a sparse matrix";
    if (!a.hasRows(v)) return "it has no rows: it is kept anyway once it is computed";
    return {};
}

base::Result<plan::Plan> makePlan(const Analysis& a, Strategy strategy, const std::vector<Pin>& pins)
{
    if (pins.empty()) return makePlan(a, strategy);
    const base::Result<Values> stores = strategyStores(a, strategy);
    if (!stores) return base::forward(stores);
    Pinned decisions;
    for (const Pin& pin : pins) {
        if (const base::Status ok = checkPin(a, pin); !ok) return base::forward(ok);
        decisions.insert_or_assign(pin.value, pin.kind);
    }
    base::Result<plan::Plan> plan = cut(a, withPins(*stores, decisions), decisions);
    if (!plan) return tl::unexpected<base::Error>(explain(a, *stores, decisions, plan.error()));
    plan->strategy = strategyName(strategy);
    plan->pins = pins;
    return plan;
}

}  // namespace hopscope::placement
