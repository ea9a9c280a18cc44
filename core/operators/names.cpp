#include "operators/names.h"

#include <algorithm>
#include <set>

namespace hopscope::operators {

namespace {

using Names = std::set<std::string_view>;

const Names facts = {
    "aten::can_cast",      "aten::dim",          "aten::element_size",  "aten::get_device",
    "aten::is_coalesced",  "aten::is_complex",   "aten::is_contiguous", "aten::is_floating_point",
    "aten::is_inference",  "aten::is_leaf",      "aten::is_signed",     "aten::promote_types",
    "aten::result_type",   "prim::device",       "prim::dtype",         "prim::index",
    "prim::is_cpu",        "prim::is_cuda",      "prim::is_ipu",        "prim::is_maia",
    "prim::is_meta",       "prim::is_mkldnn",    "prim::is_mps",        "prim::is_mtia",
    "prim::is_nested",     "prim::is_quantized", "prim::is_sparse",     "prim::is_sparse_csr",
    "prim::is_vulkan",     "prim::is_xpu",       "prim::itemsize",      "prim::layout",
    "prim::requires_grad", "prim::type",
};

const Names toNumber = {
    "aten::Bool",        "aten::Float",          "aten::FloatImplicit",       "aten::Int",
    "aten::IntImplicit", "aten::ScalarImplicit", "aten::_local_scalar_dense", "aten::is_nonzero",
    "aten::item",
};

const Names instructions = {
    "aten::__is__",
    "aten::__isnot__",
    "aten::_unwrap_optional",
    "aten::len",
    "aten::numel",
    "aten::size",
    "aten::warn",
    "prim::CallFunction",
    "prim::CallMethod",
    "prim::Constant",
    "prim::CreateObject",
    "prim::DictConstruct",
    "prim::Enter",
    "prim::Exit",
    "prim::Function",
    "prim::GetAttr",
    "prim::If",
    "prim::ListConstruct",
    "prim::ListUnpack",
    "prim::Loop",
    "prim::NumToTensor",
    "prim::Print",
    "prim::RaiseException",
    "prim::SetAttr",
    "prim::TupleConstruct",
    "prim::TupleIndex",
    "prim::TupleSlice",
    "prim::TupleUnpack",
    "prim::Uninitialized",
    "prim::data",
    "prim::isinstance",
    "prim::tolist",
    "prim::unchecked_cast",
    "prim::unchecked_unwrap_optional",
};

const Names plain = {
    "aten::Bool",
    "aten::Complex",
    "aten::Delete",
    "aten::Float",
    "aten::Int",
    "aten::Size",
    "aten::__and__",
    "aten::__contains__",
    "aten::__derive_index",
    "aten::__getitem__",
    "aten::__lshift__",
    "aten::__not__",
    "aten::__or__",
    "aten::__range_length",
    "aten::__round_to_zero_floordiv",
    "aten::__rshift__",
    "aten::__xor__",
    "aten::_set_item",
    "aten::acos",
    "aten::acosh",
    "aten::add",
    "aten::add_",
    "aten::all",
    "aten::any",
    "aten::append",
    "aten::asin",
    "aten::asinh",
    "aten::atan",
    "aten::atan2",
    "aten::atanh",
    "aten::broadcast_shapes",
    "aten::capitalize",
    "aten::ceil",
    "aten::clear",
    "aten::copy",
    "aten::copysign",
    "aten::cos",
    "aten::cosh",
    "aten::count",
    "aten::degrees",
    "aten::device",
    "aten::dict",
    "aten::div",
    "aten::divmod",
    "aten::endswith",
    "aten::eq",
    "aten::erf",
    "aten::erfc",
    "aten::exp",
    "aten::expm1",
    "aten::extend",
    "aten::fabs",
    "aten::factorial",
    "aten::find",
    "aten::floor",
    "aten::floordiv",
    "aten::fmod",
    "aten::format",
    "aten::gamma",
    "aten::gcd",
    "aten::ge",
    "aten::get",
    "aten::gt",
    "aten::has_torch_function",
    "aten::index",
    "aten::insert",
    "aten::is_grad_enabled",
    "aten::is_scripting",
    "aten::_get_tracing_state",
    "aten::isdigit",
    "aten::isfinite",
    "aten::isinf",
    "aten::isnan",
    "aten::items",
    "aten::join",
    "aten::keys",
    "aten::ldexp",
    "aten::le",
    "aten::len",
    "aten::lgamma",
    "aten::list",
    "aten::log",
    "aten::log10",
    "aten::log1p",
    "aten::lower",
    "aten::lstrip",
    "aten::lt",
    "aten::mathremainder",
    "aten::modf",
    "aten::mul",
    "aten::mul_",
    "aten::ne",
    "aten::neg",
    "aten::ord",
    "aten::percentFormat",
    "aten::pop",
    "aten::pow",
    "aten::radians",
    "aten::remainder",
    "aten::remove",
    "aten::replace",
    "aten::reverse",
    "aten::rfind",
    "aten::round",
    "aten::rsplit",
    "aten::rstrip",
    "aten::setdefault",
    "aten::sin",
    "aten::sinh",
    "aten::slice",
    "aten::sort",
    "aten::sorted",
    "aten::split",
    "aten::sqrt",
    "aten::startswith",
    "aten::str",
    "aten::strip",
    "aten::sub",
    "aten::sum",
    "aten::tan",
    "aten::tanh",
    "aten::update",
    "aten::upper",
    "aten::values",
    "prim::EnumName",
    "prim::EnumValue",
    "prim::ModuleContainerIndex",
    "prim::StringIndex",
    "prim::abs",
    "prim::max",
    "prim::min",
    "prim::rangelist",
};

const Names sideEffects = {
    "aten::_cudnn_init_dropout_state",
    "aten::_pin_memory",
    "aten::_print",
    "aten::_resize_output_",
    "aten::_set_data",
    "aten::as_strided_",
    "aten::data_ptr",
    "aten::file",
    "aten::from_file",
    "aten::get_autocast_dtype",
    "aten::hash",
    "aten::manual_seed",
    "aten::pin_memory",
    "aten::record_stream",
    "aten::resize",
    "aten::resize_",
    "aten::resize_as_",
    "aten::save",
    "aten::set_",
    "aten::set_data",
    "aten::set_grad_enabled",
    "aten::share_memory_",
    "aten::sparse_resize_",
    "aten::sparse_resize_and_clear_",
    "aten::squeeze_",
    "aten::swapaxes_",
    "aten::swapdims_",
    "aten::t_",
    "aten::transpose_",
    "aten::unsqueeze_",
    "aten::wait",
};

const Names gradients = {"aten::_backward", "aten::backward", "aten::grad"};

constexpr std::string_view randomPrefixes[] = {
    "_fused_dropout", "_sample_dirichlet", "_standard_gamma", "bernoulli", "binomial", "cauchy", "exponential",
    "geometric",      "log_normal",        "multinomial",     "normal",    "poisson",  "rand",   "random",
    "uniform"};

}  // namespace

bool isFact(std::string_view name) { return facts.contains(name); }

bool isInstruction(std::string_view name)
{
    return instructions.contains(name) || isFact(name) || name.starts_with("profiler::");
}

bool isToNumber(std::string_view name) { return toNumber.contains(name); }

bool isPlain(std::string_view name) { return plain.contains(name); }

bool hasSideEffects(std::string_view name) { return sideEffects.contains(name); }

bool takesGradients(std::string_view name) { return gradients.contains(name); }

bool isRandom(std::string_view name)
{
    const std::string_view bare = name.substr(name.find("::") == name.npos ? 0 : name.find("::") + 2);
    return std::ranges::any_of(randomPrefixes, [&](std::string_view prefix) { return bare.starts_with(prefix); });
}

}  // namespace hopscope::operators
