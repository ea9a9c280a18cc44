#pragma once

// Makes an analysed model from files: loads the model, reads the data, binds inputs, infers roles, cuts a sample, walks
// and analyses the model. All commands and requests that analyse a model use this code, so that they agree on ids,
// hashes and notes.

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
    base::TensorMap inputs;  // the inputs of forward; empty without data
    analysis::InputSchema schema;
    base::TensorMap sample;
    loader::Walk walk;
    analysis::Analysis analysis;
    std::map<analysis::SpaceId, std::int64_t> sizes;  // rows of the tables, as far as the data determine them
    std::map<std::string, std::string> hashes;        // "model", "roles", "data" (see hashInputs)
    std::vector<std::string> dataArguments;           // the locations of the data, as given
    graph::GivenFiles files;                          // the files of the model and of the data
    std::vector<std::string> notes;
    std::set<std::string> minorNotes = {};  // the notes about data that the model does not take
    bool reassociate = false;               // as in the options
    bool fromCode = false;  // `analysis` comes from the model's code, because the model could not or must not be walked

    [[nodiscard]] bool hasData() const { return !inputs.empty(); }
};

// Perform the three steps of prepare(). openModel() fills all members but `walk`, `analysis`, `sizes` and the hash of
// the data; walkModel() and analyseModel() fill the first three. If a model with data cannot be split, analyseModel()
// tries other roles, read from the model. A model that cannot be split is not an error; see `analysis.refusal`.
base::Result<Prepared> openModel(const ModelOptions& options, Reporter& reporter);
base::Status walkModel(Prepared& prepared, Reporter& reporter);
void analyseModel(Prepared& prepared, Reporter& reporter);

// Performs all three steps. With `tolerant`, a model that cannot be walked or must not be run becomes a Prepared with a
// refused analysis of the operators in its code (loader::readCode). So does one that fails on its sample, or has no
// sample or no supported forward. Any other failure is an error.
base::Result<Prepared> prepare(const ModelOptions& options, bool tolerant, Reporter& reporter);

// Walks the model again with the whole inputs as the sample, for branches with a different outcome on these. Returns
// false and changes nothing if the graph is too large.
inline constexpr const char* rewalkNote =
    "a branch took a different path than on the sample: the model was analysed again with the whole graph";
base::Result<bool> rewalk(Prepared& prepared, Reporter& reporter);

// Calls rewalk() and adds a note if a branch has a different outcome on the whole inputs than on the sample. If the
// graph is too large, nothing changes here, and the run reports the branch.
base::Status settleBranches(Prepared& prepared, const std::string& scratchFolder, Reporter& reporter,
                            std::stop_token stop);

// Adds the hash of the data. Linear in their bytes.
void hashInputs(Prepared& prepared, Reporter& reporter);

// Returns a note for each input with NaN or infinite numbers; with NanPolicy::Refuse, fails if there are any.
base::Result<std::vector<std::string>>
finiteNotes(const Prepared& prepared, const std::map<std::string, std::int64_t>& notFinite, base::NanPolicy policy);

// Adds the hash of the data and the notes of finiteNotes(). Linear in their bytes. Fails with Input if the policy
// refuses the data.
base::Status examineInputs(Prepared& prepared, base::NanPolicy policy, Reporter& reporter);

// Adds a note on the multiplications that --reassociate has moved, or that there were none. For commands without lints.
void noteReassociations(Prepared& prepared);

// Reports all notes added so far.
void tellNotes(const Prepared& prepared, Reporter& reporter);

}  // namespace hopscope::pipeline
