#pragma once

// Pins as documents, requests and files write them:
//   ["checkpoint", v]   ["no_checkpoint", v]   ["cut", u, v]   ["hop_stage", v, stage]   ["no_recompute", v]
// The caller decides whether the names in them stand for values of a model or nodes of an abstract instance.

#include <optional>
#include <string>

#include "base/choices.h"
#include "json/reader.h"

namespace hopscope::json {

struct PinParts {
    base::PinKind kind;
    Reader value;                 // a name
    std::optional<Reader> third;  // of a cut: the name of the consumer; of a hop stage: a number
};

// Refuses another shape and a kind that is not known; then there is nothing.
std::optional<PinParts> readPin(const Reader& item);

// `third` is left out where the kind has none.
Value pinValue(base::PinKind kind, const std::string& value, Value third = {});

}  // namespace hopscope::json
