#include "verify/sampled.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>

#include "base/temporary_file.h"
#include "base/units.h"
#include "graph/safetensors.h"
#include "verify/compare.h"
#include "verify/cut.h"
#include "verify/neighbourhood.h"
#include "verify/rounding.h"
#include "verify/targets.h"

namespace hopscope::verify {

namespace {

using base::ErrorCode;
using ir::SpaceId;
using Seeds = std::vector<Seed>;

struct Chosen {
    Seeds seeds;               // few in-edges first, so that small ones are grouped
    std::set<Seed> connected;  // those with in-edges
};

// The result of one group of seeds.
enum class GroupEnd : std::uint8_t { Compared, TooLarge, Unusable, Failed };

class Sampler {
public:
    Sampler(const Request& request, const Structure& structure, std::int64_t memory, Verification& verdict,
            Neighbourhood neighbourhood, std::vector<std::string> used)
        : m_request(request),
          m_estimate(*request.analysis),
          m_memory(memory),
          m_verdict(verdict),
          m_neighbourhood(std::move(neighbourhood)),
          m_cutter(*request.analysis, structure, *request.schema, *request.inputs, std::move(used),
                   request.scratchFolder)
    {
        for (const ir::NamedValue& output : request.analysis->program.outputs)
            verdict.outputs.push_back({.name = output.name});
    }

    base::Status run(const Chosen& chosen, const base::ProgressFn& progress, std::stop_token stop);
    // Why all differences are rounding, if they are.
    [[nodiscard]] std::string rounding() const { return m_explanation.whole(); }

private:
    base::Result<GroupEnd> group(const Seeds& seeds, std::stop_token stop);
    GroupEnd compare(const Seeds& seeds, const base::TensorMap& reference);
    GroupEnd compareOutput(const ir::NamedValue& output, const Seeds& seeds, const base::TensorView& reference,
                           TensorError& error);
    base::Status explain(const std::string& inputs, const base::TensorMap& reference, const std::stop_token& stop);
    [[nodiscard]] GroupEnd unusable(const std::string& why);
    void settle(const Seeds& seeds, GroupEnd end, std::deque<Seeds>& waiting);
    [[nodiscard]] bool late() const;

    const Request& m_request;
    ForwardMemory m_estimate;
    std::int64_t m_memory;
    Verification& m_verdict;
    Neighbourhood m_neighbourhood;
    Cutter m_cutter;
    std::vector<Differing> m_differing;  // in the last group
    Explanation m_explanation;
    std::int64_t m_covered = 0;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

bool Sampler::late() const
{
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - m_start;
    return elapsed.count() > m_request.sampledSeconds;
}

// A model that sizes its tables by the largest id gives fewer rows where the last node has no edge: such a neighbourhood
// says nothing. For every other model it is a failure of the oracle.
GroupEnd Sampler::unusable(const std::string& why)
{
    if (!m_request.analysis->maxIndexGuards.empty()) return GroupEnd::Unusable;
    m_verdict.reason = why;
    return GroupEnd::Failed;
}

GroupEnd Sampler::compareOutput(const ir::NamedValue& output, const Seeds& seeds, const base::TensorView& reference,
                                TensorError& error)
{
    const SpaceId table = m_request.analysis->rowSpace(output.value);
    RowPairs pairs;
    pairs.dim = m_request.analysis->rowDim(output.value);
    for (const auto& [seedTable, row] : seeds) {
        if (seedTable != table) continue;
        pairs.staged.push_back(row);
        pairs.reference.push_back(m_cutter.position(table, row));
    }
    if (pairs.staged.empty()) return GroupEnd::Compared;
    const base::TensorView& staged = m_request.outputs.at(output.name);
    const std::optional<std::string> difference = mismatch(staged, reference, pairs.dim);
    if (!difference && reference.shape[static_cast<std::size_t>(pairs.dim)] != m_neighbourhood.sizes().at(table))
        return unusable("the model's " + output.name + " does not have one row per row of its table");
    if (difference) {
        addDifference(error);
        m_explanation.add({});
        m_verdict.reason = output.name + ": " + *difference;
        return GroupEnd::Compared;
    }
    const std::int64_t before = error.different;
    compareRows(staged, reference, pairs, m_verdict.tolerance, error);
    if (error.different > before) m_differing.push_back({output.name, staged, std::move(pairs)});
    return GroupEnd::Compared;
}

base::Status Sampler::explain(const std::string& inputs, const base::TensorMap& reference, const std::stop_token& stop)
{
    Rounding rounding(m_request, {inputs}, m_memory, reference);
    return explainAll(std::exchange(m_differing, {}), rounding, stop, m_explanation);
}

GroupEnd Sampler::compare(const Seeds& seeds, const base::TensorMap& reference)
{
    const auto& outputs = m_request.analysis->program.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto found = reference.find(outputs[i].name);
        if (found == reference.end()) return unusable("the model has no output " + outputs[i].name);
        const GroupEnd end = compareOutput(outputs[i], seeds, found->second, m_verdict.outputs[i]);
        if (end != GroupEnd::Compared) return end;
    }
    return GroupEnd::Compared;
}

base::Result<GroupEnd> Sampler::group(const Seeds& seeds, std::stop_token stop)
{
    const auto fits = [&](const TableSizes& sizes) {
        return !stop.stop_requested() && m_estimate.peak(sizes) <= m_memory;
    };
    const bool small = m_neighbourhood.expand(seeds, m_request.analysis->depthOp, fits);
    if (stop.stop_requested()) return base::fail(ErrorCode::Cancelled, "the verification was cancelled");
    if (!small) return GroupEnd::TooLarge;
    m_neighbourhood.fillEmptyTables();
    const base::TemporaryFile inputs(m_request.scratchFolder, "-inputs.safetensors");
    const base::TemporaryFile output(m_request.scratchFolder, "-outputs.safetensors");
    if (base::Status written = m_cutter.write(m_neighbourhood, inputs.path()); !written) return base::forward(written);
    const base::Result<OracleOutcome> outcome =
        runOracle(oracleChild(m_request, m_memory), forwardRequest(m_request, {inputs.path()}, output.path()), stop);
    if (!outcome) return base::forward(outcome);
    if (outcome->end == OracleEnd::OutOfMemory || outcome->end == OracleEnd::TimedOut) return GroupEnd::TooLarge;
    if (outcome->end != OracleEnd::Done) return unusable(outcome->message);
    const base::Result<base::TensorMap> reference = graph::mapSafetensors(output.path());
    if (!reference) return base::forward(reference);
    const GroupEnd end = compare(seeds, *reference);
    if (const base::Status explained = explain(inputs.path(), *reference, stop); !explained)
        return base::forward(explained);
    return end;
}

// Too many at once are halved; too large alone are skipped.
void Sampler::settle(const Seeds& seeds, GroupEnd end, std::deque<Seeds>& waiting)
{
    if (end == GroupEnd::Compared) return;
    if (seeds.size() == 1) {
        ++m_verdict.coverage.skipped;
        return;
    }
    const auto middle = seeds.begin() + static_cast<std::ptrdiff_t>(seeds.size() / 2);
    waiting.push_front(Seeds(middle, seeds.end()));
    waiting.push_front(Seeds(seeds.begin(), middle));
}

base::Status Sampler::run(const Chosen& chosen, const base::ProgressFn& progress, std::stop_token stop)
{
    std::deque<Seeds> waiting{chosen.seeds};
    Coverage& coverage = m_verdict.coverage;
    while (!waiting.empty()) {
        const Seeds next = std::move(waiting.front());
        waiting.pop_front();
        if (progress) progress({"verifying sampled destinations", m_covered + coverage.skipped, coverage.chosen});
        if (late()) {
            coverage.skipped += static_cast<std::int64_t>(next.size());
            continue;
        }
        const base::Result<GroupEnd> end = group(next, stop);
        if (!end) return base::forward(end);
        if (*end == GroupEnd::Failed) return {};
        settle(next, *end, waiting);
        if (*end != GroupEnd::Compared) continue;
        m_covered += static_cast<std::int64_t>(next.size());
        coverage.withInEdges +=
            std::ranges::count_if(next, [&](const Seed& seed) { return chosen.connected.contains(seed); });
    }
    return {};
}

struct Candidate {
    std::int64_t degree = 0;
    Seed seed;
    auto operator<=>(const Candidate&) const = default;
};

base::Result<Chosen> choose(const Request& request, const Structure& structure, Coverage& coverage)
{
    std::set<SpaceId> tables;
    for (const ir::NamedValue& output : request.analysis->program.outputs)
        tables.insert(request.analysis->rowSpace(output.value));
    std::vector<Candidate> candidates;
    for (const SpaceId table : tables) {
        const std::int64_t rows = structure.sizes.at(table);
        const auto degrees = inDegrees(structure, table, request.scratchFolder);
        if (!degrees) return base::forward(degrees);
        const std::int64_t* numbers = asNumbers(*degrees);
        for (const std::int64_t row : chooseTargets(numbers, rows, request.targets, request.seed))
            candidates.push_back({numbers[row], {table, row}});
        coverage.rows += rows;
    }
    std::ranges::sort(candidates);
    Chosen chosen;
    for (const Candidate& candidate : candidates) {
        chosen.seeds.push_back(candidate.seed);
        if (candidate.degree > 0) chosen.connected.insert(candidate.seed);
    }
    coverage.chosen = static_cast<std::int64_t>(chosen.seeds.size());
    return chosen;
}

std::string coverageSentence(const Coverage& coverage)
{
    const std::string chosen = base::counted(coverage.chosen, "sampled destination");
    if (coverage.skipped == 0) return chosen;
    return base::grouped(coverage.chosen - coverage.skipped) + " of " + chosen +
           " (the neighbourhoods of the others are too large or unusable, or time ran out)";
}

}  // namespace

base::Status verifySampled(const Request& request, Structure& structure, std::int64_t memory,
                           const base::ProgressFn& progress, std::stop_token stop, Verification& verdict)
{
    verdict.coverage = {.method = CoverageMethod::Sampled};
    verdict.coverage.hops = request.analysis->depthOp;
    const base::Result<Chosen> chosen = choose(request, structure, verdict.coverage);
    if (!chosen) return base::forward(chosen);
    if (base::Status prepared = prepareRounds(structure, request.scratchFolder); !prepared) return prepared;
    base::Result<Neighbourhood> neighbourhood = Neighbourhood::create(structure, request.scratchFolder);
    if (!neighbourhood) return base::forward(neighbourhood);
    const base::Result<loader::Binding> binding = loader::bind(*request.model, *request.inputs);
    if (!binding) return base::forward(binding);
    Sampler sampler(request, structure, memory, verdict, std::move(*neighbourhood), binding->used);
    if (!chosen->seeds.empty())
        if (base::Status sampled = sampler.run(*chosen, progress, stop); !sampled) return sampled;
    conclude(verdict, coverageSentence(verdict.coverage), sampler.rounding());
    return {};
}

}  // namespace hopscope::verify
