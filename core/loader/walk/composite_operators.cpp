// LibTorch's kernels of composite operators compute with sizes of their operands as plain numbers. Which of the numbers that
// parts are called with are such sizes is seen by running them again on operands with one or two more rows.

#include "loader/walk/composite_operators.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "loader/bounds.h"
#include "loader/parts.h"
#include "loader/walk/safety.h"
#include "operators/names.h"
#include "operators/operators.h"

namespace hopscope::loader {

namespace {

using c10::IValue;
using torch::jit::Stack;

// Each number and text among the arguments, with its place in them.
template <class Visit>
void forEachLeaf(const Stack& args, const Visit& visit)
{
    for (std::size_t a = 0; a < args.size(); ++a) {
        if (!args[a].isList()) {
            visit(a, -1, args[a]);
            continue;
        }
        int item = 0;
        for (const IValue& value : args[a].toListRef()) visit(a, item++, value);
    }
}

std::vector<at::Tensor> tensorsOf(const Stack& values)
{
    std::vector<at::Tensor> tensors;
    forEachLeaf(values, [&](std::size_t, int, const IValue& v) {
        if (v.isTensor() && v.toTensor().defined()) tensors.push_back(v.toTensor());
    });
    return tensors;
}

// The tensor of an argument, or of an item of a list.
template <class Change>
void changeTensor(Stack& stack, std::size_t argument, int item, const Change& change)
{
    if (item < 0) {
        stack[argument] = change(stack[argument].toTensor());
        return;
    }
    std::vector<at::Tensor> items = stack[argument].toTensorVector();
    items[static_cast<std::size_t>(item)] = change(items[static_cast<std::size_t>(item)]);
    stack[argument] = items;
}

at::Tensor longer(const at::Tensor& tensor, std::int64_t dim, std::int64_t more)
{
    const std::int64_t rows = tensor.size(dim);
    return tensor.index_select(dim, at::arange(rows + more).remainder(rows));
}

bool sameLeaf(const IValue& a, const IValue& b)
{
    if (a.tagKind() != b.tagKind()) return false;
    if (!a.isTensor()) return a.isGenerator() || a.isDevice() || a == b;
    const at::Tensor &one = a.toTensor(), &other = b.toTensor();
    const bool number = one.defined() && other.defined() && one.unsafeGetTensorImpl()->is_wrapped_number();
    return one.defined() == other.defined() && (!number || one.equal(other));
}

std::vector<IValue> leavesOf(const Stack& args)
{
    std::vector<IValue> leaves;
    forEachLeaf(args, [&](std::size_t, int, const IValue& v) { leaves.push_back(v); });
    return leaves;
}

c10::TypePtr withoutOptional(const c10::TypePtr& type)
{
    const auto optional = type->cast<c10::OptionalType>();
    return optional ? optional->getElementType() : type;
}

constexpr std::string_view conjugated = "aten::_conj";  // notes it down, and is recorded as what computes it

const char* const hint =
    "write it with other operators, request support for it, or add it as CONTRIBUTING.md describes";

}  // namespace

std::optional<std::vector<Item>> CompositeOperators::evaluate(const torch::jit::Operator& op,
                                                              const std::vector<Item>& args)
{
    const c10::FunctionSchema& schema = op.schema();
    if (operators::known(schema.name()) || !isComposite(schema)) return std::nullopt;
    m_calls.checkAllowed(schema, args);
    if (anyLeaf(args, [](const Item& leaf) { return leaf.dynamicNumber(); }))
        m_location.refuse("the operator " + schema.name() + " is called with a number that depends on the graph", hint);
    Stack stack;
    for (std::size_t i = 0; i < args.size(); ++i)
        stack.push_back(concreteOf(args[i], withoutOptional(schema.arguments()[i].type())));
    Run first;
    try {
        first = run(op, stack);
    } catch (const c10::Error& e) {
        m_location.refuseThrown(e.what_without_backtrace());
    }
    requireSameOnOtherNumbers(op, stack, first);
    Sizes sizes;
    const std::vector<Extents> all = groups(args);
    for (const Extents& group : all)
        if (!follow(op, stack, first, group, sizes))
            for (const Extent& extent : group) m_numbers.guard(m_numbers.sizeOf(extent.tensor, extent.dim));
    Known known;
    anyLeaf(args, [&](const Item& leaf) {
        if (leaf.isTensor()) known[leaf.concrete.toTensor().unsafeGetTensorImpl()] = leaf;
        return false;
    });
    return replay(op, first, sizes, std::move(known));
}

void CompositeOperators::checkPart(const torch::jit::Operator& part, const Stack& args) const
{
    std::vector<Item> items;
    for (const IValue& arg : args) items.emplace_back(arg);
    const std::string& name = part.schema().name();
    if (operators::isToNumber(name))
        m_location.refuse("an operator reads a number from a tensor within its kernel", hint);
    if (name == conjugated) return;
    if (auto error = forbidden(part.schema(), items)) m_location.refuse(error->message, error->hint);
}

CompositeOperators::Run CompositeOperators::run(const torch::jit::Operator& op, Stack stack) const
{
    Run run;
    const PartsApart apart([&](const torch::jit::Operator& part, Stack& values) {
        checkPart(part, values);
        run.parts.push_back({.op = &part, .args = values, .results = {}});
        const std::size_t own = run.parts.size() - 1;
        boundedOperation(part)(values);
        run.parts[own].results = values;
    });
    op.getOperation()(stack);
    run.results = std::move(stack);
    return run;
}

// Dimensions that the data may change, by their size; those that come first in a tensor before others, since rows do.
std::vector<CompositeOperators::Extents> CompositeOperators::groups(const std::vector<Item>& args) const
{
    std::map<std::pair<bool, std::int64_t>, Extents> found;
    const auto add = [&](const Item& leaf, std::size_t argument, int item) {
        if (!leaf.isTensor() || !m_recorder.shapeFromInput(leaf.value)) return;
        const at::Tensor& tensor = leaf.concrete.toTensor();
        for (std::int64_t d = 0; d < tensor.dim(); ++d)
            found[{d > 0, tensor.size(d)}].push_back({.tensor = leaf, .argument = argument, .item = item, .dim = d});
    };
    for (std::size_t a = 0; a < args.size(); ++a) {
        if (!args[a].box) add(args[a], a, -1);
        else
            for (std::size_t i = 0; i < args[a].box->items.size(); ++i)
                add(args[a].box->items[i], a, static_cast<int>(i));
    }
    std::vector<Extents> groups;
    for (auto& [size, extents] : found) groups.push_back(std::move(extents));
    return groups;
}

// Runs on operands whose dimensions of the group are longer by one and by two; nothing where the kernel refuses these.
std::optional<std::array<CompositeOperators::Run, 2>>
CompositeOperators::longerRuns(const torch::jit::Operator& op, const Stack& stack, const Extents& group) const
{
    std::array<Run, 2> runs;
    try {
        for (const int more : {1, 2}) {
            Stack changed = stack;
            for (const Extent& e : group)
                changeTensor(changed, e.argument, e.item, [&](const at::Tensor& t) { return longer(t, e.dim, more); });
            runs[static_cast<std::size_t>(more - 1)] = run(op, std::move(changed));
        }
    } catch (const c10::Error&) {
        return std::nullopt;
    } catch (const Refused&) {
        return std::nullopt;
    }
    return runs;
}

// Adds the numbers of a part that grow by the same step from run to run. False where something else differs.
bool CompositeOperators::followPart(std::size_t p, const std::array<const Part*, 3>& part, const Extents& group,
                                    Sizes& sizes)
{
    const std::int64_t size = group[0].tensor.concrete.toTensor().size(group[0].dim);
    const std::vector<IValue> second = leavesOf(part[1]->args), third = leavesOf(part[2]->args);
    const bool alike = part[0]->op == part[1]->op && part[0]->op == part[2]->op &&
                       leavesOf(part[0]->args).size() == second.size() && third.size() == second.size();
    std::size_t at = 0;
    bool follows = alike;
    forEachLeaf(part[0]->args, [&](std::size_t argument, int item, const IValue& v) {
        if (!follows) return;
        const IValue &v1 = second[at], &v2 = third[at];
        ++at;
        if (sameLeaf(v, v1) && sameLeaf(v, v2)) return;
        const bool numbers = v.isInt() && v1.isInt() && v2.isInt();
        const std::int64_t step = numbers ? v1.toInt() - v.toInt() : 0;
        follows = numbers && v2.toInt() - v1.toInt() == step &&
                  sizes.try_emplace({p, argument, item}, Size{&group[0], step, v.toInt() - step * size}).second;
    });
    return follows;
}

// Learns which numbers follow from the sizes of the group. False if that cannot be seen, or if something else follows.
bool CompositeOperators::follow(const torch::jit::Operator& op, const Stack& stack, const Run& first,
                                const Extents& group, Sizes& sizes) const
{
    const std::optional<std::array<Run, 2>> runs = longerRuns(op, stack, group);
    const std::size_t count = first.parts.size();
    if (!runs || (*runs)[0].parts.size() != count || (*runs)[1].parts.size() != count) return false;
    Sizes own = sizes;
    for (std::size_t p = 0; p < count; ++p)
        if (!followPart(p, {&first.parts[p], &(*runs)[0].parts[p], &(*runs)[1].parts[p]}, group, own)) return false;
    sizes = std::move(own);
    return true;
}

// Requires that the parts and their numbers do not depend on the contents of the operands.
void CompositeOperators::requireSameOnOtherNumbers(const torch::jit::Operator& op, const Stack& stack,
                                                   const Run& first) const
{
    Stack other = stack;
    forEachLeaf(stack, [&](std::size_t argument, int item, const IValue& v) {
        if (!v.isTensor() || !v.toTensor().defined() || v.toTensor().layout() != at::kStrided) return;
        std::vector<std::int64_t> dims(static_cast<std::size_t>(v.toTensor().dim()));
        for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<std::int64_t>(d);
        changeTensor(other, argument, item, [&](const at::Tensor& t) { return t.flip(dims); });
    });
    Run second;
    try {
        second = run(op, std::move(other));
    } catch (const c10::Error&) {
        second.parts.clear();
    }
    const bool same = std::ranges::equal(first.parts, second.parts, [](const Part& a, const Part& b) {
        return a.op == b.op && std::ranges::equal(leavesOf(a.args), leavesOf(b.args), sameLeaf);
    });
    if (!same)
        m_location.refuse(
            "the operator " + op.schema().name() +
                " does not consist of the same operators and numbers if its inputs hold different numbers",
            hint);
}

std::vector<Item> CompositeOperators::argumentsOf(const Run& run, std::size_t p, const Known& known, const Sizes& sizes)
{
    const Part& part = run.parts[p];
    std::vector<Item> args;
    for (std::size_t a = 0; a < part.args.size(); ++a) {
        const IValue& arg = part.args[a];
        if (!arg.isList()) {
            args.push_back(itemOf(arg, known, sizes, {p, a, -1}));
            continue;
        }
        std::vector<Item> items;
        int i = 0;
        for (const IValue& item : arg.toListRef()) items.push_back(itemOf(item, known, sizes, {p, a, i++}));
        args.push_back(boxed(withoutOptional(part.op->schema().arguments()[a].type()), std::move(items)));
    }
    return args;
}

// Records the part; its results are known from then on.
void CompositeOperators::record(const Part& part, const std::vector<Item>& args, Known& known)
{
    std::vector<Item> made;
    const bool conjugates = part.op->schema().name() == conjugated;
    for (const Item& item :
         conjugates ? std::vector{m_calls.record("aten::conj_physical", "", args)} : m_calls.record(*part.op, args)) {
        if (!item.box) made.push_back(item);
        else made.insert(made.end(), item.box->items.begin(), item.box->items.end());
    }
    const std::vector<at::Tensor> tensors = tensorsOf(part.results);
    for (std::size_t i = 0; i < std::min(made.size(), tensors.size()); ++i)
        known[tensors[i].unsafeGetTensorImpl()] = made[i];
}

std::vector<Item> CompositeOperators::replay(const torch::jit::Operator& op, const Run& run, const Sizes& sizes,
                                             Known known)
{
    for (std::size_t p = 0; p < run.parts.size(); ++p) record(run.parts[p], argumentsOf(run, p, known, sizes), known);
    std::vector<Item> results;
    for (const IValue& result : run.results) {
        std::vector<Item> items;
        for (const at::Tensor& tensor : tensorsOf({result})) items.push_back(tensorOf(tensor, known));
        if (!result.isTensor() && !result.isTensorList())
            m_location.refuse("the operator " + op.schema().name() + " returns a " + result.tagKind());
        results.push_back(result.isTensorList() ? boxed(c10::ListType::ofTensors(), std::move(items)) : items.at(0));
    }
    return results;
}

Item CompositeOperators::itemOf(const IValue& value, const Known& known, const Sizes& sizes, const Place& place)
{
    if (value.isTensor()) return value.toTensor().defined() ? tensorOf(value.toTensor(), known) : Item();
    const auto found = sizes.find(place);
    return found == sizes.end() ? Item(value) : number(found->second);
}

// A tensor that no part has made is a number that the kernel computes with.
Item CompositeOperators::tensorOf(const at::Tensor& tensor, const Known& known)
{
    if (const auto found = known.find(tensor.unsafeGetTensorImpl()); found != known.end()) return found->second;
    if (!tensor.unsafeGetTensorImpl()->is_wrapped_number())
        m_location.refuse("an operator makes a tensor within its kernel", hint);
    return {tensor, m_recorder.constant(tensor)};
}

Item CompositeOperators::number(const Size& size)
{
    Item item = m_numbers.sizeOf(size.extent->tensor, size.extent->dim);
    if (size.factor != 1) item = m_numbers.arithmetic("scalar::mul", item, Item(IValue(size.factor)));
    if (size.constant != 0) item = m_numbers.arithmetic("scalar::add", item, Item(IValue(size.constant)));
    return item;
}

}  // namespace hopscope::loader
