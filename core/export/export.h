#pragma once

// Exports a split as code that other programs run: Python, TorchScript, weights, schema and a runner, in a
// self-contained folder (docs/guides/exporting.md). The code is compared with the model's operators on the sample
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
    schema::Verification verification;  // of this plan, with the verdict "equal"
    std::map<std::string, std::string> hashes;
    std::string tool;  // "hopscope 0.1.0"
};

// The schema and the code of the folder, without the weights, which are large.
struct Bundle {
    schema::Split split;                        // with the part `code`
    std::map<std::string, std::string> python;  // by file name
    std::string script;
};

// Writes a split as code. Deterministic. Fails with Unsupported, with the reason, if the code or the runner cannot
// express the split, with Usage if --reassociate has changed the program, and with Resources if memory runs out.
base::Result<Bundle> write(const Request& request);

// Writes all files of the export to `folder`, which must exist. Adds the digest of the weights to the hashes of the
// split. Fails with Resources if a file cannot be written, with Unsupported if a weight is not a dense tensor, with
// Usage if one is complex128, and with Internal if LibTorch does not compile the code.
base::Status save(const Request& request, Bundle& bundle, const std::string& folder);

}  // namespace hopscope::exporter
