#pragma once

// Decisions of the user about a plan, as docs/protocol.md has them under "Plans".

#include <string>
#include <vector>

#include "protocol/model.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::protocol {

struct PinRecord {
    std::string kind;           // "checkpoint", "no_checkpoint", "cut", "hop_stage", "no_recompute"
    std::string value;          // of a cut: the operand
    std::string consumer = {};  // of a cut: the value whose operator takes the operand from a store
    int stage = 0;              // of a hop_stage
    bool operator==(const PinRecord&) const = default;
};

// Both answer one question, so that only the later counts: whether a value is stored, where it is gathered.
bool sameQuestion(const PinRecord& left, const PinRecord& right);
// Only optimal plans support it: rules decide stored values only.
bool needsOptimum(const PinRecord& pin);
bool mentions(const PinRecord& pin, const std::string& value);
bool fits(const PinRecord& pin, const ModelRecord& model);  // the model has what it names

// Refuses what is no pin, at its place in the document.
PinRecord readPin(const json::Reader& item);
json::Value writePins(const std::vector<PinRecord>& pins);

}  // namespace hopscope::protocol
