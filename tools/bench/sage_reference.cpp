#include "bench/sage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "graph/adjacency.h"
#include "graph/dataset.h"
#include "graph/npy.h"
#include "graph/safetensors.h"

namespace hopscope::bench {

namespace {

using base::ErrorCode;
using base::TensorMap;

constexpr std::int64_t chunkRows = 256, tileRows = 4, tileColumns = 16;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HOPSCOPE_WIDE __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define HOPSCOPE_WIDE
#endif

struct Layer {
    std::int64_t in = 0, out = 0, padded = 0;  // columns padded to whole tiles
    std::vector<double> left, right, bias;     // [in, padded], [in, padded], [padded]
    bool relu = false;
};

std::vector<double> transposed(const base::TensorView& weight, std::int64_t padded)
{
    const std::int64_t out = weight.shape[0], in = weight.shape[1];
    const auto* numbers = reinterpret_cast<const float*>(weight.data);
    std::vector<double> result(static_cast<std::size_t>(in * padded));
    for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t i = 0; i < in; ++i) result[static_cast<std::size_t>(i * padded + o)] = numbers[o * in + i];
    return result;
}

Layer readLayer(const TensorMap& weights, const std::string& name)
{
    const base::TensorView& left = weights.at(name + "lin_l.weight");
    const base::TensorView& bias = weights.at(name + "lin_l.bias");
    Layer layer;
    layer.in = left.shape[1];
    layer.out = left.shape[0];
    layer.padded = (layer.out + tileColumns - 1) / tileColumns * tileColumns;
    layer.left = transposed(left, layer.padded);
    layer.right = transposed(weights.at(name + "lin_r.weight"), layer.padded);
    layer.bias.assign(static_cast<std::size_t>(layer.padded), 0);
    std::copy_n(reinterpret_cast<const float*>(bias.data), layer.out, layer.bias.begin());
    return layer;
}

base::Result<std::vector<Layer>> readLayers(const std::string& path)
{
    const base::Result<TensorMap> weights = graph::mapSafetensors(path);
    if (!weights) return base::forward(weights);
    std::vector<Layer> layers;
    for (int i = 1; weights->contains("conv" + std::to_string(i) + ".lin_l.weight"); ++i)
        layers.push_back(readLayer(*weights, "conv" + std::to_string(i) + "."));
    if (layers.empty()) return base::fail(ErrorCode::Input, path + " holds no conv1.lin_l.weight");
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) layers[i].relu = true;
    return layers;
}

// tile += rows x weights: rows [tileRows, in], weights [in, padded] from a column on.
HOPSCOPE_WIDE void multiplyTile(const double* rows, const double* weights, std::int64_t in, std::int64_t padded,
                                double* tile)
{
    double sum[tileRows][tileColumns];
    std::memcpy(sum, tile, sizeof sum);
    for (std::int64_t k = 0; k < in; ++k)
        for (int r = 0; r < tileRows; ++r)
            for (int c = 0; c < tileColumns; ++c) sum[r][c] += rows[r * in + k] * weights[k * padded + c];
    std::memcpy(tile, sum, sizeof sum);
}

HOPSCOPE_WIDE void addFloats(const float* row, std::int64_t width, double* sum)
{
    for (std::int64_t i = 0; i < width; ++i) sum[i] += static_cast<double>(row[i]);
}

HOPSCOPE_WIDE void addDoubles(const double* row, std::int64_t width, double* sum)
{
    for (std::int64_t i = 0; i < width; ++i) sum[i] += row[i];
}

void accumulate(const float* row, std::int64_t width, double* sum) { addFloats(row, width, sum); }
void accumulate(const double* row, std::int64_t width, double* sum) { addDoubles(row, width, sum); }

struct Graph {
    std::int64_t nodes = 0, edges = 0;
    const std::int64_t* sources = nullptr;
    graph::Adjacency incoming;
};

struct Chunk {
    std::int64_t first = 0, last = 0;
    std::vector<double> mean, own;  // [chunkRows, in]; rows beyond the last stay whatever they are
};

template <class Number>
void gatherChunk(const Graph& graph, const Number* input, std::int64_t width, Chunk& chunk)
{
    for (std::int64_t v = chunk.first; v < chunk.last; ++v) {
        double* mean = chunk.mean.data() + (v - chunk.first) * width;
        double* own = chunk.own.data() + (v - chunk.first) * width;
        std::fill_n(mean, width, 0.0);
        std::fill_n(own, width, 0.0);
        accumulate(input + v * width, width, own);
        const std::int64_t begin = graph.incoming.begin(v), end = graph.incoming.end(v);
        graph.incoming.eachRow(begin, end, [&](std::int64_t, std::int64_t row) {
            accumulate(input + graph.sources[row] * width, width, mean);
        });
        for (std::int64_t i = 0; i < width && end > begin; ++i) mean[i] /= static_cast<double>(end - begin);
    }
}

void multiplyChunk(const Layer& layer, const Chunk& chunk, double* output)
{
    double tile[tileRows * tileColumns];
    const std::int64_t count = chunk.last - chunk.first;
    for (std::int64_t r = 0; r < count; r += tileRows)
        for (std::int64_t c = 0; c < layer.padded; c += tileColumns) {
            for (std::int64_t i = 0; i < tileRows; ++i)
                std::copy_n(layer.bias.data() + c, tileColumns, tile + i * tileColumns);
            multiplyTile(chunk.mean.data() + r * layer.in, layer.left.data() + c, layer.in, layer.padded, tile);
            multiplyTile(chunk.own.data() + r * layer.in, layer.right.data() + c, layer.in, layer.padded, tile);
            for (std::int64_t i = 0; i < std::min(tileRows, count - r); ++i)
                for (std::int64_t j = 0; j < std::min(tileColumns, layer.out - c); ++j) {
                    const double number = tile[i * tileColumns + j];
                    output[(chunk.first + r + i) * layer.out + c + j] = layer.relu ? std::max(number, 0.0) : number;
                }
        }
}

template <class Number>
void evaluateLayer(const Graph& graph, const Layer& layer, const Number* input, double* output, int threads)
{
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
        Chunk chunk;
        chunk.mean.resize(static_cast<std::size_t>(chunkRows * layer.in));
        chunk.own.resize(static_cast<std::size_t>(chunkRows * layer.in));
        for (;;) {
            chunk.first = next.fetch_add(chunkRows);
            if (chunk.first >= graph.nodes) return;
            chunk.last = std::min(chunk.first + chunkRows, graph.nodes);
            gatherChunk(graph, input, layer.in, chunk);
            multiplyChunk(layer, chunk, output);
        }
    };
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(work);
}

base::Result<Graph> readGraph(const TensorMap& inputs, const graph::Scratch& scratch, int threads)
{
    const auto x = inputs.find("x"), index = inputs.find("edge_index");
    const bool usable = x != inputs.end() && index != inputs.end() && x->second.contiguous() &&
                        index->second.contiguous() && x->second.dtype == base::DType::Float32 &&
                        index->second.dtype == base::DType::Int64;
    if (!usable)
        return base::fail(ErrorCode::Input, "the reference needs x as float32 and edge_index as int64, in C order");
    Graph graph;
    graph.nodes = x->second.shape[0];
    graph.edges = index->second.shape[1];
    graph.sources = reinterpret_cast<const std::int64_t*>(index->second.data);
    auto incoming = graph::Adjacency::build(graph.sources + graph.edges, 1, graph.edges, graph.nodes, scratch, threads);
    if (!incoming) return base::forward(incoming);
    graph.incoming = std::move(*incoming);
    return graph;
}

// Layer after layer; the last one writes into `output`.
base::Status evaluateLayers(const Graph& graph, const std::vector<Layer>& layers, const float* x, double* output,
                            const graph::Scratch& scratch, int threads)
{
    std::shared_ptr<std::byte> hidden;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        std::shared_ptr<std::byte> next;
        double* target = output;
        if (i + 1 < layers.size()) {
            auto bytes = scratch.allocate(std::max<std::int64_t>(graph.nodes * layers[i].out, 1) * 8);
            if (!bytes) return base::forward(bytes);
            next = std::move(*bytes);
            target = reinterpret_cast<double*>(next.get());
        }
        if (i == 0) evaluateLayer(graph, layers[i], x, target, threads);
        else evaluateLayer(graph, layers[i], reinterpret_cast<const double*>(hidden.get()), target, threads);
        hidden = std::move(next);
    }
    return {};
}

}  // namespace

base::Status evaluateSage64(const std::vector<std::string>& data, const std::string& weightsPath,
                            const std::string& output, const std::string& folder, int threads)
{
    if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const base::Result<TensorMap> inputs = graph::readData(data);
    if (!inputs) return base::forward(inputs);
    const base::Result<std::vector<Layer>> layers = readLayers(weightsPath);
    if (!layers) return base::forward(layers);
    const graph::Scratch scratch(folder);
    const base::Result<Graph> graph = readGraph(*inputs, scratch, threads);
    if (!graph) return base::forward(graph);
    base::Result<graph::NpyWriter> writer =
        graph::NpyWriter::create(output, base::DType::Float64, {graph->nodes, layers->back().out});
    if (!writer) return base::forward(writer);
    const auto* x = reinterpret_cast<const float*>(inputs->at("x").data);
    auto* result = reinterpret_cast<double*>(writer->data());
    if (base::Status done = evaluateLayers(*graph, *layers, x, result, scratch, threads); !done) return done;
    return writer->publish();
}

}  // namespace hopscope::bench
