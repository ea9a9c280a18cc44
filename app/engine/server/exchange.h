#pragma once

// What workers without a shared folder hand to each other, in requests and answers.

#include <map>
#include <optional>
#include <string>

#include "executor/journal.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::engine {

// `owner` of worker/open: {index, count}; none if it is missing.
std::optional<executor::Ownership> ownerOf(const json::Reader& params);
// `begun` of worker/open: {run, plan}, the texts of the files; empty if it is missing.
std::map<std::string, std::string> begunOf(const json::Reader& params);
// {value, list, file} of rows/export; with `digest`, or `own` instead, of rows/import.
executor::RowParcel parcelOf(const json::Reader& params, bool digest);
// `records` of records/import: lines of a journal.
std::vector<executor::Chunk> recordsOf(const json::Reader& params);

json::Value wantedValue(const executor::Exchanged& result);
json::Value parcelValue(const executor::Exchanged& result);
json::Value recordsValue(const executor::Exchanged& result);

}  // namespace hopscope::engine
