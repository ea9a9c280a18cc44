#pragma once

// Everything that must not change a model's numbers, as one point of a product: which cuts, how many destinations a batch
// has, in which order, in tiles or not, computed by how many processes, on which device and which graph.
//
// A model has some 200 of them. choose() takes a few of each, so that ten models in a row cover all pairs of settings; which
// ones depends on the models and their names alone, so that a tree has one answer.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rules.h"
#include "models/cases.h"

namespace hopscope::models {

// Values below Time are positions in base::rules.
enum class Cuts : std::uint8_t {
    Time = base::rules.size(),  // optimal in time
    Bytes,                      // optimal in bytes
    Pinned,                     // the depth rule's with one more value stored
    Resident,                   // the depth rule's, with all that can stay on the GPU
};

constexpr auto namesOf(Cuts)
{
    constexpr auto others = std::to_array<base::Named<Cuts>>(
        {{Cuts::Time, "time"}, {Cuts::Bytes, "bytes"}, {Cuts::Pinned, "pinned"}, {Cuts::Resident, "resident"}});
    std::array<base::Named<Cuts>, base::rules.size() + others.size()> names{};
    for (std::size_t at = 0; at < base::rules.size(); ++at)
        names.at(at) = {static_cast<Cuts>(at), base::nameOf(base::rules.at(at))};
    std::ranges::copy(others, names.begin() + base::rules.size());
    return names;
}

enum class Processes : std::uint8_t {
    One,
    Shards,  // two processes with a part each
    Dealt,   // two that are told what to compute
};

constexpr auto namesOf(Processes)
{
    return std::to_array<base::Named<Processes>>(
        {{Processes::One, "one"}, {Processes::Shards, "shards"}, {Processes::Dealt, "dealt"}});
}

struct Configuration {
    Cuts cuts{};
    std::int64_t batch = 0;  // as in Case::batches
    bool shuffled = false;
    std::int64_t tile = 0;  // where the batch is the executor's choice, on a CPU
    Processes processes = Processes::One;
    std::string device = "cpu";
    std::size_t graph = 0;

    bool operator==(const Configuration&) const = default;
};

// "depth,7,ordered,cpu,one,g0"; in tiles of three rows "depth,tile3,shuffled,cpu,shards,g0". As --configuration takes it.
std::string nameOf(const Configuration& configuration);

// Devices as "cpu,cuda:0": all configurations that a model has on them.
std::vector<Configuration> productOf(const Case& c, const std::vector<std::string>& devices);

// FNV-1a: the same everywhere.
std::uint64_t hashOf(const std::string& text);

constexpr std::size_t pairsWithin =
    10;  // models in a row that cover all pairs of settings, with twelve configurations each

// All configurations of each model, or `count` of them, ordered by graph: those that cover most pairs, first of all the pairs
// that no model has had for longest. Which one of several as good ones: by the name. O(models x count x product).
struct Chosen {
    std::vector<Configuration> product, chosen;
};
std::vector<Chosen> choose(const std::vector<Case>& cases, const std::vector<std::string>& devices,
                           std::optional<std::size_t> count);

// A pair of settings that at least half of `pairsWithin` models in a row could have together, and none of them has in what was
// chosen (some models do not run on GPUs: one alone among them cannot cover all of a GPU's pairs). Empty: there is none.
std::string missingPair(const std::vector<Chosen>& models);

}  // namespace hopscope::models
