#pragma once

// A split as code that other programs run: Python, TorchScript, weights, schema and a runner, in a folder that stands
// alone (docs/guides/exporting.md). The IR alone defines the results of a plan; the code is compared with the model
// before it is published.

#include <map>
#include <string>

#include "base/result.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "schema/split.h"

namespace hopscope::exporter {

struct Request {
    const loader::Model* model = nullptr;
    const loader::Walk* walk = nullptr;
    const analysis::Analysis* analysis = nullptr;
    const plan::Plan* plan = nullptr;
    schema::Verification verification;  // of this plan; "equal"
    std::map<std::string, std::string> hashes;
    std::string tool;  // "hopscope 0.1.0"
};

// Everything in the folder but the weights, which are large.
struct Bundle {
    schema::Split split;                        // with the code's part
    std::map<std::string, std::string> python;  // by the name of the file
    std::string script;
};

// Deterministic. Fails with Unsupported, naming the operator, for a split that the code or the runner cannot express;
// with Usage for a program that --reassociate has changed.
base::Result<Bundle> write(const Request& request);

// The files of `bundle` in the folder `folder`, which must exist. The digest of the weights becomes one of the split's
// hashes. Fails with Resources if the disk is full, with Internal if LibTorch does not compile the code.
base::Status save(const Request& request, Bundle& bundle, const std::string& folder);

}  // namespace hopscope::exporter
