#include "graph/generate.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/units.h"
#include "graph/chunks.h"
#include "graph/edge_draw.h"
#include "graph/random.h"
#include "graph/safetensors.h"
#include "graph/symmetric.h"

namespace hopscope::graph {

namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kChunk = 1 << 16;                     // even: two features come from one draw
constexpr std::int64_t kMostSymmetricNodes = 4'000'000'000;  // pairs are numbered in 64 bits

base::Status refuse(const std::string& why) { return fail(ErrorCode::Usage, why); }

base::Status checkSortingMemory(std::int64_t edges)
{
    const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    const double needed = 16.0 * static_cast<double>(edges);
    if (needed <= memory) return {};
    return fail(ErrorCode::Resources,
                "sorting the edges of a symmetric graph needs " + base::formatBytes(needed) +
                    ", but this machine has " + base::formatBytes(memory),
                "ask for fewer edges, or for fewer nodes of a grid, star or path");
}

base::Status checkSymmetric(const GenerateOptions& options, bool random)
{
    const std::int64_t n = options.nodes;
    if (n > kMostSymmetricNodes) return refuse("a symmetric graph has at most 4,000,000,000 nodes");
    const auto most = static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n > 0 ? n - 1 : 0);
    if (random && static_cast<std::uint64_t>(options.edges) > most)
        return refuse(
            "a graph has at most N * (N - 1) directed edges without self-loops: with N = " + std::to_string(n) +
            " these are " + std::to_string(most) + ", not " + std::to_string(options.edges));
    return checkSortingMemory(random ? options.edges : 4 * n);
}

base::Status check(const GenerateOptions& options)
{
    const bool random =
        options.kind == GraphKind::Rmat || options.kind == GraphKind::Sbm || options.kind == GraphKind::ErdosRenyi;
    if (options.nodes < 0 || options.edges < 0 || options.features < 0)
        return refuse("nodes, edges and features cannot be negative");
    if (options.nodes > std::int64_t{1} << 48U) return refuse("a generated graph has at most 2^48 nodes");
    if (random && options.edges > 0 && options.nodes == 0) return refuse("a graph without nodes has no edges");
    if (options.communities < 0 || options.communities > std::max<std::int64_t>(options.nodes, 1))
        return refuse("the number of communities must be between 0 and the number of nodes");
    if (!(options.inside >= 0 && options.inside <= 1))
        return refuse("the share of edges inside communities must be between 0 and 1");
    return options.symmetric ? checkSymmetric(options, random) : base::Status{};
}

base::Status writeFeatures(const SafetensorsWriter& file, const GenerateOptions& options, const Work& work)
{
    const std::uint64_t key = streamKey(options.seed, 2);
    const std::int64_t count = options.nodes * options.features;
    return forEachChunk(work, "writing x", count, kChunk, [&](std::int64_t begin, std::int64_t end) {
        std::array<float, kChunk> values;
        for (std::int64_t i = begin; i < end; i += 2) {
            const std::uint64_t bits = scatter(key + static_cast<std::uint64_t>(i) * kGolden);
            values[static_cast<std::size_t>(i - begin)] = normalFromWord(static_cast<std::uint32_t>(bits));
            values[static_cast<std::size_t>(i - begin) + 1] = normalFromWord(static_cast<std::uint32_t>(bits >> 32U));
        }
        return file.put("x", begin * 4, values.data(), static_cast<std::size_t>(end - begin) * 4);
    });
}

using EdgeAt = std::function<Edge(std::int64_t)>;

base::Status writeEdges(const SafetensorsWriter& file, std::int64_t count, const EdgeAt& edgeAt, const Work& work)
{
    return forEachChunk(work, "writing edge_index", count, kChunk, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> sources, targets;
        for (std::int64_t i = begin; i < end; ++i) {
            const Edge edge = edgeAt(i);
            sources.push_back(edge.source);
            targets.push_back(edge.target);
        }
        const std::size_t bytes = sources.size() * sizeof(std::int64_t);
        auto written = file.put("edge_index", begin * 8, sources.data(), bytes);
        return written ? file.put("edge_index", (count + begin) * 8, targets.data(), bytes) : written;
    });
}

base::Status writeFile(const GenerateOptions& options, const std::string& path, std::int64_t edges,
                       const EdgeAt& edgeAt, const Work& work)
{
    auto file = SafetensorsWriter::create(
        path, {{.name = "x", .dtype = base::DType::Float32, .shape = {options.nodes, options.features}},
               {.name = "edge_index", .dtype = base::DType::Int64, .shape = {2, edges}}});
    if (!file) return base::forward(file);
    if (auto written = writeEdges(*file, edges, edgeAt, work); !written) return written;
    if (auto written = writeFeatures(*file, options, work); !written) return written;
    if (work.stop.stop_requested()) return cancelled();
    return file->publish();
}

}  // namespace

base::Result<GraphKind> parseGraphKind(const std::string& name)
{
    if (const std::optional<GraphKind> kind = base::fromName<GraphKind>(name)) return *kind;
    return fail(ErrorCode::Usage, "'" + name + "' is not a kind of graph", "choose " + base::listNames<GraphKind>());
}

base::Status generate(const GenerateOptions& options, const std::string& path, const base::ProgressFn& progress,
                      std::stop_token stop)
{
    if (auto checked = check(options); !checked) return checked;
    const Work work{.threads = options.threads > 0 ? options.threads : base::hardwareThreads(),
                    .progress = progress,
                    .stop = std::move(stop)};
    const EdgeDraw draw(options);
    if (!options.symmetric) return writeFile(options, path, draw.count(), draw, work);
    const auto keys = drawSymmetric(options, draw, work);
    if (!keys) return base::forward(keys);
    const auto nodes = static_cast<std::uint64_t>(options.nodes);
    const auto edgeAt = [&](std::int64_t i) {
        const std::uint64_t key = (*keys)[static_cast<std::size_t>(i)];
        return Edge{static_cast<std::int64_t>(key % nodes), static_cast<std::int64_t>(key / nodes)};
    };
    return writeFile(options, path, static_cast<std::int64_t>(keys->size()), edgeAt, work);
}

}  // namespace hopscope::graph
