#include "models/configurations.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

namespace hopscope::models {

namespace {

// Two settings of different kinds.
using Pair = std::pair<std::string, std::string>;

std::vector<std::string> settingsOf(const Configuration& c)
{
    const std::string batch = c.tile > 0    ? "tile" + std::to_string(c.tile)
                              : c.batch < 0 ? std::string("auto")
                                            : std::to_string(c.batch);
    return {
        base::nameOf(c.cuts),         batch, c.shuffled ? "shuffled" : "ordered", c.device, base::nameOf(c.processes),
        "g" + std::to_string(c.graph)};
}

std::set<Pair> pairsOf(const Configuration& c)
{
    const std::vector<std::string> settings = settingsOf(c);
    std::set<Pair> pairs;
    for (std::size_t i = 0; i < settings.size(); ++i)
        for (std::size_t j = i + 1; j < settings.size(); ++j)
            pairs.emplace(std::to_string(i) + settings[i], std::to_string(j) + settings[j]);
    return pairs;
}

std::set<Pair> pairsOf(const std::vector<Configuration>& all)
{
    std::set<Pair> pairs;
    for (const Configuration& c : all) pairs.merge(pairsOf(c));
    return pairs;
}

// The batches of a device: on a GPU the executor's own choice, too.
std::vector<std::int64_t> batchesOf(const Case& c, bool cpu)
{
    std::vector<std::int64_t> batches = c.batches;
    if (!cpu && std::ranges::find(batches, -1) == batches.end()) batches.push_back(-1);
    return batches;
}

void addOnCpu(const Case& c, Configuration one, std::vector<Configuration>& product)
{
    if (one.cuts == Cuts::Resident) return;
    std::vector<Configuration> sized;
    for (const std::int64_t batch : batchesOf(c, true)) {
        one.batch = batch;
        sized.push_back(one);
    }
    one.batch = -1;
    one.tile = 3;
    sized.push_back(one);
    for (Configuration& each : sized) {
        product.push_back(each);
        if (each.shuffled || each.graph > 0 || (each.batch != 7 && each.tile == 0)) continue;
        for (const Processes several : {Processes::Shards, Processes::Dealt}) {
            each.processes = several;
            product.push_back(each);
        }
    }
}

// On simulated GPUs, which are slow, half of the product: each pair of settings is still there.
bool left(const Configuration& one, std::size_t nth, std::size_t device)
{
    return (static_cast<std::size_t>(one.cuts) + nth + (one.shuffled ? 1 : 0) + one.graph) % 2 == device % 2;
}

void addOnGpu(const Case& c, Configuration one, std::size_t device, bool several, std::vector<Configuration>& product)
{
    const std::vector<std::int64_t> batches = batchesOf(c, false);
    for (std::size_t i = 0; i < batches.size(); ++i) {
        one.batch = batches[i];
        if (one.cuts == Cuts::Resident && one.batch < 0) continue;
        if (!several || left(one, i, device)) product.push_back(one);
    }
}

// A configuration that may be chosen, and the pairs that it would add.
struct Candidate {
    Configuration configuration;
    std::set<Pair> pairs;
};

std::vector<Candidate> shuffledBy(const std::string& name, std::vector<Configuration> product)
{
    std::mt19937_64 random(hashOf(name));
    std::vector<Candidate> candidates;
    for (std::size_t i = product.size(); i > 0; --i) {
        std::swap(product[i - 1], product[random() % i]);
        candidates.push_back({product[i - 1], pairsOf(product[i - 1])});
    }
    return candidates;
}

// The longer no model has had a pair, the sooner it comes. Some models may be in the way, since they do not run on GPUs.
std::size_t gainOf(const Candidate& candidate, const std::deque<std::set<Pair>>& recent)
{
    std::size_t gain = 0;
    for (const Pair& pair : candidate.pairs) {
        const auto last = std::ranges::find_if(recent, [&](const auto& pairs) { return pairs.contains(pair); });
        gain += last == recent.end() ? std::size_t(1) << pairsWithin : std::size_t(1) << (last - recent.begin());
    }
    return gain;
}

std::vector<Configuration> chooseFor(const std::string& name, const std::vector<Configuration>& product,
                                     std::size_t count, const std::deque<std::set<Pair>>& recent)
{
    std::vector<Candidate> candidates = shuffledBy(name, product);
    std::vector<Configuration> chosen;
    while (chosen.size() < count && !candidates.empty()) {
        const auto best =
            std::ranges::max_element(candidates, {}, [&](const Candidate& c) { return gainOf(c, recent); });
        const std::set<Pair> covered = std::move(best->pairs);
        chosen.push_back(best->configuration);
        candidates.erase(best);
        for (Candidate& each : candidates)
            std::erase_if(each.pairs, [&](const Pair& pair) { return covered.contains(pair); });
    }
    std::ranges::stable_sort(chosen, {}, &Configuration::graph);
    return chosen;
}

}  // namespace

std::string nameOf(const Configuration& configuration)
{
    std::string name;
    for (const std::string& setting : settingsOf(configuration)) name += (name.empty() ? "" : ",") + setting;
    return name;
}

std::vector<Configuration> productOf(const Case& c, const std::vector<std::string>& devices)
{
    std::vector<Configuration> product;
    const bool several = std::ranges::count_if(devices, [](const auto& d) { return d != "cpu"; }) > 1;
    for (std::size_t graph = 0; graph < c.graphs.size(); ++graph)
        for (std::size_t device = 0; device < devices.size(); ++device)
            for (const base::Named<Cuts>& cuts : namesOf(Cuts{}))
                for (const bool shuffled : {false, true}) {
                    if (shuffled && !c.shuffle) continue;
                    const Configuration one{
                        .cuts = cuts.value, .shuffled = shuffled, .device = devices[device], .graph = graph};
                    if (one.device == "cpu") addOnCpu(c, one, product);
                    else if (c.gpu) addOnGpu(c, one, device, several, product);
                }
    return product;
}

std::uint64_t hashOf(const std::string& text)
{
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash;
}

std::vector<Chosen> choose(const std::vector<Case>& cases, const std::vector<std::string>& devices,
                           std::optional<std::size_t> count)
{
    std::vector<Chosen> models;
    std::deque<std::set<Pair>> recent;  // the last model's first
    for (const Case& c : cases) {
        Chosen model{productOf(c, devices), {}};
        model.chosen = count ? chooseFor(c.name, model.product, *count, recent) : model.product;
        recent.push_front(pairsOf(model.chosen));
        if (recent.size() == pairsWithin) recent.pop_back();
        models.push_back(std::move(model));
    }
    return models;
}

std::string missingPair(const std::vector<Chosen>& models)
{
    constexpr std::size_t many = pairsWithin;
    std::vector<std::set<Pair>> possible, covered;
    for (const Chosen& model : models) {
        possible.push_back(pairsOf(model.product));
        covered.push_back(pairsOf(model.chosen));
    }
    for (std::size_t first = 0; first + many <= models.size(); ++first) {
        std::map<Pair, std::size_t> wanted;  // by how many models could have it
        for (std::size_t i = first; i < first + many; ++i)
            for (const Pair& pair : possible[i]) ++wanted[pair];
        for (std::size_t i = first; i < first + many; ++i)
            for (const Pair& pair : covered[i]) wanted.erase(pair);
        for (const auto& [pair, number] : wanted)
            if (number >= many / 2)
                return pair.first.substr(1) + " with " + pair.second.substr(1) + ", from model " +
                       std::to_string(first + 1) + " on";
    }
    return "";
}

}  // namespace hopscope::models
