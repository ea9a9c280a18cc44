#include "analysis/lowering/part_lookups.h"

#include <map>
#include <optional>

#include "analysis/lowering/gathered_sums.h"
#include "analysis/lowering/match.h"
#include "analysis/lowering/moved_products.h"
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

class PartLookups : Rewriter {
public:
    explicit PartLookups(const ir::Program& program) : Rewriter(program), m_old(program) {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops)
            if (!lookUp(op)) append(op, op.outputs);
        return std::move(m_new);
    }

private:
    // Rows of a table at constant places, and the operator that takes them.
    struct Part {
        const Op& op;
        ValueId table, rows;
    };

    [[nodiscard]] std::optional<Part> partOf(ValueId v) const
    {
        const Op* const op = producerOf(m_old, v);
        const auto self = op ? valueOf(*op, "self") : std::nullopt;
        if (!self) return std::nullopt;
        const Rule rule = operators::of(op->name).rule;
        if (rule == Rule::Slice && takesAll(*op)) return partOf(*self);  // all columns
        const bool takes = (rule == Rule::Slice || rule == Rule::Split) && isNumber(*op, "dim", 0, true);
        return takes ? std::optional(Part{*op, *self, v}) : std::nullopt;
    }

    Value numbersLike(ValueId rows) const
    {
        Value numbers;
        numbers.dtype = base::DType::Int64;
        numbers.shape = {m_old.value(rows).shape[0]};
        return numbers;
    }

    // The numbers of the part's rows in the table.
    ValueId numbersIn(const Part& part)
    {
        const auto known = m_numbers.find(part.rows);
        if (known != m_numbers.end()) return known->second;
        const ValueId all = rowNumbers(part.op, part.table);
        Op same = part.op;
        same.args.front() = Arg{all};
        std::vector<ValueId> outputs;
        for (const ValueId rows : part.op.outputs) outputs.push_back(m_numbers[rows] = fresh(numbersLike(rows)));
        append(std::move(same), outputs);
        return m_numbers.at(part.rows);
    }

    // The numbers of the rows that an operator looks up in a table, along the first dimension.
    [[nodiscard]] std::optional<ValueId> idsOf(const Op& op) const
    {
        const auto gather = rowGather(m_old, op);
        if (gather) return gather->dim == 0 ? std::optional(gather->index) : std::nullopt;
        return operators::of(op.name).rule == Rule::Embedding ? valueOf(op, "indices") : std::nullopt;
    }

    // An input, or a row or column of one.
    [[nodiscard]] bool isGiven(ValueId v) const
    {
        const Op* const op = producerOf(m_old, v);
        const auto self = op && operators::of(op->name).rule == Rule::Select ? valueOf(*op, "self") : std::nullopt;
        return m_old.value(self.value_or(v)).origin == ir::Origin::Input;
    }

    bool lookUp(const Op& op)
    {
        const auto ids = idsOf(op), rows = ids ? valueOf(op, rowsName(op)) : std::nullopt;
        const std::optional<Part> part = rows ? partOf(*rows) : std::nullopt;
        const bool given = ids && isGiven(*ids) && m_old.value(*ids).shape.size() == 1;
        if (!rows || (!(part && given) && !shiftedInput(m_old, *ids))) return false;
        const ValueId all = part ? numbersIn(*part) : rowNumbers(op, *rows);
        const ValueId numbers = add(op, "index.Tensor", {Arg{all}, Arg{ArgList{Arg{*ids}}}}, numbersLike(*ids));
        Op whole = op;
        for (std::size_t i = 0; i < whole.args.size(); ++i) {
            ir::Arg& arg = whole.args[i];
            if (whole.argInfo[i].name == rowsName(op)) arg = Arg{part ? part->table : *rows};
            else if (arg.value() && *arg.value() == *ids) arg = Arg{numbers};
            else if (arg.list() && whole.argInfo[i].name == "indices") arg = Arg{ArgList{Arg{numbers}}};
        }
        append(std::move(whole), op.outputs);
        return true;
    }

    static const char* rowsName(const Op& op)
    {
        return operators::of(op.name).rule == Rule::Embedding ? "weight" : "self";
    }

    const ir::Program& m_old;
    std::map<ValueId, ValueId> m_numbers;  // by part
};

}  // namespace

std::optional<ValueId> shiftedInput(const ir::Program& program, ValueId v)
{
    const Op* const op = producerOf(program, v);
    if (!op || (op->name != "aten::add" && op->name != "aten::sub") || !isNumber(*op, "alpha", 1, true))
        return std::nullopt;
    const auto ids = valueOf(*op, "self"), by = valueOf(*op, "other");
    const bool constant = !by || program.value(*by).kind != ir::ValueKind::Tensor ||
                          (program.value(*by).shape.empty() && isWeight(program, *by));
    return ids && constant && program.value(*ids).origin == ir::Origin::Input ? ids : std::nullopt;
}

ir::Program lookUpParts(const ir::Program& program) { return PartLookups(program).run(); }

}  // namespace hopscope::analysis
