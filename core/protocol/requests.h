#pragma once

// All requests of clients except `initialize` and `shutdown`. Each is a struct of members and an entry, with its
// answer, in the table of its topic. The code that reads and writes them, the JSON Schema
// (resources/schemas/requests-1.schema.json) and the tables of docs/reference/protocol.md are derived from these
// tables.
//     To add a request, define a struct of members, its answer and an entry in the header of its topic, and the code
//     that answers it in app/engine/server.

#include "base/result.h"
#include "protocol/export_requests.h"
#include "protocol/model_requests.h"
#include "protocol/plan_requests.h"
#include "protocol/run_requests.h"
#include "protocol/worker_requests.h"
#include "json/reader.h"

namespace hopscope::protocol {

// The requests to `hopscope-engine serve`, except those to a run in progress (RunQuery).
using Query = Joined<ModelQueries, PlanQueries, ExportQueries, DebugQueries, StartQueries>;

// Return nullopt if there is no such method. The first error of the params, such as a missing or unknown member, stays
// in the reader.
std::optional<Query> readQuery(const std::string& method, const json::Reader& params);
std::optional<RunQuery> readRunQuery(const std::string& method, const json::Reader& params);
std::optional<WorkerQuery> readWorkerQuery(const std::string& method, const json::Reader& params);

std::string methodOf(const Query& query);
std::string methodOf(const RunQuery& query);
json::Value paramsOf(const Query& query);
json::Value paramsOf(const RunQuery& query);
std::int64_t runOf(const RunQuery& query);

// The answers that are not named documents.
using Answer = AnswersOf<Query, RunQuery, WorkerQuery>;
json::Value answerValue(const Answer& answer);

// Reads an answer to one of the window's requests. Fails with Input and a JSON pointer.
template <class T>
base::Result<T> readAnswer(const json::Value& answer);

}  // namespace hopscope::protocol
