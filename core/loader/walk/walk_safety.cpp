// Which operators may run: a TorchScript file may name any operator that LibTorch knows, files and random numbers included.

#include "loader/custom_ops.h"
#include "loader/walk/walker.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;

const std::unordered_set<std::string> kSideEffects = {
    "aten::save",
    "aten::from_file",
    "aten::set_",
    "aten::set_data",
    "aten::_set_data",
    "aten::resize_",
    "aten::resize_as_",
    "aten::_resize_output_",
    "aten::resize",
    "aten::backward",
    "aten::_backward",
    "aten::grad",
    "aten::manual_seed",
    "aten::file",
    "aten::wait",
    "aten::_print",
    "aten::hash",
    "aten::record_stream",
    "aten::_pin_memory",
    "aten::pin_memory",
    "aten::share_memory_",
    "aten::get_autocast_dtype",
    "aten::data_ptr",
    "aten::t_",
    "aten::transpose_",
    "aten::swapdims_",
    "aten::swapaxes_",
    "aten::squeeze_",
    "aten::unsqueeze_",
    "aten::as_strided_",
    "aten::sparse_resize_",
    "aten::sparse_resize_and_clear_",
    "aten::_cudnn_init_dropout_state",
};

constexpr const char* kRandomPrefixes[] = {
    "rand",     "bernoulli", "multinomial",       "normal",          "poisson",
    "binomial", "cauchy",    "exponential",       "geometric",       "log_normal",
    "uniform",  "random",    "_sample_dirichlet", "_standard_gamma", "_fused_dropout"};

const std::unordered_set<std::string> kPrimOps = {"prim::NumToTensor", "prim::data", "prim::tolist",
                                                  "prim::min",         "prim::max",  "prim::abs"};

std::optional<Item> argument(const c10::FunctionSchema& schema, const std::vector<Item>& args, const char* name)
{
    for (std::size_t i = 0; i < args.size() && i < schema.arguments().size(); ++i)
        if (schema.arguments()[i].name() == name) return args[i];
    return {};
}

bool isTrue(const std::optional<Item>& item) { return item && item->concrete.isBool() && item->concrete.toBool(); }

bool isPositive(const std::optional<Item>& item)
{
    return item && item->concrete.isScalar() && item->concrete.toScalar().toDouble() > 0;
}

bool hasArgument(const c10::FunctionSchema& schema, const char* name)
{
    for (const c10::Argument& a : schema.arguments())
        if (a.name() == name) return true;
    return false;
}

// Dropout, recurrent layers and attention draw random numbers only when they train.
bool draws(const c10::FunctionSchema& schema, const std::vector<Item>& args, const std::string& name)
{
    const bool training = isTrue(argument(schema, args, "train")) || isTrue(argument(schema, args, "training"));
    if (name.find("dropout") != std::string::npos || name == "rrelu" || name == "rrelu_") return training;
    if (hasArgument(schema, "dropout")) return training && isPositive(argument(schema, args, "dropout"));
    if (hasArgument(schema, "dropout_p")) return isPositive(argument(schema, args, "dropout_p"));
    if (hasArgument(schema, "generator")) return true;
    for (const char* prefix : kRandomPrefixes)
        if (name.starts_with(prefix)) return true;
    return false;
}

bool trainsStatistics(const c10::FunctionSchema& schema, const std::vector<Item>& args)
{
    const auto mean = argument(schema, args, "running_mean");
    const bool training =
        isTrue(argument(schema, args, "training")) || isTrue(argument(schema, args, "use_input_stats"));
    return mean && mean->isTensor() && training;
}

std::optional<base::Error> error(const std::string& message, const std::string& hint)
{
    return base::makeError(ErrorCode::Unsupported, message, hint);
}

}  // namespace

std::optional<base::Error> forbidden(const c10::FunctionSchema& schema, const std::vector<Item>& args)
{
    const std::string& full = schema.name();
    const std::size_t colon = full.find("::");
    const std::string space = full.substr(0, colon), name = full.substr(colon + 2);
    if (isStub(full))
        return error("the operator " + full + " needs the library " + libraryOf(full) + ", which is not there",
                     "export the model without " + libraryOf(full) + " installed");
    if (space != "aten" && space != "prim" && space != "torch_scatter")
        return error("the operator " + full + " is not part of PyTorch's own", "only aten operators are supported");
    if (kSideEffects.contains(full))
        return error("the operator " + full + " has side effects", "export the model without it");
    if (space == "prim" && anyLeaf(args, [](const Item& leaf) { return leaf.isTensor(); }) && !kPrimOps.contains(full))
        return error("the instruction " + full + " is not supported", "");
    if (draws(schema, args, name))
        return error("the operator " + full + " draws random numbers", "call model.eval() before export, or remove it");
    if (trainsStatistics(schema, args))
        return error("the operator " + full + " updates its running statistics", "call model.eval() before export");
    return {};
}

}  // namespace hopscope::loader
