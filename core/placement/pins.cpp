#include "placement/pins.h"

#include <algorithm>
#include <map>

#include "analysis/naming/value_names.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::ValueId;
using plan::Pin;
using plan::PinKind;
using Values = std::set<ValueId>;
using Pinned = std::map<ValueId, PinKind>;  // the last pin on each value

constexpr std::size_t conflictLimit = 64;  // pins among which the smallest conflict is looked for

std::string quoted(const Analysis& a, ValueId v) { return "'" + analysis::nameOfValue(a, v) + "'"; }

std::string place(const Analysis& a, ValueId v)
{
    const ir::Value& value = a.program.value(v);
    return value.producer.valid() ? ir::describeOp(a.program.op(value.producer)) : value.name;
}

std::string sourceOf(const Analysis& a, ValueId v)
{
    const ir::OpId op = a.program.value(v).producer;
    return op.valid() ? ir::describeSource(a.program.op(op).source) : std::string();
}

std::string pinInWords(const Analysis& a, const Pin& pin)
{
    return base::pinText(pin.kind, quoted(a, pin.value),
                         pin.consumer.valid() ? quoted(a, pin.consumer) : std::to_string(pin.stage.number));
}

const ir::NamedValue* resultOf(const Analysis& a, ValueId v)
{
    const auto it = std::ranges::find(a.program.outputs, v, &ir::NamedValue::value);
    return it == a.program.outputs.end() ? nullptr : &*it;
}

tl::unexpected<base::Error> unsupported(const Analysis& a, ValueId v, const std::string& message)
{
    return base::fail(base::ErrorCode::Unsupported, message, {}, place(a, v));
}

bool uses(const Analysis& a, ValueId consumer, ValueId operand)
{
    const ir::OpId op = a.program.value(consumer).producer;
    bool found = false;
    if (op.valid())
        ir::forEachOperand(a.program.op(op), [&](ir::Slot slot, ValueId v) {
            found = found || (v == operand && a.info(op).use(slot).use != analysis::Use::Shape);
        });
    return found;
}

bool hops(const Analysis& a, ValueId v)
{
    const analysis::OpKind kind = a.info(a.program.value(v).producer).kind;
    return kind == analysis::OpKind::Gather || kind == analysis::OpKind::Aggregate;
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

// The first pinned value, in the order of execution, that no stage reads from a store.
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
                              quoted(a, missing) + " is never stored: no output of the model depends on its rows", {},
                              place(a, missing));
    }
}

// Drops, one by one, the pins without which the plan still fails: the remaining ones are in conflict.
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
    const Pinned pins = conflict(a, strategy, decisions);
    for (const auto& [value, kind] : pins)
        text += (text.empty() ? "" : ", ") + describePin(a, {.kind = kind, .value = value});
    error.message = "no legal plan respects every pin: " + text + ". " + error.message;
    error.hint = pins.size() == 1 ? "remove this pin: " + text : "remove one of the pins";
    return error;
}

}  // namespace

base::Status checkPin(const Analysis& a, const Pin& pin)
{
    const bool stores = base::isStoring(pin.kind) || pin.consumer.valid();
    const auto name = [&] { return quoted(a, pin.value); };  // linear in the program
    if (const std::string reason = whyNotStorable(a, pin.value); !reason.empty())
        return unsupported(a, pin.value, name() + (stores ? " cannot be stored: " : " cannot be pinned: ") + reason);
    const ir::NamedValue* const result = resultOf(a, pin.value);
    if (pin.kind == PinKind::NoCheckpoint && result != nullptr)
        return unsupported(a, pin.value, name() + " must be stored: it is the output '" + result->name + "'");
    if (pin.kind == PinKind::Cut && !uses(a, pin.consumer, pin.value))
        return unsupported(a, pin.consumer, quoted(a, pin.consumer) + " is not computed from rows of " + name());
    if (pin.kind == PinKind::HopStage && !hops(a, pin.value))
        return unsupported(a, pin.value, name() + " is neither gathered nor aggregated");
    return {};
}

std::string describePin(const Analysis& a, const Pin& pin)
{
    const std::string source = sourceOf(a, pin.consumer.valid() ? pin.consumer : pin.value);
    return pinInWords(a, pin) + (source.empty() ? "" : " (" + source + ")");
}

std::vector<Pin> settled(const std::vector<Pin>& pins)
{
    std::map<ValueId, std::vector<Pin>> counting;
    std::vector<Pin> kept;
    for (std::size_t i = pins.size(); i-- > 0;) {
        std::vector<Pin>& later = counting[pins[i].value];
        if (std::ranges::any_of(later, [&](const Pin& p) { return plan::sameQuestion(p, pins[i]); })) continue;
        later.push_back(pins[i]);
        kept.push_back(pins[i]);
    }
    std::ranges::reverse(kept);
    return kept;
}

std::string whyNotStorable(const Analysis& a, ValueId v)
{
    const ir::Value& value = a.program.value(v);
    if (value.origin == ir::Origin::Input) return "it is the input '" + value.name + "'";
    if (value.origin == ir::Origin::Parameter) return "it is the parameter '" + value.name + "'";
    if (value.origin == ir::Origin::Constant) return "it is a constant";
    if (value.kind != ir::ValueKind::Tensor) return "it is a number";
    if (a.info(v).structureOnly)
        return "it depends on the graph structure only and is computed once, before the first stage";
    if (a.info(v).sparse || value.layoutSparse) return "it is a sparse matrix";
    if (!a.hasRows(v)) return "it has no rows and is kept after it has been computed";
    return {};
}

bool isStorable(const Analysis& a, ValueId v) { return a.hasRows(v) && whyNotStorable(a, v).empty(); }

base::Result<plan::Plan> makePlan(const Analysis& a, Strategy strategy, const std::vector<Pin>& pins)
{
    if (pins.empty()) return makePlan(a, strategy);
    const base::Result<Values> stores = strategyStores(a, strategy);
    if (!stores) return base::forward(stores);
    Pinned decisions;
    for (const Pin& pin : pins) {
        if (!base::isStoring(pin.kind))
            return base::fail(base::ErrorCode::Unsupported, "rules do not support this pin: " + describePin(a, pin),
                              "use --strategy optimal or local-search, or pin what is stored");
        if (const base::Status ok = checkPin(a, pin); !ok) return base::forward(ok);
        decisions.insert_or_assign(pin.value, pin.kind);
    }
    base::Result<plan::Plan> plan = cut(a, withPins(*stores, decisions), decisions);
    if (!plan) return tl::unexpected<base::Error>(explain(a, *stores, decisions, plan.error()));
    plan->strategy = strategy;
    plan->pins = pins;
    return plan;
}

}  // namespace hopscope::placement
