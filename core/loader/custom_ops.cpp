#include "loader/custom_ops.h"

#include <torch/csrc/jit/runtime/operator.h>
#include <torch/headeronly/version.h>
#include <torch/library.h>

#include <mutex>
#include <set>

namespace hopscope::loader {

namespace {

using at::Tensor;
using OptTensor = std::optional<Tensor>;
using OptInt = std::optional<int64_t>;

// The index laid along `dim` and repeated over the other dimensions of src.
Tensor alongSource(Tensor index, const Tensor& src, int64_t dim)
{
    if (index.dim() == 1)
        for (int64_t i = 0; i < dim; ++i) index = index.unsqueeze(0);
    while (index.dim() < src.dim()) index = index.unsqueeze(-1);
    return index.expand_as(src);
}

Tensor target(const Tensor& src, const Tensor& index, int64_t dim, const OptTensor& out, const OptInt& size,
              double fill)
{
    if (out) return *out;
    auto sizes = src.sizes().vec();
    sizes[static_cast<std::size_t>(dim)] = size ? *size : index.numel() > 0 ? index.max().item<int64_t>() + 1 : 0;
    return at::full(sizes, fill, src.options());
}

Tensor scatterSum(const Tensor& src, const Tensor& index, int64_t rawDim, const OptTensor& out, const OptInt& size)
{
    const int64_t dim = rawDim < 0 ? rawDim + src.dim() : rawDim;
    return target(src, index, dim, out, size, 0).scatter_add(dim, alongSource(index, src, dim), src);
}

Tensor scatterMul(const Tensor& src, const Tensor& index, int64_t rawDim, const OptTensor& out, const OptInt& size)
{
    const int64_t dim = rawDim < 0 ? rawDim + src.dim() : rawDim;
    return target(src, index, dim, out, size, 1).scatter_reduce(dim, alongSource(index, src, dim), src, "prod", true);
}

Tensor scatterMean(const Tensor& src, const Tensor& index, int64_t rawDim, const OptTensor& out, const OptInt& size)
{
    const int64_t dim = rawDim < 0 ? rawDim + src.dim() : rawDim;
    const Tensor along = alongSource(index, src, dim);
    const Tensor sum = target(src, index, dim, out, size, 0).scatter_add(dim, along, src);
    const Tensor count = at::zeros_like(sum).scatter_add(dim, along, at::ones_like(src)).clamp_min(1);
    return src.is_floating_point() ? sum / count : sum.div(count, "floor");
}

// The extreme per target and the position it came from; targets without a source: 0 and the number of sources.
std::tuple<Tensor, Tensor> scatterExtreme(const Tensor& src, const Tensor& index, int64_t rawDim, const OptTensor& out,
                                          const OptInt& size, const char* which)
{
    const int64_t dim = rawDim < 0 ? rawDim + src.dim() : rawDim;
    const Tensor along = alongSource(index, src, dim);
    const Tensor best = target(src, index, dim, out, size, 0).scatter_reduce(dim, along, src, which, out.has_value());
    std::vector<int64_t> shape(static_cast<std::size_t>(src.dim()), 1);
    shape[static_cast<std::size_t>(dim)] = src.size(dim);
    const Tensor position = at::arange(src.size(dim), along.options()).view(shape).expand_as(src);
    const Tensor none = at::full_like(position, src.size(dim));
    const Tensor hit = at::where(best.gather(dim, along) == src, position, none);
    const Tensor where = at::full(best.sizes(), src.size(dim), along.options());
    return {best, where.scatter_reduce(dim, along, hit, "amin", true)};
}

std::tuple<Tensor, Tensor> scatterMin(const Tensor& src, const Tensor& index, int64_t dim, const OptTensor& out,
                                      const OptInt& size)
{
    return scatterExtreme(src, index, dim, out, size, "amin");
}

std::tuple<Tensor, Tensor> scatterMax(const Tensor& src, const Tensor& index, int64_t dim, const OptTensor& out,
                                      const OptInt& size)
{
    return scatterExtreme(src, index, dim, out, size, "amax");
}

// Feature by feature, the element that has `rank` in its group when the group is sorted; 0 for empty groups.
Tensor selectRank(const Tensor& rank, const Tensor& index, const Tensor& src)
{
    std::vector<int64_t> column(static_cast<std::size_t>(src.dim()), 1);
    column[0] = -1;
    const Tensor counts = at::bincount(index, {}, rank.size(0));
    const Tensor empty = counts == 0;
    TORCH_CHECK(((rank >= 0) & (rank < counts)).logical_or(empty).all().item<bool>(),
                "a quantile lies outside of its group of messages");
    std::vector<int64_t> shape = src.sizes().vec();
    shape[0] = rank.size(0);
    if (src.size(0) == 0) return at::zeros(shape, src.options());
    const auto [values, byValue] = src.sort(0);
    const Tensor groups = index.view(column).expand_as(src).take_along_dim(byValue, 0);
    const Tensor sorted = values.take_along_dim(std::get<1>(groups.sort(true, 0, false)), 0);
    const Tensor rows = (counts.cumsum(0) - counts + rank).clamp(0, src.size(0) - 1);
    return sorted.index_select(0, rows).masked_fill(empty.view(column), 0);
}

// [groups, width, ..]: the messages of each group in their order, as many as fit, and zeros.
Tensor padGroups(const Tensor& counts, const Tensor& index, const Tensor& src, int64_t width)
{
    const auto [groups, order] = index.to(at::kLong).sort(true, 0, false);
    const Tensor own = at::bincount(groups, {}, counts.size(0));
    const Tensor place = at::arange(groups.size(0), groups.options()) - (own.cumsum(0) - own).index_select(0, groups);
    const int64_t rows = counts.size(0) * width;
    const Tensor to = at::where(place < width, groups * width + place, rows);
    std::vector<int64_t> shape = src.sizes().vec();
    shape[0] = rows + 1;
    const Tensor all = at::zeros(shape, src.options()).index_copy(0, to, src.index_select(0, order)).narrow(0, 0, rows);
    shape[0] = width;
    shape.insert(shape.begin(), counts.size(0));
    return all.view(shape);
}

struct StubSchema {
    const char* space;
    const char* schema;
};

constexpr StubSchema kStubs[] = {
    {"torch_scatter", "segment_sum_csr(Tensor src, Tensor indptr, Tensor? out) -> Tensor"},
    {"torch_scatter", "segment_mean_csr(Tensor src, Tensor indptr, Tensor? out) -> Tensor"},
    {"torch_scatter", "segment_min_csr(Tensor src, Tensor indptr, Tensor? out) -> (Tensor, Tensor)"},
    {"torch_scatter", "segment_max_csr(Tensor src, Tensor indptr, Tensor? out) -> (Tensor, Tensor)"},
    {"torch_scatter", "segment_sum_coo(Tensor src, Tensor index, Tensor? out, int? dim_size) -> Tensor"},
    {"torch_scatter", "segment_mean_coo(Tensor src, Tensor index, Tensor? out, int? dim_size) -> Tensor"},
    {"torch_scatter", "segment_min_coo(Tensor src, Tensor index, Tensor? out, int? dim_size) -> (Tensor, Tensor)"},
    {"torch_scatter", "segment_max_coo(Tensor src, Tensor index, Tensor? out, int? dim_size) -> (Tensor, Tensor)"},
    {"torch_scatter", "gather_csr(Tensor src, Tensor indptr, Tensor? out) -> Tensor"},
    {"torch_scatter", "gather_coo(Tensor src, Tensor index, Tensor? out) -> Tensor"},
    {"torch_scatter", "cuda_version() -> int"},
    {"torch_sparse", "cuda_version() -> int"},
    {"torch_sparse", "ind2ptr(Tensor ind, int M) -> Tensor"},
    {"torch_sparse", "ptr2ind(Tensor ptr, int E) -> Tensor"},
    {"torch_sparse", "non_diag_mask(Tensor row, Tensor col, int M, int N, int k) -> Tensor"},
    {"torch_sparse", "spmm_sum(Tensor? row, Tensor rowptr, Tensor col, Tensor? value, Tensor? colptr, "
                     "Tensor? csr2csc, Tensor mat) -> Tensor"},
    {"torch_sparse", "spmm_mean(Tensor? row, Tensor rowptr, Tensor col, Tensor? value, Tensor? rowcount, "
                     "Tensor? colptr, Tensor? csr2csc, Tensor mat) -> Tensor"},
    {"torch_sparse", "spmm_min(Tensor rowptr, Tensor col, Tensor? value, Tensor mat) -> (Tensor, Tensor)"},
    {"torch_sparse", "spmm_max(Tensor rowptr, Tensor col, Tensor? value, Tensor mat) -> (Tensor, Tensor)"},
    {"torch_sparse", "spspmm_sum(Tensor rowptrA, Tensor colA, Tensor? valueA, Tensor rowptrB, Tensor colB, "
                     "Tensor? valueB, int K) -> (Tensor, Tensor, Tensor?)"},
    {"torch_sparse", "random_walk(Tensor rowptr, Tensor col, Tensor start, int walk_length) -> Tensor"},
    {"torch_sparse", "saint_subgraph(Tensor idx, Tensor rowptr, Tensor row, Tensor col) -> (Tensor, Tensor, Tensor)"},
    {"torch_sparse", "sample_adj(Tensor rowptr, Tensor col, Tensor idx, int num_neighbors, bool replace) -> "
                     "(Tensor, Tensor, Tensor, Tensor)"},
    {"torch_cluster", "cuda_version() -> int"},
    {"torch_cluster", "fps(Tensor src, Tensor ptr, Tensor ratio, bool random_start) -> Tensor"},
    {"torch_cluster", "graclus(Tensor rowptr, Tensor col, Tensor? weight) -> Tensor"},
    {"torch_cluster", "grid(Tensor pos, Tensor size, Tensor? start, Tensor? end) -> Tensor"},
    {"torch_cluster", "knn(Tensor x, Tensor y, Tensor? ptr_x, Tensor? ptr_y, int k, bool cosine, int num_workers) -> "
                      "Tensor"},
    {"torch_cluster", "nearest(Tensor x, Tensor y, Tensor ptr_x, Tensor ptr_y) -> Tensor"},
    {"torch_cluster", "radius(Tensor x, Tensor y, Tensor? ptr_x, Tensor? ptr_y, float r, int max_num_neighbors, "
                      "int num_workers, bool ignore_same_index) -> Tensor"},
    {"torch_spline_conv", "cuda_version() -> int"},
    {"torch_spline_conv", "spline_basis(Tensor pseudo, Tensor kernel_size, Tensor is_open_spline, int degree) -> "
                          "(Tensor, Tensor)"},
    {"torch_spline_conv", "spline_weighting(Tensor x, Tensor weight, Tensor basis, Tensor weight_index) -> Tensor"},
    {"pyg", "cuda_version() -> int"},
    {"pyg", "index_sort(Tensor input, int? max=None) -> (Tensor, Tensor)"},
    {"pyg", "segment_matmul(Tensor input, Tensor ptr, Tensor other) -> Tensor"},
    {"pyg", "grouped_matmul(Tensor[] input, Tensor[] other) -> Tensor[]"},
    {"pyg", "sampled_op(Tensor left, Tensor right, Tensor? left_index, Tensor? right_index, str fn) -> Tensor"},
    {"pyg", "scatter_sum(Tensor src, Tensor index, int dim=-1, Tensor? out=None, int? dim_size=None) -> Tensor"},
    {"pyg", "scatter_mul(Tensor src, Tensor index, int dim=-1, Tensor? out=None, int? dim_size=None) -> Tensor"},
    {"pyg", "scatter_mean(Tensor src, Tensor index, int dim=-1, Tensor? out=None, int? dim_size=None) -> Tensor"},
    {"pyg",
     "scatter_min(Tensor src, Tensor index, int dim=-1, Tensor? out=None, int? dim_size=None) -> (Tensor, Tensor)"},
    {"pyg",
     "scatter_max(Tensor src, Tensor index, int dim=-1, Tensor? out=None, int? dim_size=None) -> (Tensor, Tensor)"},
    {"pyg", "segment_sum_coo(Tensor src, Tensor index, Tensor? out=None, int? dim_size=None) -> Tensor"},
    {"pyg", "segment_mean_coo(Tensor src, Tensor index, Tensor? out=None, int? dim_size=None) -> Tensor"},
    {"pyg", "segment_min_coo(Tensor src, Tensor index, Tensor? out=None, int? dim_size=None) -> (Tensor, Tensor)"},
    {"pyg", "segment_max_coo(Tensor src, Tensor index, Tensor? out=None, int? dim_size=None) -> (Tensor, Tensor)"},
    {"pyg", "gather_coo(Tensor src, Tensor index, Tensor? out=None) -> Tensor"},
    {"pyg", "segment_sum_csr(Tensor src, Tensor indptr, Tensor? out=None) -> Tensor"},
    {"pyg", "segment_mean_csr(Tensor src, Tensor indptr, Tensor? out=None) -> Tensor"},
    {"pyg", "segment_min_csr(Tensor src, Tensor indptr, Tensor? out=None) -> (Tensor, Tensor)"},
    {"pyg", "segment_max_csr(Tensor src, Tensor indptr, Tensor? out=None) -> (Tensor, Tensor)"},
    {"pyg", "gather_csr(Tensor src, Tensor indptr, Tensor? out=None) -> Tensor"},
    {"pyg", "fps(Tensor src, Tensor ptr, float ratio=0.5, bool random_start=True) -> Tensor"},
    {"pyg", "graclus_cluster(Tensor rowptr, Tensor col, Tensor? weight=None) -> Tensor"},
    {"pyg", "grid_cluster(Tensor pos, Tensor size, Tensor? start=None, Tensor? end=None) -> Tensor"},
    {"pyg", "knn(Tensor x, Tensor y, Tensor? ptr_x=None, Tensor? ptr_y=None, int k=1, bool cosine=False, "
            "int num_workers=1) -> Tensor"},
    {"pyg", "nearest(Tensor x, Tensor y, Tensor? ptr_x=None, Tensor? ptr_y=None) -> Tensor"},
    {"pyg", "radius(Tensor x, Tensor y, Tensor? ptr_x=None, Tensor? ptr_y=None, float r=1.0, "
            "int max_num_neighbors=32, int num_workers=1, bool ignore_same_index=False) -> Tensor"},
    {"pyg", "edge_sample(Tensor start, Tensor rowptr, int count=0, float factor=1.0) -> Tensor"},
    {"pyg", "spline_basis(Tensor pseudo, Tensor kernel_size, Tensor is_open_spline, int degree=1) -> (Tensor, Tensor)"},
    {"pyg", "spline_weighting(Tensor x, Tensor weight, Tensor basis, Tensor weight_index) -> Tensor"},
    {"pyg", "metis(Tensor rowptr, Tensor col, int num_partitions, Tensor? node_weight=None, Tensor? edge_weight=None, "
            "bool recursive=False) -> Tensor"},
    {"pyg", "softmax_csr(Tensor src, Tensor ptr, int dim=0) -> Tensor"},
    {"pyg", "softmax_csr_backward(Tensor out, Tensor out_grad, Tensor ptr, int dim=0) -> Tensor"},
    {"pyg", "random_walk(Tensor rowptr, Tensor col, Tensor seed, int walk_length, float p=1.0, float q=1.0) -> Tensor"},
    {"pyg", "subgraph(Tensor rowptr, Tensor col, Tensor nodes, bool return_edge_id=True) -> (Tensor, Tensor, Tensor?)"},
};

std::string qualified(const StubSchema& stub)
{
    const std::string_view schema = stub.schema;
    return std::string(stub.space) + "::" + std::string(schema.substr(0, schema.find('(')));
}

void runStub(const c10::OperatorHandle& op, torch::jit::Stack*)
{
    const std::string name = op.schema().name();
    TORCH_CHECK(false, name, " needs the library ", libraryOf(name));
}

struct Registry {
    std::vector<std::unique_ptr<torch::Library>> libraries;
    std::set<std::string> stubs;

    torch::Library& library(const std::string& space)
    {
        libraries.push_back(std::make_unique<torch::Library>(torch::Library::FRAGMENT, space, std::nullopt, __FILE__,
                                                             static_cast<uint32_t>(__LINE__)));
        return *libraries.back();
    }
};

bool known(const std::string& name)
{
    return !torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty();
}

void registerStubs(Registry& registry)
{
    for (const StubSchema& stub : kStubs) {
        const std::string name = qualified(stub);
        if (known(name)) continue;
        torch::Library& library = registry.library(stub.space);
        library.def(stub.schema);
        library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&runStub>());
        registry.stubs.insert(name);
    }
}

void registerScatter(Registry& registry)
{
    if (known("torch_scatter::scatter_sum")) return;
    torch::Library& m = registry.library("torch_scatter");
    const std::string args = "(Tensor src, Tensor index, int dim, Tensor? out, int? dim_size)";
    m.def(("scatter_sum" + args + " -> Tensor").c_str(), &scatterSum);
    m.def(("scatter_mul" + args + " -> Tensor").c_str(), &scatterMul);
    m.def(("scatter_mean" + args + " -> Tensor").c_str(), &scatterMean);
    m.def(("scatter_min" + args + " -> (Tensor, Tensor)").c_str(), &scatterMin);
    m.def(("scatter_max" + args + " -> (Tensor, Tensor)").c_str(), &scatterMax);
}

const Registry& registry()
{
    static const Registry instance = [] {
        Registry r;
        registerScatter(r);
        registerStubs(r);
        torch::Library& own = r.library("hopscope");
        own.def("select_rank(Tensor rank, Tensor index, Tensor src) -> Tensor", &selectRank);
        own.def("pad_groups(Tensor counts, Tensor index, Tensor src, int width) -> Tensor", &padGroups);
        return r;
    }();
    return instance;
}

}  // namespace

void registerCustomOps() { registry(); }

bool isStub(const std::string& name) { return registry().stubs.contains(name); }

MissingOperator missingOperator(const std::string& operatorName)
{
    const std::string library = libraryOf(operatorName);
    if (library == "aten" || library == "prims")
        return {.from = "the LibTorch that Hopscope uses (" TORCH_VERSION ")",
                .hint = "save the model with PyTorch " TORCH_VERSION ", or without this operator"};
    return {.from = "PyTorch", .hint = "it needs the library " + library + "; a model saved without it can be read"};
}

std::string libraryOf(const std::string& operatorName)
{
    std::string space = operatorName.substr(0, operatorName.find(':'));
    if (space == "pyg") return "pyg-lib";
    std::replace(space.begin(), space.end(), '_', '-');
    return space;
}

}  // namespace hopscope::loader
