#pragma once

// Decisions of the user in words, and those that can be made about a value: what menus offer and lists show. Pure functions.

#include <QString>
#include <vector>

#include "protocol/plan.h"

namespace hopscope::models {

// "store convs.0 relu", "run convs.1 gather source in stage 2": as the history and the list of pins say it.
QString pinLabel(const protocol::ModelRecord& model, const plan::Pin& pin);

struct PinRead {
    protocol::ValueId operand, made;  // made with the operand
};

// What a menu is about: one value, hops whose stage can be chosen, and operands that can be cut off.
struct PinPlace {
    protocol::ValueId value;
    std::vector<protocol::ValueId> hops;  // made by a gather or an aggregation
    std::vector<PinRead> reads;
};

// A value with its own operator's operands.
PinPlace placeOf(const protocol::ModelRecord& model, protocol::ValueId value);
// Operands of an operator that can come from a store: results of operators, with rows.
std::vector<PinRead> readsOf(const protocol::ModelRecord& model, protocol::OpId op);
bool isHop(const protocol::OpRecord& op);

struct PinChoice {
    QString group;  // the submenu; empty: none
    QString text, tip;
    plan::Pin pin;
    bool chosen = false;   // choosing it again takes it away
    bool possible = true;  // else the tip says why not
};

// In the order of the menu. `plan` gives the number of stages; `optimum`: the strategy keeps to every kind of pin, else the
// tips say that choosing makes an optimum of it.
std::vector<PinChoice> pinChoices(const protocol::ModelRecord& model, const protocol::PlanRecord& plan,
                                  const std::vector<plan::Pin>& pins, const PinPlace& place, bool optimum);
// Why it cannot be chosen to be stored; empty: it can. The engine may have more reasons.
QString whyNotStored(const protocol::ModelRecord& model, protocol::ValueId value);
// Whether any pin speaks of it.
bool isPinned(const std::vector<plan::Pin>& pins, protocol::ValueId value);

}  // namespace hopscope::models
