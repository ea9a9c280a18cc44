#include "verify/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/temporary_file.h"
#include "graph/safetensors.h"
#include "verify/oracle_process.h"
#include "verify/sampled.h"

namespace hopscope::verify {

namespace {

constexpr double factor = 4, mostInDouble = 1e-3;

std::string number(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", value);
    return text;
}

// The largest distance of two tensors of one shape; infinite where only one is finite.
double distance(const base::TensorView& a, const base::TensorView& b, const std::optional<RowPairs>& rows)
{
    TensorError error;
    if (rows) compareRows(a, b, *rows, {}, error);
    else compareAll(a, b, {}, error);
    return error.maxAbsolute;
}

std::string offFromDouble(const Differing& output, double own, double staged)
{
    return output.name + ": the model amplifies rounding: its own result differs by up to " + number(own) +
           " from its result in float64, and " + output.of + " by up to " + number(staged) +
           "; a model saved in float64 can be verified";
}

std::string movesAsFar(const Differing& output, double own, double staged, base::DType dtype)
{
    const std::string way = dtype == base::DType::Float64 ? "" : "; a model saved in float64 can be verified";
    return output.name + ": the model amplifies rounding: its own result changes by up to " + number(own) +
           " when only the last digit of its inputs changes, and " + output.of + " differs by up to " + number(staged) +
           way;
}

// Both tensors have the rows of the reference.
std::optional<RowPairs> withinReference(std::optional<RowPairs> rows)
{
    if (rows) rows->staged = rows->reference;
    return rows;
}

}  // namespace

Rounding::Rounding(const Request& request, std::vector<std::string> data, std::int64_t memory,
                   const base::TensorMap& reference)
    : m_request(request),
      m_data(std::move(data)),
      m_memory(memory),
      m_reference(reference)
{}

base::Result<Rounding::Outputs> Rounding::compute(std::size_t way, const std::stop_token& stop) const
{
    const base::TemporaryFile output(m_request.scratchFolder, "-outputs.safetensors");
    json::Value asked = forwardRequest(m_request, m_data, output.path());
    if (way == inDouble) asked["inDouble"] = true;
    else asked["moved"] = static_cast<std::int64_t>(way);
    const base::Result<OracleOutcome> outcome = runOracle(oracleChild(m_request, m_memory), asked, stop);
    if (!outcome) return base::forward(outcome);
    if (outcome->end != OracleEnd::Done) return Outputs();
    base::Result<base::TensorMap> outputs = graph::mapSafetensors(output.path());
    if (!outputs) return base::forward(outputs);
    return Outputs(std::move(*outputs));
}

// Null where it cannot be computed so, or has a different shape then.
base::Result<const base::TensorView*> Rounding::result(std::size_t way, const std::string& output,
                                                       const std::stop_token& stop)
{
    if (!m_computed[way]) {
        base::Result<Outputs> computed = compute(way, stop);
        if (!computed) return base::forward(computed);
        m_computed[way] = std::move(*computed);
    }
    const Outputs& outputs = *m_computed[way];
    const auto found = outputs ? outputs->find(output) : base::TensorMap::const_iterator();
    if (!outputs || found == outputs->end() || found->second.shape != m_reference.at(output).shape) return nullptr;
    return &found->second;
}

base::Result<std::string> Rounding::explain(const Differing& output, const std::stop_token& stop)
{
    const auto reference = m_reference.find(output.name);
    if (reference == m_reference.end() || !base::isFloating(reference->second.dtype)) return std::string();
    const base::TensorView& own = reference->second;
    if (mismatch(output.staged, own, output.rows ? output.rows->dim : -1)) return std::string();
    const double difference = distance(output.staged, own, output.rows);
    const double allowed = toleranceFor({}, own.dtype).absolute;
    for (std::size_t way = 0; way < ways && std::isfinite(difference); ++way) {
        const base::Result<const base::TensorView*> other = result(way, output.name, stop);
        if (!other) return base::forward(other);
        if (*other == nullptr) continue;
        const double off = distance(own, **other, withinReference(output.rows));
        const bool explains = difference <= allowed + factor * off;
        if (way == inDouble && !explains) return std::string();
        if (!explains || !std::isfinite(off) || (way == inDouble && off > mostInDouble * largestIn(own))) continue;
        return way == inDouble ? offFromDouble(output, off, distance(output.staged, **other, output.rows))
                               : movesAsFar(output, off, difference, own.dtype);
    }
    return std::string();
}

base::Status explainAll(const std::vector<Differing>& outputs, Rounding& rounding, const std::stop_token& stop,
                        Explanation& explanation)
{
    for (const Differing& output : outputs) {
        if (!explanation.complete) break;
        const base::Result<std::string> found = rounding.explain(output, stop);
        if (!found) return base::forward(found);
        explanation.add(*found);
    }
    return {};
}

}  // namespace hopscope::verify
