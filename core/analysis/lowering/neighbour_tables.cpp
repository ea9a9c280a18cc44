#include "analysis/lowering/neighbour_tables.h"

#include <algorithm>
#include <optional>

#include "analysis/lowering/rewriter.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using ir::Op;
using ir::Value;
using ir::ValueId;

class Simplifier : Rewriter {
public:
    explicit Simplifier(const ir::Program& program) : Rewriter(program) {}

    ir::Program run(const std::vector<Op>& ops)
    {
        for (const Op& op : ops) {
            if (const auto flat = flatLookUp(op)) append(indexed(op, flat->source, flat->index), op.outputs);
            else if (const auto padded = paddedLookUp(op)) choose(op, *padded);
            else append(op, op.outputs);
        }
        return std::move(m_new);
    }

private:
    struct LookUp {
        ValueId source, index;
        bool wraps = false;  // negative numbers count from the end
    };
    struct Padded {
        ValueId rows, other;  // the table, and the single row next to it
        LookUp lookUp;
        bool otherFirst = false;
    };

    const Value& value(ValueId v) const { return m_new.value(v); }

    const Op* producer(ValueId v) const
    {
        return value(v).origin == ir::Origin::Op ? &m_new.op(value(v).producer) : nullptr;
    }

    static const Arg* argument(const Op& op, const std::string& name)
    {
        for (std::size_t i = 0; i < op.argInfo.size(); ++i)
            if (op.argInfo[i].name == name) return &op.args[i];
        return nullptr;
    }

    static std::optional<ValueId> tensor(const Op& op, const std::string& name)
    {
        const Arg* arg = argument(op, name);
        return arg && arg->value() ? std::optional(*arg->value()) : std::nullopt;
    }

    static bool isFirstDim(const Op& op)
    {
        const Arg* dim = argument(op, "dim");
        return !dim || (dim->integer() && *dim->integer() == 0);
    }

    // source[index], by rows.
    std::optional<LookUp> lookUp(const Op& op) const
    {
        const bool embedding = op.name == "aten::embedding";
        if (embedding || (op.name == "aten::index_select" && isFirstDim(op))) {
            const auto source = tensor(op, embedding ? "weight" : "self"),
                       index = tensor(op, embedding ? "indices" : "index");
            return source && index ? std::optional(LookUp{.source = *source, .index = *index, .wraps = false})
                                   : std::nullopt;
        }
        const Arg* indices = op.name == "aten::index" ? argument(op, "indices") : nullptr;
        const auto source = tensor(op, "self");
        if (!indices || !source || !indices->list() || indices->list()->size() != 1) return std::nullopt;
        const ValueId* index = indices->list()->front().value();
        if (!index || !base::isIntegral(value(*index).dtype)) return std::nullopt;
        return LookUp{.source = *source, .index = *index, .wraps = true};
    }

    static bool reshapes(const Op& op)
    {
        return op.name == "aten::view" || op.name == "aten::reshape" || op.name == "aten::unflatten" ||
               op.name == "aten::flatten" || op.name == "aten::_unsafe_view";
    }

    std::optional<LookUp> flatLookUp(const Op& op) const
    {
        const auto flat = reshapes(op) ? tensor(op, "self") : std::nullopt;
        const Op* picked = flat ? producer(*flat) : nullptr;
        const auto found = picked ? lookUp(*picked) : std::nullopt;
        const Op* flattened = found && value(found->index).shape.size() == 1 ? producer(found->index) : nullptr;
        if (!flattened || !reshapes(*flattened)) return std::nullopt;
        const auto table = tensor(*flattened, "self");
        if (!table || value(*table).shape.size() != 2) return std::nullopt;
        std::vector<std::int64_t> shape = value(*table).shape;
        const auto& rest = value(found->source).shape;
        shape.insert(shape.end(), rest.begin() + 1, rest.end());
        if (value(op.outputs[0]).shape != shape) return std::nullopt;
        return LookUp{.source = found->source, .index = *table, .wraps = found->wraps};
    }

    std::optional<Padded> paddedLookUp(const Op& op) const
    {
        const auto found = lookUp(op);
        const Op* cat = found ? producer(found->source) : nullptr;
        if (!cat || cat->name != "aten::cat" || !isFirstDim(*cat) || value(found->index).shape.size() != 2)
            return std::nullopt;
        const ArgList* parts = argument(*cat, "tensors")->list();
        if (!parts || parts->size() != 2 || !(*parts)[0].value() || !(*parts)[1].value()) return std::nullopt;
        const ValueId first = *(*parts)[0].value(), last = *(*parts)[1].value();
        const auto isRow = [&](ValueId v) { return value(v).shape.size() > 0 && value(v).shape[0] == 1; };
        if (isRow(first) == isRow(last)) return std::nullopt;
        if (isRow(last)) return Padded{.rows = first, .other = last, .lookUp = *found, .otherFirst = false};
        return Padded{.rows = last, .other = first, .lookUp = *found, .otherFirst = true};
    }

    static Value tensorOf(std::vector<std::int64_t> shape, base::DType dtype)
    {
        Value v;
        v.shape = std::move(shape);
        v.dtype = dtype;
        return v;
    }

    static Value number(std::int64_t now)
    {
        Value v;
        v.kind = ir::ValueKind::Int;
        v.number = static_cast<double>(now);
        return v;
    }

    static Op indexed(const Op& like, ValueId source, ValueId index)
    {
        return syntheticOp("index.Tensor", {Arg{source}, Arg{ArgList{Arg{index}}}}, like);
    }

    // Row numbers of the joined table that count from its beginning.
    ValueId fromBeginning(const Op& op, const Padded& p)
    {
        const ValueId index = p.lookUp.index;
        if (!p.lookUp.wraps) return index;
        const auto shape = value(index).shape;
        const std::int64_t rows = value(p.rows).shape[0];
        const ValueId size = add(op, "scalar::size", {Arg{p.rows}, Arg{std::int64_t{0}}}, number(rows));
        const ValueId all = add(op, "scalar::add", {Arg{size}, Arg{std::int64_t{1}}}, number(rows + 1));
        const ValueId below =
            add(op, "lt.Scalar", {Arg{index}, Arg{std::int64_t{0}}}, tensorOf(shape, base::DType::Bool));
        const ValueId shift = add(op, "mul.Scalar", {Arg{below}, Arg{all}}, tensorOf(shape, base::DType::Int64));
        return add(op, "add.Tensor", {Arg{index}, Arg{shift}, Arg{std::int64_t{1}}},
                   tensorOf(shape, base::DType::Int64));
    }

    // where(number is one of the table's, table[number], other row)
    void choose(const Op& op, const Padded& p)
    {
        const auto shape = value(p.lookUp.index).shape;
        const std::int64_t rows = value(p.rows).shape[0];
        ValueId index = fromBeginning(op, p);
        if (p.otherFirst)
            index = add(op, "add.Scalar", {Arg{index}, Arg{std::int64_t{-1}}, Arg{std::int64_t{1}}},
                        tensorOf(shape, base::DType::Int64));
        const ValueId size = add(op, "scalar::size", {Arg{p.rows}, Arg{std::int64_t{0}}}, number(rows));
        const ValueId last = add(op, "scalar::add", {Arg{size}, Arg{std::int64_t{-1}}}, number(rows - 1));
        const std::vector<Arg> limits = p.otherFirst ? std::vector<Arg>{Arg{index}, Arg{std::int64_t{0}}, {}}
                                                     : std::vector<Arg>{Arg{index}, {}, Arg{last}};
        const ValueId inside = add(op, "clamp", limits, tensorOf(shape, base::DType::Int64));
        ValueId own = add(op, "eq.Tensor", {Arg{inside}, Arg{index}}, tensorOf(shape, base::DType::Bool));
        const Value found = value(op.outputs[0]);
        std::vector<std::int64_t> wide = shape;
        for (std::size_t d = shape.size(); d < found.shape.size(); ++d) {
            wide.push_back(1);
            own = add(op, "unsqueeze", {Arg{own}, Arg{std::int64_t{-1}}}, tensorOf(wide, base::DType::Bool));
        }
        const ValueId picked =
            add(op, "index.Tensor", {Arg{p.rows}, Arg{ArgList{Arg{inside}}}}, tensorOf(found.shape, found.dtype));
        append(syntheticOp("where.self", {Arg{own}, Arg{picked}, Arg{p.other}}, op), op.outputs);
    }
};

}  // namespace

ir::Program simplifyTables(const ir::Program& program) { return Simplifier(program).run(program.ops); }

}  // namespace hopscope::analysis
