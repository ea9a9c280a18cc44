#pragma once

// From files to an analysed model: load the model, read the data, bind, infer roles, cut a sample, walk, analyse. Every
// command and every request goes through here, so that they agree on ids, hashes and notes.

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"
#include "base/result.h"
#include "base/tensor.h"
#include "executor/executor.h"
#include "graph/given_files.h"
#include "loader/loader.h"
#include "pipeline/options.h"
#include "pipeline/reporter.h"

namespace hopscope::pipeline {

struct Prepared {
    loader::Model model;
    base::TensorMap inputs;  // those that forward takes; empty without data
    analysis::InputSchema schema;
    base::TensorMap sample;
    loader::Walk walk;
    analysis::Analysis analysis;
    std::map<analysis::SpaceId, std::int64_t> sizes;  // rows of the tables, if the data determines them
    std::map<std::string, std::string> hashes;        // "model", "roles", "data" (see hashInputs)
    std::vector<std::string> dataArguments;           // where the data is, as given
    graph::GivenFiles files;                          // of the model and of the data
    std::vector<std::string> notes;
    std::set<std::string> minorNotes = {};  // those among `notes` about data that the model does not take
    bool reassociate = false;               // as the options say
    bool fromCode = false;  // `analysis` comes from the model's code, because the model could not be walked

    [[nodiscard]] bool hasData() const { return !inputs.empty(); }
};

// The three steps of prepare(). openModel() fills everything but `walk`, `analysis` and `sizes`; walkModel() and
// analyseModel() fill these. A model that cannot be split is not an error here: see `analysis.refusal`.
base::Result<Prepared> openModel(const ModelOptions& options, Reporter& reporter);
base::Status walkModel(Prepared& prepared, Reporter& reporter);
void analyseModel(Prepared& prepared, Reporter& reporter);

// Runs all three steps. If `tolerant` is set, a model that cannot be walked, fails, or has no sample becomes a
// Prepared with a refused analysis of the operators in its code (loader::readCode). Any other failure is an error.
base::Result<Prepared> prepare(const ModelOptions& options, bool tolerant, Reporter& reporter);

// Walks the model again with the whole inputs as the sample, for branches that went the other way on the sample.
// Returns false and changes nothing if the graph is too large for that.
inline constexpr const char* rewalkNote =
    "a branch took a different path than on the sample: the model was analysed again with the whole graph";
base::Result<bool> rewalk(Prepared& prepared, Reporter& reporter);

// Walks once more with the whole inputs where a branch goes the other way on them than on the sample, and notes it.
// If the graph is too large for that, nothing changes here, and the run reports the branch.
base::Status settleBranches(Prepared& prepared, const std::string& scratchFolder, Reporter& reporter,
                            std::stop_token stop);

// Adds the hash of the data, linear in its bytes.
void hashInputs(Prepared& prepared, Reporter& reporter);

// NaN and infinite numbers in the inputs, by input: a note each, or with Refuse an error.
base::Result<std::vector<std::string>>
finiteNotes(const Prepared& prepared, const std::map<std::string, std::int64_t>& notFinite, base::NanPolicy policy);

// Adds the hash of the data and these notes, linear in its bytes. Input if the policy refuses them.
base::Status examineInputs(Prepared& prepared, base::NanPolicy policy, Reporter& reporter);

// Adds what --reassociate has moved, or that there was nothing to move, for commands that show no lints.
void noteReassociations(Prepared& prepared);

// Reports all notes so far.
void tellNotes(const Prepared& prepared, Reporter& reporter);

}  // namespace hopscope::pipeline
