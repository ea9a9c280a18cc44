// Decides which operators may run: a TorchScript file may name any operator that LibTorch knows, including those that
// use files or random numbers. Those in the table of operators may run, and those without any tensor to follow, except
// where they draw random numbers.

#include "loader/walk/safety.h"

#include <algorithm>

#include "loader/custom_ops.h"
#include "loader/parts.h"
#include "operators/names.h"
#include "operators/operators.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;

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
    return operators::isRandom(name);
}

bool trainsStatistics(const c10::FunctionSchema& schema, const std::vector<Item>& args)
{
    const auto mean = argument(schema, args, "running_mean");
    const bool training =
        isTrue(argument(schema, args, "training")) || isTrue(argument(schema, args, "use_input_stats"));
    return mean && mean->isTensor() && training;
}

base::Error error(const std::string& message, const std::string& hint)
{
    return base::makeError(ErrorCode::Unsupported, message, hint);
}

base::Error doesNotRun(const std::string& name)
{
    return error("the operator " + name + " is unknown to Hopscope and may not run",
                 "write it with other operators, request support for it, or add it as CONTRIBUTING.md describes");
}

bool holdsTensor(const std::vector<Item>& args)
{
    return anyLeaf(args, [](const Item& leaf) { return leaf.isTensor(); });
}

bool returnsTensors(const c10::FunctionSchema& schema)
{
    return std::ranges::any_of(schema.returns(), [](const c10::Argument& result) {
        return result.type()->isSubtypeOf(*c10::TensorType::get()) ||
               result.type()->isSubtypeOf(*c10::ListType::ofTensors());
    });
}

}  // namespace

std::optional<base::Error> unknownOperator(const std::string& name, bool onTensors)
{
    if (isStub(name))
        return error("the operator " + name + " needs the library " + libraryOf(name) +
                         ", which Hopscope does not include",
                     "export the model without " + libraryOf(name) + " installed");
    if (operators::takesGradients(name))
        return error("gradients are taken inside forward, by " + name,
                     "let forward return the quantity that it differentiates, or write the derivative as a formula");
    if (operators::hasSideEffects(name))
        return error("the operator " + name + " has side effects", "export the model without it");
    if (operators::known(name) || name == "aten::conj" || (!onTensors && operators::isPlain(name)) || isComposite(name))
        return {};
    if (operators::isRandom(name))
        return error("the operator " + name + " draws random numbers",
                     "call model.eval() before export, or remove the operator");
    return doesNotRun(name);
}

std::optional<base::Error> forbidden(const c10::FunctionSchema& schema, const std::vector<Item>& args)
{
    const std::string& full = schema.name();
    const std::string name = full.substr(full.find("::") + 2);
    const bool onTensors = holdsTensor(args) || returnsTensors(schema);
    if (auto unknown = unknownOperator(full, onTensors)) return unknown;
    if (onTensors && !operators::known(full) && full != "aten::conj" && !isComposite(schema)) return doesNotRun(full);
    if (draws(schema, args, name))
        return error("the operator " + full + " draws random numbers",
                     isPositive(argument(schema, args, "dropout_p"))
                         ? "model.eval() does not change the operator's dropout_p argument: write dropout_p=0.0 or "
                           "dropout_p=self.p if self.training else 0.0"
                         : "call model.eval() before export, or remove the operator");
    if (trainsStatistics(schema, args))
        return error("the operator " + full + " updates its running statistics", "call model.eval() before export");
    return {};
}

}  // namespace hopscope::loader
