#pragma once

// Describes the requests (protocol/requests.h) for documentation and other languages; tools/contract writes the files.

#include <vector>

#include "schema/contract.h"

namespace hopscope::protocol {

// Returns an object {METHOD: {"params": .., "result": ..}}.
json::Value requestsSchema();

// Returns a table for each topic: "requests model" contains the methods that begin with "model/".
std::vector<schema::DocumentedStruct> requestTables();

}  // namespace hopscope::protocol
