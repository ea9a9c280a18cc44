#include "analysis/lowering/row_maps.h"

#include <algorithm>
#include <map>

#include "analysis/lowering/match.h"
#include "analysis/lowering/rewriter.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using ir::Op;
using ir::Value;
using ir::ValueId;
using operators::Rule;
using Shape = std::vector<std::int64_t>;

// A value that consists of rows of another one: source[numbers], where the numbers may have several dimensions.
struct Mapped {
    ValueId source, numbers;
    bool turned = false;  // else they are as they were
};

class RowMaps : Rewriter {
public:
    explicit RowMaps(const ir::Program& program) : Rewriter(program), m_old(program) {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops) {
            const auto mapped = op.outputs.size() == 1 ? mappedBy(op) : std::nullopt;
            if (mapped && complete(*mapped, op.outputs[0])) {
                take(op, *mapped);
                continue;
            }
            append(op, op.outputs);
            if (mapped) m_mapped.emplace(op.outputs[0], *mapped);
        }
        return std::move(m_new);
    }

private:
    const Value& value(ValueId v) const { return m_new.value(v); }
    const Shape& shape(ValueId v) const { return value(v).shape; }
    std::size_t rank(ValueId v) const { return shape(v).size(); }
    bool isTensor(ValueId v) const { return value(v).kind == ir::ValueKind::Tensor && !value(v).layoutSparse; }

    // Numbers of rows are moved by the prologue, as the model says.
    bool isFeature(ValueId v) const { return base::isFloating(value(v).dtype); }

    std::optional<Mapped> mappedBy(const Op& op)
    {
        switch (operators::of(op.name).rule) {
        case Rule::Reshape: return reshaped(op);
        case Rule::Flip: return turned(op);
        case Rule::Permute: return permuted(op);
        case Rule::Pointwise: return isElementwise(m_old, op) ? computed(op) : std::nullopt;
        case Rule::Linear:
        case Rule::Copy: return computed(op);
        default: return std::nullopt;
        }
    }

    // True if there are as many rows as at first, in a dimension of their own.
    bool complete(const Mapped& mapped, ValueId out) const
    {
        return rank(mapped.numbers) == 1 && shape(out) == shape(mapped.source);
    }

    // The last reshape is done again, on rows that lie as it wants them: its sizes are those of the table, or it is refused.
    void take(const Op& op, const Mapped& mapped)
    {
        const bool says = numbersOf(op) != nullptr;
        const ValueId rows = mapped.turned ? size(op, mapped.source, 0) : ValueId{};
        if (!mapped.turned) return says ? onRows(op, mapped.source) : keep(op, mapped.source);
        const ValueId numbers = add(syntheticOp("reshape", {Arg{mapped.numbers}, Arg{ArgList{Arg{rows}}}}, op),
                                    shape(mapped.numbers), base::DType::Int64);
        Op pick = syntheticOp("index_select", {Arg{mapped.source}, Arg{std::int64_t{0}}, Arg{numbers}}, op);
        if (!says) return append(std::move(pick), op.outputs);
        const base::DType dtype = value(op.outputs[0]).dtype;
        onRows(op, add(std::move(pick), shape(mapped.source), dtype));
    }

    void onRows(Op op, ValueId rows)
    {
        const std::vector<ValueId> outputs = op.outputs;
        set(op, "self", Arg{rows});
        append(std::move(op), outputs);
    }

    void keep(const Op& op, ValueId rows)
    {
        ArgList sizes;
        for (std::size_t d = 0; d < rank(rows); ++d) sizes.push_back(Arg{size(op, rows, d)});
        append(syntheticOp("reshape", {Arg{rows}, Arg{std::move(sizes)}}, op), op.outputs);
    }

    // The shape that a reshape asks for in numbers.
    static const ArgList* numbersOf(const Op& op)
    {
        if (operators::of(op.name).rule != Rule::Reshape || op.name == "aten::unflatten") return nullptr;
        const Arg* const sizes = analysis::sizesOf(op);
        return sizes ? sizes->list() : nullptr;
    }

    std::optional<Mapped> known(ValueId v) const
    {
        const auto it = m_mapped.find(v);
        return it == m_mapped.end() ? std::nullopt : std::optional(it->second);
    }

    // All rows of a value in their order.
    Mapped all(const Op& place, ValueId v)
    {
        if (const auto it = m_all.find(v); it != m_all.end()) return {.source = v, .numbers = it->second};
        const ValueId numbers = rowNumbers(place, v);
        m_all.emplace(v, numbers);
        return {.source = v, .numbers = numbers};
    }

    // ---- rows split into several dimensions, or merged

    std::optional<Mapped> reshaped(const Op& op)
    {
        const auto self = valueOf(op, "self");
        if (!self || !isTensor(*self) || rank(*self) == 0) return std::nullopt;
        const auto before = known(*self);
        const Shape from = shape(before ? before->source : *self), out = shape(op.outputs[0]);
        const std::size_t columns = from.size() - 1;
        const bool kept = out.size() > columns &&
                          std::equal(from.begin() + 1, from.end(), out.end() - static_cast<std::ptrdiff_t>(columns));
        const auto sizes = kept ? rowSizes(op, out.size() - columns) : std::nullopt;
        if (!sizes || (!before && (sizes->size() < 2 || !isFeature(*self)))) return std::nullopt;
        Mapped mapped = before ? *before : all(op, *self);
        mapped.numbers = add(syntheticOp("reshape", {Arg{mapped.numbers}, Arg{*sizes}}, op),
                             Shape(out.begin(), out.end() - static_cast<std::ptrdiff_t>(columns)), base::DType::Int64);
        return mapped;
    }

    // The first `count` sizes that the operator asks for, if the others are those of the columns on any graph.
    std::optional<ArgList> rowSizes(const Op& op, std::size_t count) const
    {
        if (op.name == "aten::flatten") {
            const bool first = count == 1 && isNumber(op, "start_dim", 0, true);
            return first ? std::optional(ArgList{Arg{std::int64_t{-1}}}) : std::nullopt;
        }
        if (op.name == "aten::unflatten") {
            const Arg* const split = ir::argument(op, "sizes");
            const bool rows = isNumber(op, "dim", 0) && split && split->list() && split->list()->size() == count;
            return rows ? std::optional(*split->list()) : std::nullopt;
        }
        const ArgList* const sizes = numbersOf(op);
        if (!sizes || sizes->size() < count) return std::nullopt;
        const auto columns = sizes->begin() + static_cast<std::ptrdiff_t>(count);
        const bool same = std::all_of(columns, sizes->end(), [&](const Arg& size) { return isWidth(size); });
        return same ? std::optional(ArgList(sizes->begin(), columns)) : std::nullopt;
    }

    // A number of the file, or the size of a dimension other than the first.
    bool isWidth(const Arg& size) const
    {
        if (!size.value()) return size.integer() != nullptr;
        const Op* op = producerOf(m_old, *size.value());
        while (op && (op->name == "scalar::int" || op->name == "scalar::item" || op->name == "scalar::tensor"))
            op = op->args.at(0).value() ? producerOf(m_old, *op->args[0].value()) : nullptr;
        const std::int64_t* const dim = op && op->name == "scalar::size" ? op->args.at(1).integer() : nullptr;
        return dim && *dim != 0 && *dim != -static_cast<std::int64_t>(rank(*op->args[0].value()));
    }

    // ---- rows in a different order

    std::optional<Mapped> turned(const Op& op)
    {
        const auto self = valueOf(op, "self");
        const bool rowed = self && isTensor(*self) && rank(*self) > 0;
        const auto dims = rowed ? literals(op, "dims", rank(*self)) : std::nullopt;
        if (!dims || dims->empty()) return std::nullopt;
        const auto before = known(*self);
        if (!before && !isFeature(*self)) return std::nullopt;
        const std::size_t rows = before ? rank(before->numbers) : 1;
        const bool inRows =
            std::ranges::all_of(*dims, [&](std::int64_t d) { return d < static_cast<std::int64_t>(rows); });
        return inRows ? std::optional(again(op, before ? *before : all(op, *self), "dims", *dims)) : std::nullopt;
    }

    std::optional<Mapped> permuted(const Op& op)
    {
        const auto self = valueOf(op, "self");
        const auto before = self ? known(*self) : std::nullopt;
        if (!before) return std::nullopt;
        const auto rows = static_cast<std::int64_t>(rank(before->numbers));
        if (op.name == "aten::transpose") {
            const auto first = literals(op, "dim0", rank(*self)), second = literals(op, "dim1", rank(*self));
            if (!first || !second || first->at(0) >= rows || second->at(0) >= rows) return std::nullopt;
            Op swap = op;
            set(swap, "dim0", Arg{first->at(0)});
            return again(swap, *before, "dim1", *second);
        }
        auto dims = op.name == "aten::permute" ? literals(op, "dims", rank(*self)) : std::nullopt;
        for (std::int64_t d = 0; dims && d < static_cast<std::int64_t>(dims->size()); ++d) {
            const std::int64_t from = dims->at(static_cast<std::size_t>(d));
            if (d < rows ? from >= rows : from != d) return std::nullopt;
        }
        if (!dims) return std::nullopt;
        dims->resize(static_cast<std::size_t>(rows));
        return again(op, *before, "dims", *dims);
    }

    // Dimensions that the file says, counted from the first one.
    static std::optional<std::vector<std::int64_t>> literals(const Op& op, const std::string& argument,
                                                             std::size_t rank)
    {
        const Arg* arg = ir::argument(op, argument);
        if (!arg) return std::nullopt;
        std::vector<std::int64_t> dims;
        for (const Arg& item : arg->list() ? *arg->list() : ArgList{*arg}) {
            if (!item.integer()) return std::nullopt;
            dims.push_back(*item.integer() < 0 ? *item.integer() + static_cast<std::int64_t>(rank) : *item.integer());
        }
        return dims;
    }

    static void set(Op& op, const std::string& argument, const Arg& value)
    {
        for (std::size_t i = 0; i < op.argInfo.size(); ++i)
            if (op.argInfo[i].name == argument) op.args[i] = value;
    }

    // The operator on row numbers.
    Mapped again(Op op, Mapped mapped, const std::string& argument, const std::vector<std::int64_t>& dims)
    {
        ArgList list;
        for (const std::int64_t d : dims) list.push_back(Arg{d});
        const bool single = ir::argument(op, argument)->integer() != nullptr;
        set(op, argument, single ? list.at(0) : Arg{std::move(list)});
        set(op, "self", Arg{mapped.numbers});
        Shape out = shape(op.outputs[0]);
        out.resize(rank(mapped.numbers));
        mapped.numbers = add(std::move(op), std::move(out), base::DType::Int64);
        mapped.turned = true;
        return mapped;
    }

    // ---- row by row

    std::optional<Mapped> computed(const Op& op)
    {
        const Shape out = shape(op.outputs[0]);
        std::optional<Mapped> found;
        bool possible = true, besides = false;
        ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
            if (!isTensor(v)) return;
            if (const auto mapped = known(v)) {
                const bool fits = slot.item < 0 && rank(v) == out.size();
                possible = possible && fits && (!found || found->numbers == mapped->numbers);
                found = mapped;
            } else {
                possible = possible && columnsOnly(op, v);
                besides = besides || rank(v) > 0;
            }
        });
        if (!found || !possible || (besides && rank(found->source) < 2)) return std::nullopt;
        const std::size_t rows = rank(found->numbers);
        if (!std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(rows), shape(found->numbers).begin()))
            return std::nullopt;
        Shape ofSource{shape(found->source)[0]};
        ofSource.insert(ofSource.end(), out.begin() + static_cast<std::ptrdiff_t>(rows), out.end());
        found->source = onSources(op, std::move(ofSource));
        return found;
    }

    // A weight, or something else that is the same for all rows: it meets the columns alone, if there are any.
    bool columnsOnly(const Op& op, ValueId v) const
    {
        if (operators::of(op.name).rule == Rule::Linear) return valueOf(op, "input") != v;
        if (shape(v).empty()) return true;
        const bool fixed = value(v).origin == ir::Origin::Parameter || value(v).origin == ir::Origin::Constant;
        return fixed && rank(v) == 1;
    }

    ValueId onSources(Op op, Shape out)
    {
        for (Arg& arg : op.args)
            if (const auto mapped = arg.value() ? known(*arg.value()) : std::nullopt) arg = Arg{mapped->source};
        const base::DType dtype = value(op.outputs[0]).dtype;
        return add(std::move(op), std::move(out), dtype);
    }

    // ---- the new program

    ValueId add(Op op, Shape out, base::DType dtype)
    {
        Value made;
        made.shape = std::move(out);
        made.dtype = dtype;
        const ValueId id = fresh(std::move(made));
        append(std::move(op), {id});
        return id;
    }

    const ir::Program& m_old;
    std::map<ValueId, Mapped> m_mapped;
    std::map<ValueId, ValueId> m_all;
};

}  // namespace

ir::Program mapRows(const ir::Program& program) { return RowMaps(program).run(); }

}  // namespace hopscope::analysis
