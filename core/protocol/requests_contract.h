#pragma once

// Describes the requests (protocol/requests.h) for documentation and other languages; tools/contract writes the files.

#include <vector>

#include "schema/contract.h"

namespace hopscope::protocol {

// Returns the JSON Schema of an object {METHOD: {"params": .., "result": ..}}.
json::Value requestsSchema();

// Returns a table for each prefix of methods, and one for each named struct in the params of requests. "requests
// model" contains the methods that begin with "model/"; "requests worker" also contains those that begin with "shard/"
// and "stage/".
std::vector<schema::DocumentedStruct> requestTables();

}  // namespace hopscope::protocol
