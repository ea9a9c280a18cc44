#pragma once

// Small models and graphs for the verification's tests.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/analysis.h"
#include "analysis/roles/roles.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "support/temporary_folder.h"
#include "verify/verify.h"

namespace hopscope::testing {

struct Folder : test::TemporaryFolder {
    [[nodiscard]] std::size_t entries() const;
};

// Writes a TorchScript file whose forward is `code`, with a weight `w` [features, width] and a table `table` [rows, width].
void writeModel(const std::string& path, const std::string& code, int features, int width, int rows = 1);

// Codes of two-layer models.
extern const char* const gcnCode;          // norms from degrees by source and destination
extern const char* const meanCentredCode;  // subtracts the mean of all nodes
extern const char* const idTableCode;      // adds a row of `table` per node number
extern const char* const edgeCode;         // one row per edge

struct Edge {
    std::int64_t source, destination;
};
// Normal features, the edges given.
base::TensorMap makeGraph(std::int64_t nodes, int features, const std::vector<Edge>& edges, std::uint64_t seed);
// A few isolated nodes at the end, a hub (node 0), self-loops and duplicate edges.
std::vector<Edge> randomEdges(std::int64_t nodes, std::int64_t edges, std::uint64_t seed);

// Everything that a Request points to.
struct Case {
    Case(const std::string& modelPath, base::TensorMap graph, const analysis::Options& options = {});
    // Outputs are forward's own, in this process: what a perfect staged run would give.
    [[nodiscard]] verify::Request request(const Folder& folder) const;
    base::TensorMap inputs, sample, outputs;
    analysis::InputSchema schema;
    std::unique_ptr<loader::Model> model;
    loader::Walk walk;
    analysis::Analysis analysis;
    plan::Plan plan;
};

// The child's command.
std::vector<std::string> oracleProgram();
// A copy of a float32 tensor with `delta` added to one element, or to all (element -1).
base::TensorView perturbed(const base::TensorView& view, std::int64_t element, float delta);

}  // namespace hopscope::testing
