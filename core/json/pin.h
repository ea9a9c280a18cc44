#pragma once

// Reads and writes pins as documents, requests and files contain them: [kind, value], or [kind, value, consumer or
// stage] (base/choices.h).
// The caller decides whether the names in them stand for values of a model or nodes of an abstract instance.

#include <optional>
#include <string>

#include "base/choices.h"
#include "json/reader.h"

namespace hopscope::json {

struct PinParts {
    base::PinKind kind;
    Reader value;                 // a name
    std::optional<Reader> third;  // a cut: the name of the consumer; a hop stage: a number
};

// Reads a pin. Refuses values other than lists, a wrong number of items and unknown kinds, and returns nullopt then.
// The caller checks the names and the stage.
std::optional<PinParts> readPin(const Reader& item);

// Returns the JSON of a pin. `third` is omitted if the kind has none.
Value pinValue(base::PinKind kind, const std::string& value, Value third = {});

}  // namespace hopscope::json
