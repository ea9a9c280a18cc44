#pragma once

// Labels of the user's pins, and the possible pins of a value, for menus and lists. Pure functions.

#include <QString>
#include <vector>

#include "protocol/plan.h"

namespace hopscope::models {

// "store convs.0 relu", "run convs.1 gather source in stage 2": the label in the history and the list of pins.
QString pinLabel(const protocol::ModelRecord& model, const plan::Pin& pin);

struct PinRead {
    protocol::ValueId operand, made;  // made with the operand
};

// The subject of a menu: one value, hops whose stage can be chosen, and operands that can be cut off.
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
    bool chosen = false;   // choosing it again removes it
    bool possible = true;  // otherwise the tip gives the reason
};

// Lists the choices in the order of the menu. `plan` gives the number of stages; `optimum`: the strategy supports all
// kinds of pins, else the tips say that the choice switches to the optimum.
std::vector<PinChoice> pinChoices(const protocol::ModelRecord& model, const protocol::PlanRecord& plan,
                                  const std::vector<plan::Pin>& pins, const PinPlace& place, bool optimum);
// The reason why it cannot be stored; empty: it can. The engine may have more reasons.
QString whyNotStored(const protocol::ModelRecord& model, protocol::ValueId value);
// Whether any pin mentions it.
bool isPinned(const std::vector<plan::Pin>& pins, protocol::ValueId value);

}  // namespace hopscope::models
