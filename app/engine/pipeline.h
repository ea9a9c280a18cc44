#pragma once

// From a command line to a plan: load the model, read the data, bind, infer roles, cut a sample, walk, analyse. All
// commands go through here, so that they agree on ids, hashes and notes.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/roles.h"
#include "arguments.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "session.h"

namespace hopscope::engine {

struct Prepared {
    loader::Model model;
    base::TensorMap inputs;  // those that forward takes; empty without --data
    analysis::InputSchema schema;
    base::TensorMap sample;
    loader::Walk walk;
    analysis::Analysis analysis;
    std::map<analysis::SpaceId, std::int64_t> sizes;  // rows of the tables, where the data gives them
    std::map<std::string, std::string> hashes;        // "model", "roles", "data" (see hashInputs)
    std::vector<std::string> dataArguments;           // --data, as given
    std::vector<std::string> notes;

    [[nodiscard]] bool hasData() const { return !inputs.empty(); }
};

// A model that cannot be walked is a Prepared with a refused, empty analysis where `tolerant` is set (for inspect), an
// error otherwise. Any other failure is an error.
base::Result<Prepared> prepare(const ModelOptions& options, bool tolerant, Session& session);

// Once more with the whole inputs as the sample: for branches that went the other way on the sample. Nothing changes if
// the graph is too large for that (false).
inline constexpr const char* rewalkNote =
    "a branch went the other way than on the sample: the model was analysed again with the whole graph";
base::Result<bool> rewalk(Prepared& prepared, Session& session);

// Adds the hash of the data, linear in its bytes.
void hashInputs(Prepared& prepared, Session& session);

// NaN and infinite numbers in the inputs: a note each, or with Refuse an error. Linear in the data.
base::Result<std::vector<std::string>> finiteNotes(const Prepared& prepared, executor::NanPolicy policy);
base::Status checkFinite(Prepared& prepared, executor::NanPolicy policy);  // adds them to prepared.notes

base::Result<std::string> readText(const std::string& path);

}  // namespace hopscope::engine
