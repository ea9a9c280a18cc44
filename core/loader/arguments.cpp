// Data keys to forward's arguments: which are used, which are missing, which look misspelt.

#include <algorithm>
#include <map>
#include <set>

#include "loader/limits.h"
#include "loader/names.h"
#include "loader/torch_model.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;
using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;
using Built = base::Result<std::optional<IValue>>;  // no value: nothing given for this argument

class Assembler {
public:
    explicit Assembler(const base::TensorMap& inputs) : m_inputs(inputs) {}

    Built build(const TypePtr& type, const std::string& key);
    [[nodiscard]] const std::set<std::string>& used() const { return m_used; }

private:
    const base::TensorView* take(const std::string& key);
    std::optional<at::Tensor> takeTensor(const std::string& key);
    Built tensor(const std::string& key);
    Built coo(const std::string& key);
    Built csr(const std::string& key);
    Built number(const TypePtr& type, const std::string& key);
    Built optional(const TypePtr& type, const std::string& key);
    Built alternative(const TypePtr& type, const std::string& key);
    Built list(const TypePtr& element, const std::string& key);
    Built tuple(const TypePtr& type, const std::string& key);
    Built dict(const TypePtr& type, const std::string& key);
    std::set<std::string> dictKeys(const TypePtr& element, const std::string& prefix) const;

    const base::TensorMap& m_inputs;
    std::set<std::string> m_used;
};

tl::unexpected<base::Error> incomplete(const std::string& key, const char* parts)
{
    return fail(ErrorCode::Input, "the sparse input '" + key + "' is incomplete", "give " + key + parts, key);
}

const base::TensorView* Assembler::take(const std::string& key)
{
    const auto it = m_inputs.find(key);
    if (it == m_inputs.end()) return nullptr;
    m_used.insert(key);
    return &it->second;
}

std::optional<at::Tensor> Assembler::takeTensor(const std::string& key)
{
    const base::TensorView* view = take(key);
    if (!view) return {};
    return toTensor(*view);
}

Built Assembler::tensor(const std::string& key)
{
    if (auto dense = takeTensor(key)) return IValue(*dense);
    const auto it = m_inputs.lower_bound(key + ".");
    if (it == m_inputs.end()) return std::nullopt;
    if (it->first.starts_with(key + ".coo_")) return coo(key);
    if (it->first.starts_with(key + ".csr_")) return csr(key);
    return std::nullopt;
}

// Entries in row-major order without duplicates are what LibTorch calls coalesced.
bool sortedUnique(const at::Tensor& indices, int64_t columns)
{
    const at::Tensor flat = indices[0] * columns + indices[1];
    return flat.size(0) < 2 || (flat.slice(0, 1) > flat.slice(0, 0, -1)).all().item<bool>();
}

// Exception boundary: LibTorch's checks of sparse parts throw, and without them it reads behind their ends.
template <class Check>
std::optional<base::Error> broken(const std::string& key, Check&& check)
{
    try {
        check();
        return std::nullopt;
    } catch (const c10::Error& e) {
        return base::makeError(ErrorCode::Input,
                               "the parts of the sparse input '" + key +
                                   "' do not fit together: " + names::firstLine(e.what_without_backtrace()),
                               "take them from one sparse PyTorch tensor", key);
    }
}

// The size of a sparse matrix with these values; entries may be vectors or tensors, which adds dimensions.
// Empty if it does not say as many.
std::vector<std::int64_t> sizeOf(const at::Tensor& size, const at::Tensor& values)
{
    const at::Tensor numbers = size.to(at::kLong).contiguous();
    if (values.dim() < 1 || numbers.numel() != values.dim() + 1) return {};
    return {numbers.data_ptr<std::int64_t>(), numbers.data_ptr<std::int64_t>() + numbers.numel()};
}

Built Assembler::coo(const std::string& key)
{
    const auto indices = takeTensor(key + ".coo_indices"), values = takeTensor(key + ".coo_values"),
               size = takeTensor(key + ".coo_size");
    if (!indices || !values || !size) return incomplete(key, ".coo_indices, .coo_values and .coo_size");
    const std::vector<std::int64_t> sizes = sizeOf(*size, *values);
    if (indices->dim() != 2 || indices->size(0) != 2 || indices->scalar_type() != at::kLong || sizes.empty())
        return fail(ErrorCode::Input,
                    "the sparse input '" + key +
                        "' needs int64 indices [2, E], and two sizes followed by the dimensions of an edge's values",
                    "take them from a sparse PyTorch tensor: a.coalesce().indices(), a.coalesce().values(), "
                    "a.size()",
                    key);
    at::Tensor matrix;
    if (const auto bad = broken(key, [&] {
            at::_validate_sparse_coo_tensor_args(*indices, *values, sizes);
            matrix = at::sparse_coo_tensor(*indices, *values, sizes);
        }))
        return tl::unexpected(*bad);
    if (sortedUnique(*indices, sizes[1])) matrix = matrix._coalesced_(true);
    return IValue(matrix);
}

Built Assembler::csr(const std::string& key)
{
    const auto crow = takeTensor(key + ".csr_crow"), col = takeTensor(key + ".csr_col"),
               values = takeTensor(key + ".csr_values"), size = takeTensor(key + ".csr_size");
    if (!crow || !col || !values || !size) return incomplete(key, ".csr_crow, .csr_col, .csr_values and .csr_size");
    const std::vector<std::int64_t> sizes = sizeOf(*size, *values);
    if (sizes.empty())
        return fail(ErrorCode::Input,
                    "'" + key + ".csr_size' needs two sizes, followed by the dimensions of an edge's values",
                    "give the numbers of rows and of columns, then any further dimensions of the values", key);
    if (const auto bad = broken(key, [&] { at::_validate_sparse_csr_tensor_args(*crow, *col, *values, sizes); }))
        return tl::unexpected(*bad);
    return IValue(at::sparse_csr_tensor(*crow, *col, *values, sizes, values->options().layout(at::kSparseCsr)));
}

Built Assembler::number(const TypePtr& type, const std::string& key)
{
    const auto tensor = takeTensor(key);
    if (!tensor) return std::nullopt;
    if (tensor->numel() != 1)
        return fail(ErrorCode::Input,
                    "'" + key + "' has " + std::to_string(tensor->numel()) +
                        " numbers, but forward takes a single one (" + type->str() + ")",
                    "give one number", key);
    if (type->kind() == TypeKind::BoolType) return IValue(tensor->item().toBool());
    const bool whole = !tensor->is_floating_point();
    if (type->kind() == TypeKind::IntType && !whole)
        return fail(ErrorCode::Input,
                    "'" + key + "' is " + c10::toString(tensor->scalar_type()) + ", but forward takes an integer",
                    "store it as int64", key);
    if (type->kind() == TypeKind::IntType || (type->kind() == TypeKind::NumberType && whole))
        return IValue(tensor->item().toLong());
    return IValue(tensor->item().toDouble());
}

Built Assembler::optional(const TypePtr& type, const std::string& key)
{
    auto inner = build(type->expectRef<c10::OptionalType>().getElementType(), key);
    if (inner && !*inner) return IValue();
    return inner;
}

// The alternative that the keys of the data describe: a tensor where there is one of this name, else the first.
Built Assembler::alternative(const TypePtr& type, const std::string& key)
{
    const auto alternatives = type->expectRef<c10::UnionType>().containedTypes();
    const auto builtAs = [&](bool tensors) -> Built {
        for (const TypePtr& each : alternatives) {
            if ((each->kind() == TypeKind::TensorType) != tensors) continue;
            auto value = build(each, key);
            if (!value || *value) return value;
        }
        return std::nullopt;
    };
    auto value = builtAs(true);
    if (value && !*value) value = builtAs(false);
    if (value && !*value && type->expectRef<c10::UnionType>().canHoldType(*c10::NoneType::get())) return IValue();
    return value;
}

Built Assembler::list(const TypePtr& element, const std::string& key)
{
    c10::impl::GenericList items(element);
    for (std::size_t i = 0;; ++i) {
        auto item = build(element, key + "." + std::to_string(i));
        if (!item) return item;
        if (!*item || (*item)->isNone()) break;
        items.push_back(**item);
    }
    if (items.empty()) return std::nullopt;
    return IValue(items);
}

Built Assembler::tuple(const TypePtr& type, const std::string& key)
{
    std::vector<IValue> items;
    bool any = false;
    const auto elements = type->expectRef<c10::TupleType>().elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
        auto item = build(elements[i], key + "." + std::to_string(i));
        if (!item) return item;
        if (!*item && any)
            return fail(ErrorCode::Input, "missing data key '" + key + "." + std::to_string(i) + "'",
                        "forward takes '" + key + "' as a tuple of " + std::to_string(elements.size()), key);
        if (!*item) return std::nullopt;
        any = any || !(*item)->isNone();
        items.push_back(**item);
    }
    if (!any) return std::nullopt;
    return IValue(c10::ivalue::Tuple::create(std::move(items)));
}

bool holdsTensor(const TypePtr& type)
{
    const TypePtr inner =
        type->kind() == TypeKind::OptionalType ? type->expectRef<c10::OptionalType>().getElementType() : type;
    return inner->kind() == TypeKind::TensorType || inner->isSubtypeOf(*c10::NumberType::get());
}

// Keys may hold dots where the elements are tensors; "adj.coo_size" belongs to the key "adj".
std::set<std::string> Assembler::dictKeys(const TypePtr& element, const std::string& prefix) const
{
    std::set<std::string> keys;
    for (auto it = m_inputs.lower_bound(prefix); it != m_inputs.end() && it->first.starts_with(prefix); ++it) {
        std::string rest = it->first.substr(prefix.size());
        const std::size_t last = rest.rfind('.');
        const bool sparse =
            last != std::string::npos && (rest.compare(last, 5, ".coo_") == 0 || rest.compare(last, 5, ".csr_") == 0);
        if (sparse) rest.resize(last);
        else if (!holdsTensor(element)) rest.resize(std::min(rest.find('.'), rest.size()));
        keys.insert(rest);
    }
    return keys;
}

Built Assembler::dict(const TypePtr& type, const std::string& key)
{
    const auto& dictType = type->expectRef<c10::DictType>();
    if (dictType.getKeyType()->kind() != TypeKind::StringType)
        return fail(ErrorCode::Unsupported, "argument '" + key + "' is a dictionary whose keys are not strings",
                    "use string keys such as \"a__to__b\"", key);
    c10::impl::GenericDict items(dictType.getKeyType(), dictType.getValueType());
    for (const std::string& name : dictKeys(dictType.getValueType(), key + ".")) {
        auto item = build(dictType.getValueType(), key + "." + name);
        if (!item) return item;
        if (*item) items.insert(name, **item);
    }
    if (items.empty()) return std::nullopt;
    return IValue(items);
}

Built Assembler::build(const TypePtr& type, const std::string& key)
{
    switch (type->kind()) {
    case TypeKind::TensorType: return tensor(key);
    case TypeKind::OptionalType: return optional(type, key);
    case TypeKind::UnionType: return alternative(type, key);
    case TypeKind::ListType: return list(type->expectRef<c10::ListType>().getElementType(), key);
    case TypeKind::TupleType: return tuple(type, key);
    case TypeKind::DictType: return dict(type, key);
    case TypeKind::IntType:
    case TypeKind::FloatType:
    case TypeKind::BoolType:
    case TypeKind::NumberType: return number(type, key);
    default: return std::nullopt;
    }
}

// The keys under which the data gives the elements of a collection; empty if the argument is no collection.
std::string elementKeys(const c10::Argument& argument)
{
    const std::string& name = argument.name();
    TypePtr type = argument.type();
    if (type->kind() == TypeKind::OptionalType) type = type->expectRef<c10::OptionalType>().getElementType();
    if (type->kind() == TypeKind::DictType) return name + ".KEY for each key";
    const bool sequence = type->kind() == TypeKind::ListType || type->kind() == TypeKind::TupleType;
    return sequence ? name + ".0, " + name + ".1 and so on" : std::string();
}

bool isText(const c10::Argument& argument) { return argument.type()->isSubtypeOf(*c10::StringType::get()); }

tl::unexpected<base::Error> missing(const c10::Argument& argument, const base::TensorMap& inputs)
{
    const std::string elements = elementKeys(argument);
    if (inputs.contains(argument.name()) || isText(argument))
        return fail(ErrorCode::Unsupported,
                    "forward takes '" + argument.name() + "' as " + argument.type()->str() +
                        ", which cannot be made from a tensor of the data",
                    elements.empty() ? "wrap the model in a module whose forward takes tensors"
                                     : "name its elements in the data: " + elements,
                    argument.name());
    std::string given;
    for (const auto& [key, view] : inputs) given += (given.empty() ? "" : ", ") + key;
    const std::string similar = names::nearest(argument.name(), inputs);
    std::string hint = "add it to the data; given: " + (given.empty() ? std::string("nothing") : given);
    if (!elements.empty()) hint = "the keys of its elements are " + elements + "; " + hint;
    else if (!similar.empty()) hint = "did you mean '" + similar + "'? " + hint;
    return fail(ErrorCode::Input,
                "forward needs '" + argument.name() + "' (" + argument.type()->str() +
                    "), which is missing from the data",
                hint, argument.name());
}

struct Assembled {
    std::vector<IValue> values;
    std::set<std::string> used;
    std::vector<std::string> absent;  // optional arguments left out
};

base::Result<Assembled> assemble(const Model& model, const base::TensorMap& inputs)
{
    Assembler assembler(inputs);
    Assembled out;
    const auto& arguments = model.impl().module.get_method("forward").function().getSchema().arguments();
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const c10::Argument& argument = arguments[i];
        auto value = assembler.build(argument.type(), argument.name());
        if (!value) return base::forward(value);
        if ((!*value || (*value)->isNone()) && argument.default_value()) *value = *argument.default_value();
        if (!*value) return missing(argument, inputs);
        if ((*value)->isNone()) out.absent.push_back(argument.name());
        out.values.push_back(**value);
    }
    out.used = assembler.used();
    return out;
}

// Exception boundary: LibTorch's checks of sparse parts throw.
base::Result<Assembled> assembleSafely(const Model& model, const base::TensorMap& inputs)
{
    try {
        return assemble(model, inputs);
    } catch (const c10::Error& e) {
        return fail(ErrorCode::Input, "the inputs are inconsistent: " + names::firstLine(e.what_without_backtrace()));
    } catch (const std::exception& e) {
        return fail(ErrorCode::Input, "the inputs are inconsistent: " + names::firstLine(e.what()));
    }
}

}  // namespace

base::Result<std::vector<c10::IValue>> assembleInputs(const Model& model, const base::TensorMap& inputs)
{
    if (auto fit = checkLimits(model.info().limits, inputs, Extent::Part); !fit) return base::forward(fit);
    auto assembled = assembleSafely(model, inputs);
    if (!assembled) return base::forward(assembled);
    return std::move(assembled->values);
}

base::Result<Binding> bind(const Model& model, const base::TensorMap& inputs, Extent extent)
{
    const auto assembled = assembleSafely(model, inputs);
    if (!assembled) return base::forward(assembled);
    const ModelLimits& limits = model.info().limits;
    if (auto fit = checkTypes(limits, inputs); !fit) return base::forward(fit);
    if (auto fit = checkLimits(limits, inputs, extent); !fit) return base::forward(fit);
    if (extent == Extent::Graph)
        if (auto fit = checkGuards(model.info(), inputs); !fit) return base::forward(fit);
    Binding binding{{assembled->used.begin(), assembled->used.end()}, {}};
    for (const auto& [key, view] : inputs) {
        if (assembled->used.contains(key)) continue;
        for (const std::string& absent : assembled->absent)
            if (names::similar(key.substr(0, key.find('.')), absent))
                return fail(ErrorCode::Input, "the model has no argument '" + key + "'; did you mean '" + absent + "'?",
                            "rename the key, or remove it", key);
        binding.ignored.push_back("'" + key + "' is not an argument of the model: ignored");
    }
    return binding;
}

}  // namespace hopscope::loader
