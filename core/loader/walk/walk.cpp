#include "loader/walk/walker.h"

#include "loader/names.h"
#include "loader/one_thread.h"
#include "loader/walk/provenance.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using c10::IValue;
using ir::Origin;

bool smellsOfSize(const std::string& what)
{
    for (const char* sign : {"size", "shape", "out of bounds", "out of range", "dimension"})
        if (what.find(sign) != std::string::npos) return true;
    return false;
}

base::Error thrown(const std::string& what, const std::string& place)
{
    const std::string line = names::firstLine(what);
    return base::makeError(ErrorCode::Unsupported, "forward fails on the sample: " + line,
                           smellsOfSize(line)
                               ? "a size may have been baked in during export: use scripting or x.size(0)"
                               : "check in Python that the model accepts these inputs",
                           place);
}

}  // namespace

void Walker::refuse(const std::string& message, const std::string& hint) const
{
    throw Refused{base::makeError(ErrorCode::Unsupported, message, hint, place())};
}

void Walker::refuseThrown(const std::string& what) const { throw Refused{thrown(what, place()), true}; }

const ir::Source& Walker::currentSource() const
{
    const auto [it, isNew] = m_sources.try_emplace(m_node);
    if (isNew && m_node) it->second = sourceOf(*m_node);
    return it->second;
}

ir::Op Walker::newOp(const std::string& name, const std::string& overload) const
{
    ir::Op op;
    op.id = ir::OpId(m_recorder.program().ops.size());
    op.name = name;
    op.overload = overload;
    op.modules = m_modules;
    op.source = currentSource();
    return op;
}

std::string Walker::place() const
{
    return m_node ? ir::describeOp(newOp(m_node->kind().toQualString(), {})) : std::string();
}

Item Walker::wrapLeaf(const IValue& value, const std::string& path, Leaf leaf)
{
    if (value.isTensor() && value.toTensor().defined()) {
        const at::Tensor& tensor = value.toTensor();
        if (leaf == Leaf::Attribute) return {value, m_recorder.parameter(path, tensor)};
        if (leaf == Leaf::Literal) return {value, m_recorder.constant(tensor)};
        if (tensor.layout() != at::kStrided) return wrapSparseInput(tensor, path);
        return {value, m_recorder.input(path, value)};
    }
    const bool number = value.isInt() || value.isDouble() || value.isBool();
    if (leaf == Leaf::Input && number) return {value, m_recorder.input(path, value)};
    Item item(value);
    item.path = path;
    return item;
}

// The program takes a sparse matrix apart: its parts are inputs, the matrix is made by an operator.
Item Walker::wrapSparseInput(const at::Tensor& tensor, const std::string& path)
{
    const bool csr = tensor.layout() == at::kSparseCsr;
    if (!csr && tensor.layout() != at::kSparse) refuse("the sparse layout of '" + path + "' is not supported");
    const std::string prefix = path + (csr ? ".csr_" : ".coo_");
    const auto part = [&](const char* name, const IValue& value) {
        return Item(value, m_recorder.input(prefix + name, value));
    };
    Sparse parts;
    if (csr) {
        parts.crow = part("crow", tensor.crow_indices());
        parts.col = part("col", tensor.col_indices());
    } else {
        parts.indices = part("indices", tensor._indices());
    }
    parts.values = part("values", csr ? tensor.values() : tensor._values());
    for (int d = 0; d < 2; ++d) parts.sizes[d] = part(d == 0 ? "size.0" : "size.1", tensor.size(d));
    if (csr)
        parts.indices = call("aten::_convert_indices_from_csr_to_coo", "",
                             {parts.crow, parts.col, Item(IValue(false)), Item(IValue(false))});
    const Item sizes = boxed(c10::ListType::ofInts(), {parts.sizes[0], parts.sizes[1]});
    Item matrix = call("aten::sparse_coo_tensor", "indices_size",
                       {parts.indices, parts.values, sizes, Item(), Item(), Item(), Item(), Item()});
    matrix.concrete = tensor;
    m_sparse[matrix.value] = std::move(parts);
    return matrix;
}

Item Walker::wrap(const IValue& value, const std::string& path, Leaf leaf)
{
    const auto below = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
    Item out;
    if (value.isList()) {
        const auto list = value.toList();
        out = boxed(c10::ListType::create(list.elementType()), {});
        for (std::size_t i = 0; i < list.size(); ++i)
            out.box->items.push_back(wrap(list.get(i), below(std::to_string(i)), leaf));
    } else if (value.isTuple()) {
        out = boxed(value.type(), {});
        for (const IValue& element : value.toTupleRef().elements())
            out.box->items.push_back(wrap(element, below(std::to_string(out.box->items.size())), leaf));
    } else if (value.isGenericDict()) {
        const auto dict = value.toGenericDict();
        out = boxed(c10::DictType::create(dict.keyType(), dict.valueType()), {});
        for (const auto& entry : dict) {
            out.box->keys.push_back(entry.key());
            out.box->items.push_back(wrap(entry.value(), below(keyText(entry.key())), leaf));
        }
    } else {
        return wrapLeaf(value, path, leaf);
    }
    return out;
}

void Walker::emitOutputs(const Item& item, const std::string& name)
{
    if (item.box) {
        const bool dict = item.box->type->kind() == c10::TypeKind::DictType;
        for (std::size_t i = 0; i < item.box->items.size(); ++i)
            emitOutputs(item.box->items[i], name + "." + (dict ? keyText(item.box->keys[i]) : std::to_string(i)));
    } else if (item.value.valid()) {
        m_recorder.output(name, item.value);
    } else if (item.concrete.isScalar()) {
        m_recorder.output(name, m_recorder.constantNumber(item.concrete));
    } else if (!item.concrete.isNone()) {
        refuse("forward returns a " + item.concrete.tagKind() + " at '" + name +
               "', which is neither tensor nor number");
    }
}

Walk Walker::run(const std::vector<IValue>& inputs, const base::TensorMap& given)
{
    const torch::jit::Module& module = m_model.impl().module;
    const auto forward = module.get_method("forward");
    const auto& arguments = forward.function().getSchema().arguments();
    std::vector<Item> items{Item(IValue(module._ivalue()))};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = arguments[i + 1].name();
        const bool ownDefault = inputs[i].isScalar() && !given.contains(name);
        items.push_back(ownDefault ? Item(inputs[i]) : wrap(inputs[i], name, Leaf::Input));
    }
    m_moduleTypes[""] = m_model.info().className;
    const Item result = callFunction(forward.function(), std::move(items), "");
    m_node = nullptr;
    emitOutputs(result, "out");
    if (m_recorder.program().outputs.empty()) refuse("forward returns no tensor");
    return m_recorder.finish();
}

namespace {

std::vector<IValue> copied(const std::vector<IValue>& inputs)
{
    std::vector<IValue> out;
    for (const IValue& value : inputs) out.push_back(value.deepcopy());
    return out;
}

Walk walkOnce(const Model& model, const std::vector<IValue>& inputs, const base::TensorMap& sample)
{
    Walker walker(model);
    try {
        return walker.run(copied(inputs), sample);
    } catch (const c10::Error& e) {
        throw Refused{thrown(e.what_without_backtrace(), walker.place()), true};
    } catch (const std::exception& e) {
        throw Refused{thrown(e.what(), walker.place()), true};
    }
}

// Whether forward throws on these inputs too.
bool throwsOn(const Model& model, const base::TensorMap& whole)
{
    const auto inputs = assembleInputs(model, whole);
    try {
        if (inputs) static_cast<void>(walkOnce(model, *inputs, whole));
    } catch (const Refused& refused) {
        return refused.byForward;
    }
    return !inputs;
}

}  // namespace

base::Result<Walk> walk(const Model& model, const base::TensorMap& sample, const base::TensorMap* whole)
{
    auto inputs = assembleInputs(model, sample);
    if (!inputs) return base::forward(inputs);
    const at::NoGradGuard noGrad;
    const OneThread oneThread;
    try {
        return walkOnce(model, *inputs, sample);
    } catch (Refused& refused) {
        if (refused.byForward && whole && throwsOn(model, *whole)) refused.error.code = ErrorCode::Input;
        return tl::unexpected(refused.error);
    }
}

}  // namespace hopscope::loader
