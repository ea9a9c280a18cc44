#pragma once

// Reads and writes instances and placements as JSON (docs/reference/placement-instance.md).

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimiser/placement.h"
#include "json/json.h"

namespace hopscope::optimiser {

// Reads one case object, or a document of them: {"format": "placement-cases/1", "cases": [..], "random_cases": [..]}.
// Unknown members are refused. Those that only describe a case (title, seed_figure, why, depth, expect, baselines,
// literal_colouring, reduced_candidates) and "conventions" are ignored. All instances that are returned pass check().
// Fails with Input, naming the place in the document.
base::Result<std::vector<Instance>> readInstances(const json::Value& document, const std::string& file);

// Returns one case object, from which readInstances() reads an equivalent instance.
json::Value writeInstance(const Instance& instance);

// Returns the member "plan", with one object per stage {stage, hops, compute_D, compute_F, read_D, read_F, write};
// entries of frontier rows are "value" where there is one type, "value@type" otherwise.
json::Value writePlacement(const Instance& instance, const Placement& placement);

// Reads the member "plan", for tests and tools. The cost is evaluated, not read. Fails with Input on names and types
// that the instance does not have, and with Unsupported if the placement is not legal, apart from pins and budget.
base::Result<Placement> readPlacement(const Instance& instance, const json::Value& plan, const std::string& file);

}  // namespace hopscope::optimiser
