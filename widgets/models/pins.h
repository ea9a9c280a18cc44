#pragma once

// Labels of the user's pins, and the possible pins of a value, for menus and lists. The functions are pure.

#include <QString>
#include <vector>

#include "protocol/plan.h"

namespace hopscope::models {

// Returns the label in the history and in the list of pins: "store convs.0 relu", "run convs.1 gather source in stage
// 2".
QString pinLabel(const protocol::ModelRecord& model, const plan::Pin& pin);

struct PinRead {
    protocol::ValueId operand, made;  // made: computed from the operand
};

// The subject of a menu: a value, the hops whose stage can be chosen, and the operands that can be cut off.
struct PinPlace {
    protocol::ValueId value;
    std::vector<protocol::ValueId> hops;  // results of a gather or an aggregation
    std::vector<PinRead> reads;
};

// Returns a value with the operands of its own operator.
PinPlace placeOf(const protocol::ModelRecord& model, protocol::ValueId value);
// Returns the operands that an operator can read from a store: results of other operators that have rows and are not
// structure-only.
std::vector<PinRead> readsOf(const protocol::ModelRecord& model, protocol::OpId op);
bool isHop(const protocol::OpRecord& op);

struct PinChoice {
    QString group;  // the submenu; empty: none
    QString text, tip;
    plan::Pin pin;
    bool chosen = false;   // choosing it again removes it
    bool possible = true;  // false: the tip gives the reason
};

// Lists the choices in the order of the menu. `plan` gives the number of stages. If `optimum` is false, the strategy
// supports only pins that store or never store a value. The tips of the other possible choices then say that choosing
// them switches to the optimum.
std::vector<PinChoice> pinChoices(const protocol::ModelRecord& model, const protocol::PlanRecord& plan,
                                  const std::vector<plan::Pin>& pins, const PinPlace& place, bool optimum);
// Returns the reason why a value cannot be stored; empty if it can. The engine may have more reasons.
QString whyNotStored(const protocol::ModelRecord& model, protocol::ValueId value);
// Returns true if any pin mentions the value.
bool isPinned(const std::vector<plan::Pin>& pins, protocol::ValueId value);

}  // namespace hopscope::models
