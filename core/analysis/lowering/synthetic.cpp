#include "analysis/lowering/synthetic.h"

#include <map>

namespace hopscope::analysis {

namespace {

using ir::ArgInfo;
using ir::ArgType;

const std::map<std::string, std::vector<ArgInfo>>& schemas()
{
    constexpr ArgType T = ArgType::Tensor, I = ArgType::Int, L = ArgType::IntList, N = ArgType::Number,
                      B = ArgType::Bool, O = ArgType::Other;
    static const std::map<std::string, std::vector<ArgInfo>> table{
        {"select_scatter", {{"self", T}, {"src", T}, {"dim", I}, {"index", I}}},
        {"slice_scatter", {{"self", T}, {"src", T}, {"dim", I}, {"start", I}, {"end", I}, {"step", I}}},
        {"reshape", {{"self", T}, {"shape", L}}},
        {"transpose.int", {{"self", T}, {"dim0", I}, {"dim1", I}}},
        {"t", {{"self", T}}},
        {"permute", {{"self", T}, {"dims", L}}},
        {"full_like",
         {{"self", T},
          {"fill_value", N},
          {"dtype", I},
          {"layout", I},
          {"device", O},
          {"pin_memory", B},
          {"memory_format", I}}},
        {"zeros_like",
         {{"self", T}, {"dtype", I}, {"layout", I}, {"device", O}, {"pin_memory", B}, {"memory_format", I}}},
        {"expand", {{"self", T}, {"size", L}, {"implicit", B}}},
        {"to.dtype", {{"self", T}, {"dtype", I}, {"non_blocking", B}, {"copy", B}, {"memory_format", I}}},
        {"add.Tensor", {{"self", T}, {"other", T}, {"alpha", N}}},
        {"add.Scalar", {{"self", T}, {"other", N}, {"alpha", N}}},
        {"sub.Tensor", {{"self", T}, {"other", T}, {"alpha", N}}},
        {"mul.Tensor", {{"self", T}, {"other", T}}},
        {"div.Tensor", {{"self", T}, {"other", T}}},
        {"exp", {{"self", T}}},
        {"log", {{"self", T}}},
        {"rsqrt", {{"self", T}}},
        {"amax", {{"self", T}, {"dim", L}, {"keepdim", B}}},
        {"sum.dim_IntList", {{"self", T}, {"dim", L}, {"keepdim", B}, {"dtype", I}}},
        {"mean.dim", {{"self", T}, {"dim", L}, {"keepdim", B}, {"dtype", I}}},
    };
    return table;
}

// Operators that move rows, and the operators needed around them.
const std::map<std::string, std::vector<ArgInfo>>& rowSchemas()
{
    constexpr ArgType T = ArgType::Tensor, I = ArgType::Int, L = ArgType::IntList, N = ArgType::Number,
                      B = ArgType::Bool, O = ArgType::Other;
    static const std::map<std::string, std::vector<ArgInfo>> table{
        {"index.Tensor", {{"self", T}, {"indices", ArgType::OptionalTensorList}}},
        {"where.self", {{"condition", T}, {"self", T}, {"other", T}}},
        {"eq.Tensor", {{"self", T}, {"other", T}}},
        {"le.Tensor", {{"self", T}, {"other", T}}},
        {"clamp", {{"self", T}, {"min", N}, {"max", N}}},
        {"unsqueeze", {{"self", T}, {"dim", I}}},
        {"arange", {{"end", N}, {"dtype", I}, {"layout", I}, {"device", O}, {"pin_memory", B}}},
        {"sub.Scalar", {{"self", T}, {"other", N}, {"alpha", N}}},
        {"lt.Scalar", {{"self", T}, {"other", N}}},
        {"gt.Scalar", {{"self", T}, {"other", N}}},
        {"ge.Scalar", {{"self", T}, {"other", N}}},
        {"ne.Scalar", {{"self", T}, {"other", N}}},
        {"eq.Scalar", {{"self", T}, {"other", N}}},
        {"remainder.Scalar", {{"self", T}, {"other", N}}},
        {"logical_and", {{"self", T}, {"other", T}}},
        {"mul.Scalar", {{"self", T}, {"other", N}}},
        {"slice.Tensor", {{"self", T}, {"dim", I}, {"start", I}, {"end", I}, {"step", I}}},
        {"select.int", {{"self", T}, {"dim", I}, {"index", I}}},
        {"stack", {{"tensors", ArgType::TensorList}, {"dim", I}}},
        {"cat", {{"tensors", ArgType::TensorList}, {"dim", I}}},
        {"cumsum", {{"self", T}, {"dim", I}, {"dtype", I}}},
        {"hopscope::select_rank", {{"rank", T}, {"index", T}, {"src", T}}},
        {"hopscope::pad_groups", {{"counts", T}, {"index", T}, {"src", T}, {"width", I}}},
        {"bincount", {{"self", T}, {"weights", T}, {"minlength", I}}},
        {"diff", {{"self", T}, {"n", I}, {"dim", I}, {"prepend", T}, {"append", T}}},
        {"repeat_interleave.Tensor", {{"repeats", T}, {"output_size", I}}},
        {"index_select", {{"self", T}, {"dim", I}, {"index", T}}},
        {"index_add", {{"self", T}, {"dim", I}, {"index", T}, {"source", T}, {"alpha", N}}},
        {"scatter_reduce.two", {{"self", T}, {"dim", I}, {"index", T}, {"src", T}, {"reduce", O}, {"include_self", B}}},
        {"expand_as", {{"self", T}, {"other", T}}},
        {"mm", {{"self", T}, {"mat2", T}}},
        {"matmul", {{"self", T}, {"other", T}}},
        {"linear", {{"input", T}, {"weight", T}, {"bias", T}}},
        {"new_zeros", {{"self", T}, {"size", L}, {"dtype", I}, {"layout", I}, {"device", O}, {"pin_memory", B}}},
        {"new_full",
         {{"self", T}, {"size", L}, {"fill_value", N}, {"dtype", I}, {"layout", I}, {"device", O}, {"pin_memory", B}}},
        {"segment_reduce",
         {{"data", T},
          {"reduce", O},
          {"lengths", T},
          {"indices", T},
          {"offsets", T},
          {"axis", I},
          {"unsafe", B},
          {"initial", N}}},
        {"scalar::size", {{"self", T}, {"dim", I}}},
        {"scalar::add", {{"a", I}, {"b", I}}},
        {"scalar::mul", {{"a", I}, {"b", I}}},
        {"scalar::min", {{"a", I}, {"b", I}}},
        {"scalar::max", {{"a", I}, {"b", I}}},
    };
    return table;
}

}  // namespace

ir::Op syntheticOp(const std::string& signature, std::vector<ir::Arg> args, const ir::Op& like)
{
    ir::Op op;
    const std::size_t dot = signature.find('.');
    const std::string name = signature.substr(0, dot);
    op.name = name.find("::") != std::string::npos ? name : "aten::" + name;
    op.overload = dot == std::string::npos ? "" : signature.substr(dot + 1);
    const auto known = schemas().find(signature);
    op.argInfo = known == schemas().end() ? rowSchemas().at(signature) : known->second;
    op.args = std::move(args);
    op.args.resize(op.argInfo.size());
    op.modules = like.modules;
    op.source = like.source;
    return op;
}

std::int64_t dtypeCode(base::DType dtype)
{
    switch (dtype) {
    case base::DType::UInt8: return 0;
    case base::DType::Int8: return 1;
    case base::DType::Int16: return 2;
    case base::DType::Int32: return 3;
    case base::DType::Int64: return 4;
    case base::DType::Float16: return 5;
    case base::DType::Float32: return 6;
    case base::DType::Float64: return 7;
    case base::DType::Complex64: return 9;
    case base::DType::Complex128: return 10;
    case base::DType::Bool: return 11;
    case base::DType::BFloat16: return 15;
    case base::DType::UInt16: return 27;
    case base::DType::UInt32: return 28;
    case base::DType::UInt64: return 29;
    }
    return 6;
}

}  // namespace hopscope::analysis
