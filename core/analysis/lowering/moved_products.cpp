#include "analysis/lowering/moved_products.h"

#include <algorithm>
#include <map>

#include "analysis/lowering/match.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::Program;
using ir::Value;
using ir::ValueId;
using operators::Rule;
using Names = std::vector<std::string>;

// ---- operators that are linear in rows

bool isRows(const Value& value)
{
    return value.kind == ir::ValueKind::Tensor && !value.layoutSparse && value.shape.size() == 2 &&
           base::isFloating(value.dtype);
}

bool alike(const Value& a, const Value& b) { return isRows(a) && isRows(b) && a.dtype == b.dtype; }

bool sameShape(const Value& a, const Value& b) { return alike(a, b) && a.shape == b.shape; }

bool alongRows(const Op& op, const char* dim = "dim") { return isNumber(op, dim, 0) || isNumber(op, dim, -2); }

const std::string* textOf(const Op& op, const char* name)
{
    const Arg* arg = ir::argument(op, name);
    return arg ? std::get_if<std::string>(&arg->data) : nullptr;
}

class LinearOperator {
public:
    LinearOperator(const Program& program, const Op& op) : m_program(program), m_op(op) {}

    [[nodiscard]] Names carried() const
    {
        if (m_op.outputs.size() != 1 || !isRows(result())) return {};
        switch (operators::of(m_op.name).rule) {
        case Rule::IndexSelect:
        case Rule::Index: return when(picks(), "self");
        case Rule::Copy: return when(isLike("self"), "self");
        case Rule::Matmul: return sparseProduct();
        case Rule::Scatter: return scattered();
        case Rule::Segments: return when(addsSegments(), "data");
        case Rule::Pointwise: return pointwise();
        default: return {};
        }
    }

private:
    static Names when(bool is, const std::string& name) { return is ? Names{name} : Names{}; }
    [[nodiscard]] const Value& result() const { return m_program.value(m_op.outputs[0]); }

    [[nodiscard]] const Value* tensor(const std::string& name) const
    {
        const auto v = valueOf(m_op, name);
        return v && m_program.value(*v).kind == ir::ValueKind::Tensor ? &m_program.value(*v) : nullptr;
    }

    [[nodiscard]] bool isLike(const std::string& name) const
    {
        const Value* const value = tensor(name);
        return value && sameShape(*value, result());
    }

    [[nodiscard]] bool picks() const
    {
        const Value* const self = tensor("self");
        if (!self || !alike(*self, result()) || self->shape[1] != result().shape[1]) return false;
        if (m_op.name == "aten::index_select") return alongRows(m_op);
        const Arg* const indices = ir::argument(m_op, "indices");
        const bool one = indices && indices->list() && indices->list()->size() == 1;
        const ValueId* const index = one ? indices->list()->front().value() : nullptr;
        return index && isIndex(m_program.value(*index));
    }

    static bool isIndex(const Value& v) { return v.shape.size() == 1 && v.dtype == base::DType::Int64; }

    [[nodiscard]] Names sparseProduct() const
    {
        for (const auto& [matrix, dense] : {std::pair{"self", "other"}, {"self", "mat2"}, {"sparse", "dense"}}) {
            const Value *const first = tensor(matrix), *const second = tensor(dense);
            if (first && second)
                return when(first->layoutSparse && first->dtype == second->dtype && alike(*second, result()), dense);
        }
        return {};
    }

    // ---- sums and means

    [[nodiscard]] bool startsAtZero() const
    {
        const Op* const start = valueOf(m_op, "self") ? producerOf(m_program, *valueOf(m_op, "self")) : nullptr;
        if (!start || !isLike("self") || start->name.find("empty") != std::string::npos) return false;
        const Arg* const size = ir::argument(*start, "size");
        const bool sized = size ? size->list() && size->list()->size() == 2 : valueOf(*start, "self").has_value();
        return sized && operators::of(start->name).traits.fill == operators::Fill::Zero;
    }

    [[nodiscard]] Names scattered() const
    {
        if (!startsAtZero() || !alongRows(m_op)) return {};
        if (m_op.name == "aten::index_add") return when(isMessage("source"), "source");
        const auto index = valueOf(m_op, "index");
        const bool sums = m_op.name == "aten::scatter_add" || (m_op.name == "aten::scatter_reduce" && addsUp());
        return when(sums && isMessage("src") && index && repeatedColumn(m_program, *index), "src");
    }

    // A mean that counts the start as one more row is left alone.
    [[nodiscard]] bool addsUp() const
    {
        const std::string* const reduce = textOf(m_op, "reduce");
        return reduce && (*reduce == "sum" || (*reduce == "mean" && isFlag(m_op, "include_self", false)));
    }

    [[nodiscard]] bool isMessage(const std::string& name) const
    {
        const Value* const messages = tensor(name);
        return messages && alike(*messages, result()) && messages->shape[1] == result().shape[1];
    }

    [[nodiscard]] bool addsSegments() const
    {
        const std::string* const reduce = textOf(m_op, "reduce");
        const Arg* const initial = ir::argument(m_op, "initial");
        const double* const from = initial ? std::get_if<double>(&initial->data) : nullptr;
        const bool zero = !initial || initial->none() || (from && *from == 0) || isNumber(m_op, "initial", 0);
        return reduce && (*reduce == "sum" || *reduce == "mean") && zero && isNumber(m_op, "axis", 0, true) &&
               isMessage("data");
    }

    // ---- factors and sums

    [[nodiscard]] Names pointwise() const
    {
        const bool plain = m_op.overload == "Tensor" || m_op.overload == "Scalar";
        if (!plain) return {};
        if (m_op.name == "aten::add" || m_op.name == "aten::sub")
            return isLike("self") && isLike("other") ? Names{"self", "other"} : Names{};
        if (m_op.name == "aten::mul" && isFactor("self")) return when(isLike("other"), "other");
        if (m_op.name == "aten::mul" || m_op.name == "aten::div")
            return when(isFactor("other") && isLike("self"), "self");
        return {};
    }

    // One number, or one for each row.
    [[nodiscard]] bool isFactor(const std::string& name) const
    {
        const auto v = valueOf(m_op, name);
        if (!v) return name == "other" && ir::argument(m_op, name) != nullptr;
        const Value& factor = m_program.value(*v);
        if (factor.kind != ir::ValueKind::Tensor) return true;
        return factor.shape.empty() || factor.shape.back() == 1 || repeatedColumn(m_program, *v);
    }

    const Program& m_program;
    const Op& m_op;
};

// ---- paths

class Finder {
public:
    explicit Finder(const Program& program) : m_program(program)
    {
        for (const Op& op : program.ops)
            ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) { m_users[v] += onlyLooksAt(op, slot) ? 0 : 1; });
        for (const ir::NamedValue& output : program.outputs) ++m_users[output.value];
        for (const ir::Guard& guard : program.guards) ++m_users[guard.condition];
    }

    std::optional<MovedProduct> find(const Op& op) const
    {
        const auto product = productOf(op);
        if (!product || !narrows(*product, op)) return std::nullopt;
        Path path;
        if (!grow(path, product->input, false) || !path.aggregates) return std::nullopt;
        MovedProduct found{.product = op.id,
                           .table = *path.table,
                           .root = product->input,
                           .weight = product->weight,
                           .bias = product->bias,
                           .inner = std::move(path.inner),
                           .in = m_program.value(product->input).shape[1],
                           .out = m_program.value(op.outputs[0]).shape[1]};
        return found;
    }

private:
    struct Path {
        std::optional<ValueId> table;
        std::set<ValueId> inner;
        bool aggregates = false;
    };

    [[nodiscard]] bool narrows(const Product& product, const Op& op) const
    {
        const Value &input = m_program.value(product.input), &weight = m_program.value(product.weight);
        const Value& result = m_program.value(op.outputs[0]);
        return alike(input, result) && weight.shape.size() == 2 && weight.dtype == input.dtype &&
               isWeight(m_program, product.weight) && result.shape[1] < input.shape[1];
    }

    // Adds `v` and its operands to the path; if that fails, takes `v` as the table. `ofMessages`: its rows are
    // messages, one per edge, so no product is moved there.
    bool grow(Path& path, ValueId v, bool ofMessages) const
    {
        Path further = path;
        if (growInside(further, v, ofMessages)) {
            path = std::move(further);
            return true;
        }
        if (ofMessages || (path.table && *path.table != v)) return false;
        path.table = v;
        return true;
    }

    bool growInside(Path& path, ValueId v, bool ofMessages) const
    {
        const Op* const op = producerOf(m_program, v);
        const Names carried = op && m_users.at(v) == 1 ? carriedArguments(m_program, *op) : Names{};
        path.inner.insert(v);
        const Rule rule = carried.empty() ? Rule::None : operators::of(op->name).rule;
        const bool product = rule == Rule::Matmul;
        const bool combines = rule == Rule::Scatter || rule == Rule::Segments;
        const bool picks = rule == Rule::Index || rule == Rule::IndexSelect;
        path.aggregates = path.aggregates || product || combines;
        const bool below = combines || (ofMessages && !picks && !product);
        return !carried.empty() && std::ranges::all_of(carried, [&](const std::string& name) {
            return grow(path, *valueOf(*op, name), below);
        });
    }

    const Program& m_program;
    std::map<ValueId, int> m_users;
};

}  // namespace

std::optional<Product> productOf(const ir::Op& op)
{
    const auto of = [&](const char* input, const char* weight, std::optional<Arg> bias) -> std::optional<Product> {
        const auto x = valueOf(op, input), w = valueOf(op, weight);
        return x && w ? std::optional(Product{*x, *w, std::move(bias)}) : std::nullopt;
    };
    if (op.name == "aten::linear") {
        const Arg* const bias = ir::argument(op, "bias");
        return of("input", "weight", bias && !bias->none() ? std::optional(*bias) : std::nullopt);
    }
    if (op.name == "aten::mm") return of("self", "mat2", std::nullopt);
    if (op.name == "aten::matmul") return of("self", "other", std::nullopt);
    const bool sum = op.name == "aten::addmm" && isNumber(op, "beta", 1, true) && isNumber(op, "alpha", 1, true);
    return sum ? of("mat1", "mat2", *ir::argument(op, "self")) : std::nullopt;
}

bool isWeight(const ir::Program& program, ir::ValueId v)
{
    const Op* const op = producerOf(program, v);
    if (!op) return program.value(v).origin != ir::Origin::Input;
    bool all = operators::isView(op->name) || operators::of(op->name).rule == Rule::Copy;
    ir::forEachOperand(*op, [&](ir::Slot, ValueId operand) { all = all && isWeight(program, operand); });
    return all;
}

std::vector<std::string> carriedArguments(const ir::Program& program, const ir::Op& op)
{
    return LinearOperator(program, op).carried();
}

std::optional<ValueId> repeatedColumn(const ir::Program& program, ValueId v)
{
    const Op* const op = producerOf(program, v);
    const auto column = op && operators::of(op->name).rule == Rule::Expand ? valueOf(*op, "self") : std::nullopt;
    if (!column) return std::nullopt;
    const Value &from = program.value(*column), &to = program.value(v);
    const bool repeats =
        from.shape.size() == 2 && to.shape.size() == 2 && from.shape[1] == 1 && from.shape[0] == to.shape[0];
    return repeats ? column : std::nullopt;
}

bool onlyLooksAt(const ir::Op& op, ir::Slot slot)
{
    if (op.name == "scalar::size") return true;
    const auto arg = static_cast<std::size_t>(slot.arg);
    const bool sized = !operators::isFill(op.name) || ir::argument(op, "size") != nullptr;
    return slot.item < 0 && arg < op.argInfo.size() && sized && operators::isShapeOnly(op.name, op.argInfo[arg].name);
}

std::vector<MovedProduct> movedProducts(const ir::Program& program)
{
    const Finder finder(program);
    std::vector<MovedProduct> found;
    for (const Op& op : program.ops)
        if (auto moved = finder.find(op)) found.push_back(std::move(*moved));
    return found;
}

}  // namespace hopscope::analysis
