#pragma once

// The table of requests (protocol/requests.h) for readers of other languages: written by tools/contract.

#include <vector>

#include "schema/contract.h"

namespace hopscope::protocol {

// An object {METHOD: {"params": .., "result": ..}}.
json::Value requestsSchema();

// A table for each page section: "requests model", with the methods before whose slash "model" stands.
std::vector<schema::DocumentedStruct> requestTables();

}  // namespace hopscope::protocol
