#include "analysis/lowering/prefix_sums.h"

#include <optional>

#include "analysis/lowering/match.h"
#include "analysis/lowering/synthetic.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::ValueId;

class SegmentSums {
public:
    explicit SegmentSums(ir::Program& program) : m_program(program) {}

    std::vector<std::string> run()
    {
        std::vector<std::string> places;
        for (Op& op : m_program.ops) {
            const auto found = op.name == "aten::sub"    ? difference(op)
                               : op.name == "aten::diff" ? diff(op)
                                                         : std::nullopt;
            if (!found) continue;
            const Op plain = op;
            places.push_back(ir::describeOp(plain));
            op = syntheticOp("segment_reduce",
                             {Arg{found->messages},
                              Arg{std::string("sum")},
                              {},
                              {},
                              Arg{found->offsets},
                              Arg{std::int64_t{0}},
                              Arg{false}},
                             plain);
            op.id = plain.id;
            op.outputs = plain.outputs;
        }
        return places;
    }

private:
    struct Segments {
        ValueId messages, offsets;
    };

    const Op* producer(const Arg* arg) const
    {
        return arg && arg->value() ? producerOf(m_program, *arg->value()) : nullptr;
    }

    struct Pick {
        ValueId table;
        const Arg* index;
    };

    // table[index], by rows.
    std::optional<Pick> pick(const Arg* arg) const
    {
        const Op* op = producer(arg);
        if (!op) return std::nullopt;
        const auto table = valueOf(*op, "self");
        if (!table) return std::nullopt;
        if (op->name == "aten::index_select" && isNumber(*op, "dim", 0))
            return Pick{*table, ir::argument(*op, "index")};
        const Arg* indices = op->name == "aten::index" ? ir::argument(*op, "indices") : nullptr;
        if (!indices || !indices->list() || indices->list()->size() != 1) return std::nullopt;
        return Pick{*table, &indices->list()->front()};
    }

    // offsets[1:] or offsets[:-1]; the length of the other one resolves an end that is given as a size.
    std::optional<ValueId> part(const Arg* arg, std::int64_t start) const
    {
        const Op* op = producer(arg);
        if (!op || op->name != "aten::slice" || !isNumber(*op, "start", start, start == 0) ||
            !isNumber(*op, "step", 1, true))
            return std::nullopt;
        const auto whole = valueOf(*op, "self");
        const Arg* end = ir::argument(*op, "end");
        const bool open = !end || end->none() || (end->integer() && *end->integer() >= (std::int64_t{1} << 31));
        const bool last = end && ((end->integer() && *end->integer() == -1) || end->value());
        const bool oneLess = whole && m_program.value(op->outputs[0]).shape[0] + 1 == m_program.value(*whole).shape[0];
        return oneLess && (start == 1 ? open || (end && end->value()) : last) ? whole : std::nullopt;
    }

    std::optional<Segments> difference(const Op& op) const
    {
        const auto high = pick(ir::argument(op, "self")), low = pick(ir::argument(op, "other"));
        if (!high || !low || high->table != low->table || !isNumber(op, "alpha", 1, true)) return std::nullopt;
        const auto ends = part(high->index, 1), begins = part(low->index, 0);
        if (!ends || ends != begins) return std::nullopt;
        return segments(high->table, *ends);
    }

    std::optional<Segments> diff(const Op& op) const
    {
        const auto found = pick(ir::argument(op, "self"));
        const bool plain =
            isNumber(op, "n", 1, true) && ir::argument(op, "prepend")->none() && ir::argument(op, "append")->none();
        if (!found || !plain || !isNumber(op, "dim", 0) || !found->index->value()) return std::nullopt;
        return segments(found->table, *found->index->value());
    }

    std::optional<Segments> segments(ValueId sums, ValueId offsets) const
    {
        const Op* op = producerOf(m_program, sums);
        const Op* total = op ? producer(summed(*op)) : nullptr;
        if (!total || total->name != "aten::cumsum" || !isNumber(*total, "dim", 0)) return std::nullopt;
        const auto messages = valueOf(*total, "self");
        const base::DType dtype = m_program.value(sums).dtype;
        if (!messages || m_program.value(*messages).dtype != dtype || !base::isFloating(dtype)) return std::nullopt;
        return Segments{*messages, offsets};
    }

    // The prefix sums that have a row of zeros in front.
    const Arg* summed(const Op& op) const
    {
        if (op.name == "aten::cat") return isNumber(op, "dim", 0) ? afterZeros(*ir::argument(op, "tensors")) : nullptr;
        if (op.name == "aten::pad" || op.name == "aten::constant_pad_nd") return padded(op);
        const bool written =
            op.name == "aten::slice_scatter" && isNumber(op, "dim", 0, true) && isNumber(op, "start", 1);
        const Arg* end = written ? ir::argument(op, "end") : nullptr;
        const bool open = end && (end->none() || (end->integer() && *end->integer() >= (std::int64_t{1} << 31)));
        return open && zeros(ir::argument(op, "self")) ? ir::argument(op, "src") : nullptr;
    }

    const Arg* afterZeros(const Arg& parts) const
    {
        if (!parts.list() || parts.list()->size() != 2) return nullptr;
        const Arg& first = parts.list()->front();
        const bool one = first.value() && m_program.value(*first.value()).shape[0] == 1;
        return one && zeros(&first) ? &parts.list()->back() : nullptr;
    }

    // One row in front, and nothing else: the padding begins with the last dimension.
    const Arg* padded(const Op& op) const
    {
        const Arg* pad = ir::argument(op, "pad");
        const auto self = valueOf(op, "self");
        const Arg* value = ir::argument(op, "value");
        if (!onlyGives(op, {"self", "pad", "value"})) return nullptr;
        if (!pad || !pad->list() || !self || pad->list()->size() != 2 * m_program.value(*self).shape.size())
            return nullptr;
        const double* filled = value ? std::get_if<double>(&value->data) : nullptr;
        if (value && !value->none() && !(filled && *filled == 0) && !isNumber(op, "value", 0)) return nullptr;
        for (std::size_t i = 0; i < pad->list()->size(); ++i) {
            const std::int64_t* n = (*pad->list())[i].integer();
            if (!n || *n != (i + 2 == pad->list()->size() ? 1 : 0)) return nullptr;
        }
        return ir::argument(op, "self");
    }

    bool zeros(const Arg* arg) const
    {
        const Op* op = producer(arg);
        return op && operators::of(op->name).traits.fill == operators::Fill::Zero &&
               op->name.find("empty") == std::string::npos;
    }

    ir::Program& m_program;
};

}  // namespace

std::vector<std::string> sumSegments(ir::Program& program) { return SegmentSums(program).run(); }

}  // namespace hopscope::analysis
