#pragma once

// Runs the process that computes shards of a run for a client, which assigns them (server/worker_front.h).

#include <string>

#include "pipeline/files/output_folder.h"
#include "pipeline/publishing/evaluate.h"
#include "protocol/requests.h"
#include "server/channel.h"

namespace hopscope::engine {

// The parameters of worker/open.
struct DealtRequest {
    pipeline::EvaluationRequest run;  // its shard has no dealer yet
    std::string output;
};
DealtRequest dealtRequestOf(const protocol::OpenRun& query);

// Answers worker/open and the requests about this run until the other end of the channel is closed, and returns the
// exit code. `folder` is the run's output, or the reason why it could not be opened.
int serveWorker(Channel& channel, DealtRequest request, base::Result<pipeline::OutputFolder> folder);

}  // namespace hopscope::engine
