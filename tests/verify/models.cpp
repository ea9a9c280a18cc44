#include "verify/models.h"

#include <doctest/doctest.h>
#include <torch/csrc/jit/api/module.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "analysis/analyse.h"
#include "analysis/roles/sample.h"
#include "loader/torch_model.h"
#include "placement/strategy.h"

namespace hopscope::testing {

const char* const gcnCode = R"(
def forward(self, x, edge_index):
    src = edge_index[0]
    dst = edge_index[1]
    ones = x.new_ones([src.size(0)])
    out_degree = x.new_zeros([x.size(0)]).scatter_add_(0, src, ones) + 1.0
    in_degree = x.new_zeros([x.size(0)]).scatter_add_(0, dst, ones) + 1.0
    norm = (out_degree.rsqrt().index_select(0, src) * in_degree.rsqrt().index_select(0, dst)).view(-1, 1)
    h = torch.matmul(x, self.w)
    h = torch.relu(torch.index_add(h, 0, dst, h.index_select(0, src) * norm))
    return torch.index_add(h, 0, dst, h.index_select(0, src) * norm)
)";

const char* const meanCentredCode = R"(
def forward(self, x, edge_index):
    h = torch.matmul(x, self.w)
    h = torch.index_add(h, 0, edge_index[1], h.index_select(0, edge_index[0]))
    return h - h.mean(0, keepdim=True)
)";

const char* const idTableCode = R"(
def forward(self, x, edge_index):
    h = torch.matmul(x, self.w) + torch.embedding(self.table, torch.arange(x.size(0)))
    return torch.index_add(h, 0, edge_index[1], h.index_select(0, edge_index[0]))
)";

const char* const edgeCode = R"(
def forward(self, x, edge_index):
    h = torch.matmul(x, self.w)
    h = torch.index_add(h, 0, edge_index[1], h.index_select(0, edge_index[0]))
    return h.index_select(0, edge_index[0]) * h.index_select(0, edge_index[1])
)";

std::size_t Folder::entries() const
{
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

void writeModel(const std::string& path, const std::string& code, int features, int width, int rows)
{
    at::manual_seed(7);
    torch::jit::Module module("__torch__.Model");
    module.register_parameter("w", at::randn({features, width}) * 0.3, false);
    module.register_parameter("table", at::randn({rows, width}), false);
    module.define(code);
    module.eval();
    module.save(path);
}

base::TensorMap makeGraph(std::int64_t nodes, int features, const std::vector<Edge>& edges, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    base::OwnedTensor x = base::allocate(base::DType::Float32, {nodes, features});
    base::OwnedTensor index = base::allocate(base::DType::Int64, {2, static_cast<std::int64_t>(edges.size())});
    for (std::int64_t i = 0; i < x.view.elements(); ++i) reinterpret_cast<float*>(x.bytes)[i] = normal(random);
    auto* ids = reinterpret_cast<std::int64_t*>(index.bytes);
    for (std::size_t e = 0; e < edges.size(); ++e) {
        ids[e] = edges[e].source;
        ids[edges.size() + e] = edges[e].destination;
    }
    return {{"x", x.view}, {"edge_index", index.view}};
}

std::vector<Edge> randomEdges(std::int64_t nodes, std::int64_t edges, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    const auto connected = static_cast<std::uint64_t>(std::max<std::int64_t>(nodes - 5, 1));
    const auto node = [&] { return static_cast<std::int64_t>(random() % connected); };
    std::vector<Edge> list;
    for (std::int64_t e = 0; e + 30 < edges; ++e) list.push_back({node(), node()});
    for (int e = 0; e < 20; ++e) list.push_back({node(), 0});
    for (int e = 0; e < 5; ++e) list.push_back(list[static_cast<std::size_t>(e)]);
    for (int e = 0; e < 5; ++e)
        list.push_back({e % static_cast<std::int64_t>(connected), e % static_cast<std::int64_t>(connected)});
    return list;
}

template <class T>
T must(base::Result<T> result)
{
    if (!result) FAIL(base::describe(result.error()));
    return std::move(*result);
}

Case::Case(const std::string& modelPath, base::TensorMap graph, const analysis::Options& options)
    : inputs(std::move(graph))
{
    model = std::make_unique<loader::Model>(must(loader::load(modelPath)));
    schema = must(analysis::inferSchema(inputs, {}));
    sample = must(analysis::cutSample(inputs, schema));
    walk = must(loader::walk(*model, sample));
    analysis = analysis::analyse(walk.program, schema, options);
    if (analysis.refusal) FAIL(base::describe(*analysis.refusal));
    plan = must(placement::makePlan(analysis, base::Strategy::Depth));
    const at::NoGradGuard noGradients;
    torch::jit::Module module = model->impl().module;
    const auto result = must(loader::flattenOutputs(module.forward(must(loader::assembleInputs(*model, inputs)))));
    for (const auto& [name, tensor] : result) outputs[name] = loader::toView(tensor.contiguous());
}

verify::Request Case::request(const Folder& folder) const
{
    verify::Request request;
    request.modelPath = model->info().path;
    request.model = model.get();
    request.walk = &walk;
    request.analysis = &analysis;
    request.plan = &plan;
    request.schema = &schema;
    request.inputs = &inputs;
    request.outputs = outputs;
    request.scratchFolder = folder.path;
    request.oracleProgram = oracleProgram();
    return request;
}

std::vector<std::string> oracleProgram() { return {HOPSCOPE_ORACLE_CHILD}; }

base::TensorView perturbed(const base::TensorView& view, std::int64_t element, float delta)
{
    base::OwnedTensor copy = base::allocate(view.dtype, view.shape);
    std::memcpy(copy.bytes, view.data, static_cast<std::size_t>(view.bytes()));
    auto* numbers = reinterpret_cast<float*>(copy.bytes);
    for (std::int64_t i = 0; i < view.elements(); ++i)
        if (element < 0 || element == i) numbers[i] += delta;
    return copy.view;
}

}  // namespace hopscope::testing
