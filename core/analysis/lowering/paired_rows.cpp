#include "analysis/lowering/paired_rows.h"

#include <map>
#include <set>

#include "analysis/lowering/match.h"
#include "analysis/lowering/rewriter.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using ir::Op;
using ir::Value;
using ir::ValueId;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t mostKinds = 32;

// A sum for each pair: its operands, and in which order the pairs are numbered.
struct Paired {
    ValueId kinds, nodes, messages, count;  // count: the number of nodes
    std::int64_t kindCount = 0;
    bool kindsFirst = false;
    const Op* fill = nullptr;
};

// A product of a literal and something else.
struct Product {
    std::optional<std::int64_t> literal;
    ValueId first, second;  // second: where neither factor is a literal
};

class PairedSeparation : Rewriter {
public:
    explicit PairedSeparation(const ir::Program& program) : Rewriter(program), m_old(program)
    {
        for (const Op& op : program.ops)
            ir::forEachOperand(op, [&](ir::Slot, ValueId v) { m_users[v].push_back(&op); });
        for (const ir::NamedValue& output : program.outputs) m_users[output.value].push_back(nullptr);
    }

    ir::Program run()
    {
        for (const Op& op : m_old.ops) {
            const auto self = isReshape(op) || keepsPairs(op) ? valueOf(op, "self") : std::nullopt;
            const auto separated = self ? m_separated.find(*self) : m_separated.end();
            if (separated != m_separated.end() && isReshape(op)) reshape(op, separated->second);
            else if (separated != m_separated.end()) again(op, separated->second);
            else if (const auto paired = match(op)) m_separated[op.outputs.at(0)] = separate(op, *paired);
            else append(op, op.outputs);
        }
        return std::move(m_new);
    }

private:
    const Value& value(ValueId v) const { return m_old.value(v); }

    static bool isReshape(const Op& op)
    {
        return op.name == "aten::view" || op.name == "aten::reshape" || op.name == "aten::_unsafe_view";
    }

    // ---- patterns of the model

    // The number behind its forms as a tensor, an element of one, and an integer.
    ValueId plain(ValueId v) const
    {
        const Op* op = producerOf(m_old, v);
        const bool form =
            op && (op->name == "scalar::int" || op->name == "scalar::item" || op->name == "scalar::tensor");
        return form && op->args.at(0).value() ? plain(*op->args[0].value()) : v;
    }

    std::optional<std::int64_t> literal(const Arg& arg) const
    {
        if (arg.integer()) return *arg.integer();
        if (!arg.value()) return std::nullopt;
        const Value& v = value(plain(*arg.value()));
        const bool whole = v.kind == ir::ValueKind::Int || base::isIntegral(v.dtype);
        return v.literal.size() == 1 && whole ? std::optional(static_cast<std::int64_t>(v.literal[0])) : std::nullopt;
    }

    std::optional<Product> productOf(ValueId v) const
    {
        const Op* op = producerOf(m_old, plain(v));
        if (!op || (op->name != "aten::mul" && op->name != "scalar::mul")) return std::nullopt;
        Product product;
        for (std::size_t i = 0; i < 2; ++i) {
            if (const auto number = literal(op->args.at(i))) product.literal = number;
            else if (op->args[i].value())
                (product.first.valid() ? product.second : product.first) = *op->args[i].value();
        }
        return product.first.valid() ? std::optional(product) : std::nullopt;
    }

    // Sizes of the same dimension of one tensor.
    bool sameSize(ValueId a, ValueId b) const
    {
        const Op *one = producerOf(m_old, plain(a)), *other = producerOf(m_old, plain(b));
        return one && other && one->name == "scalar::size" && one->name == other->name && one->args == other->args;
    }

    bool isColumn(ValueId v) const
    {
        return value(v).kind == ir::ValueKind::Tensor && value(v).shape.size() == 1 && base::isIntegral(value(v).dtype);
    }

    // The column of numbers that has been given the shape of messages.
    ValueId column(ValueId v) const
    {
        const Op* op = producerOf(m_old, v);
        const bool shapes =
            op && (operators::reshapes(op->name) || operators::expands(op->name) || op->name == "aten::unsqueeze");
        const auto from = shapes ? valueOf(*op, "self") : std::nullopt;
        return from && value(v).shape.size() > 1 ? column(*from) : v;
    }

    // A table of zeros with a literal number of rows for each row of another table.
    std::optional<Paired> filled(ValueId table) const
    {
        const Op* fill = producerOf(m_old, table);
        const Arg* sizes = fill && (fill->name == "aten::zeros" || fill->name == "aten::new_zeros")
                               ? ir::argument(*fill, "size")
                               : nullptr;
        if (!sizes || !sizes->list() || sizes->list()->empty() || !sizes->list()->front().value()) return std::nullopt;
        const auto rows = productOf(*sizes->list()->front().value());
        if (!rows || !rows->literal || *rows->literal < 2 || *rows->literal > mostKinds) return std::nullopt;
        Paired found;
        found.fill = fill;
        found.kindCount = *rows->literal;
        found.count = plain(rows->first);
        const Op* size = producerOf(m_old, found.count);
        return size && size->name == "scalar::size" ? std::optional(found) : std::nullopt;
    }

    // kind * N + node, or node * R + kind
    bool numbers(ValueId index, Paired& pairs) const
    {
        const Op* sum = producerOf(m_old, index);
        if (!sum || sum->name != "aten::add" || !isNumber(*sum, "alpha", 1, true)) return false;
        for (const std::size_t i : {0U, 1U}) {
            const Arg &scaled = sum->args.at(i), &other = sum->args.at(1 - i);
            const auto product = scaled.value() && other.value() ? productOf(*scaled.value()) : std::nullopt;
            if (!product || !isColumn(*other.value())) continue;
            const ValueId column = product->first, factor = product->second;
            if (product->literal == pairs.kindCount && isColumn(column)) {
                pairs.nodes = column, pairs.kinds = *other.value(), pairs.kindsFirst = false;
                return true;
            }
            if (product->literal || !factor.valid()) continue;
            const bool swapped = !isColumn(column);
            const ValueId kinds = swapped ? factor : column, times = swapped ? column : factor;
            if (!isColumn(kinds) || !sameSize(times, pairs.count)) continue;
            pairs.nodes = *other.value(), pairs.kinds = kinds, pairs.kindsFirst = true;
            return true;
        }
        return false;
    }

    std::optional<Paired> match(const Op& op) const
    {
        if (op.name != "aten::index_add" && op.name != "aten::scatter_add") return std::nullopt;
        const auto table = valueOf(op, "self"), index = valueOf(op, "index");
        const auto messages = valueOf(op, op.name == "aten::index_add" ? "source" : "src");
        if (!table || !index || !messages || !isNumber(op, "dim", 0) || !isNumber(op, "alpha", 1, true))
            return std::nullopt;
        auto found = filled(*table);
        if (!found || !numbers(column(*index), *found) || !onlyReshaped(op.outputs.at(0))) return std::nullopt;
        found->messages = *messages;
        const Shape &of = value(*messages).shape, &rows = value(found->kinds).shape;
        return !of.empty() && of[0] == rows[0] ? found : std::nullopt;
    }

    // An element-wise operator on `self` and numbers, such as clamp(min=1).
    bool keepsPairs(const Op& op) const
    {
        if (!isElementwise(m_old, op) || op.outputs.size() != 1) return false;
        int tensors = 0;
        ir::forEachOperand(op, [&](ir::Slot, ValueId v) { tensors += value(v).shape.empty() ? 0 : 1; });
        return tensors == 1 && valueOf(op, "self") && !value(*valueOf(op, "self")).shape.empty();
    }

    bool onlyReshaped(ValueId v) const
    {
        const auto users = m_users.find(v);
        return users != m_users.end() && std::ranges::all_of(users->second, [&](const Op* op) {
                   return op && (isReshape(*op) || (keepsPairs(*op) && onlyReshaped(op->outputs[0])));
               });
    }

    // ---- the new program

    ValueId call(const Op& place, const std::string& signature, std::vector<Arg> args, Shape shape, base::DType dtype)
    {
        Value out;
        out.shape = std::move(shape);
        out.dtype = dtype;
        return add(place, signature, std::move(args), std::move(out));
    }

    // The messages, as zeros for all kinds but their own.
    ValueId spread(const Op& op, const Paired& p)
    {
        const Value messages = value(p.messages);
        const std::int64_t edges = messages.shape[0];
        const Arg none{}, one{std::int64_t{1}};
        const ValueId column = call(op, "unsqueeze", {Arg{p.kinds}, one}, {edges, 1}, value(p.kinds).dtype);
        const ValueId kinds =
            call(op, "arange", {Arg{p.kindCount}, Arg{dtypeCode(base::DType::Int64)}, none, none, none}, {p.kindCount},
                 base::DType::Int64);
        Shape shape{edges, p.kindCount}, narrow = messages.shape;
        ValueId own = call(op, "eq.Tensor", {Arg{column}, Arg{kinds}}, shape, base::DType::Bool);
        for (std::size_t d = 1; d < messages.shape.size(); ++d) {
            shape.push_back(1);
            own = call(op, "unsqueeze", {Arg{own}, Arg{std::int64_t{-1}}}, shape, base::DType::Bool);
        }
        narrow.insert(narrow.begin() + 1, 1);
        const ValueId sent = call(op, "unsqueeze", {Arg{p.messages}, one}, narrow, messages.dtype);
        const ValueId zero = call(op, "zeros_like", {Arg{sent}}, narrow, messages.dtype);
        narrow[1] = p.kindCount;
        return call(op, "where.self", {Arg{own}, Arg{sent}, Arg{zero}}, narrow, messages.dtype);
    }

    ValueId separate(const Op& op, const Paired& p)
    {
        const ValueId messages = spread(op, p);
        Op fill = *p.fill;
        for (std::size_t i = 0; i < fill.argInfo.size(); ++i) {
            auto* const sizes = std::get_if<ArgList>(&fill.args[i].data);
            if (fill.argInfo[i].name != "size" || !sizes) continue;
            sizes->front() = Arg{p.count};
            sizes->insert(sizes->begin() + 1, Arg{p.kindCount});
        }
        Value table = value(p.fill->outputs.at(0));
        table.shape.insert(table.shape.begin() + 1, p.kindCount);
        table.shape[0] /= p.kindCount;
        const Shape shape = table.shape;
        const ValueId zeros = fresh(std::move(table));
        append(std::move(fill), {zeros});
        const base::DType dtype = value(op.outputs.at(0)).dtype;
        const Arg first{std::int64_t{0}}, second{std::int64_t{1}};
        const ValueId sums =
            call(op, "index_add", {Arg{zeros}, first, Arg{p.nodes}, Arg{messages}, second}, shape, dtype);
        if (!p.kindsFirst) return sums;
        Shape turned = shape;
        std::swap(turned[0], turned[1]);
        return call(op, "transpose.int", {Arg{sums}, first, second}, turned, dtype);
    }

    void again(Op op, ValueId separated)
    {
        const ValueId old = op.outputs[0];
        Value out = value(old);
        out.shape = m_new.value(separated).shape;
        const ValueId result = fresh(std::move(out));
        for (std::size_t i = 0; i < op.args.size(); ++i)
            if (op.argInfo[i].name == "self") op.args[i] = Arg{separated};
        append(std::move(op), {result});
        m_separated[old] = result;
    }

    void reshape(const Op& op, ValueId separated)
    {
        append(syntheticOp("reshape", {Arg{separated}, *sizesOf(op)}, op), op.outputs);
    }

    const ir::Program& m_old;
    std::map<ValueId, std::vector<const Op*>> m_users;  // nullptr: an output
    std::map<ValueId, ValueId> m_separated;
};

}  // namespace

ir::Program separatePairedRows(const ir::Program& program) { return PairedSeparation(program).run(); }

}  // namespace hopscope::analysis
