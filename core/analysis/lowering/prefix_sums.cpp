#include "analysis/lowering/prefix_sums.h"

#include <optional>

#include "analysis/lowering/synthetic.h"
#include "operators/operators.h"

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

    const Op* producer(ValueId v) const
    {
        const ir::Value& value = m_program.value(v);
        return value.origin == ir::Origin::Op ? &m_program.op(value.producer) : nullptr;
    }

    const Op* producer(const Arg* arg) const { return arg && arg->value() ? producer(*arg->value()) : nullptr; }

    static const Arg* argument(const Op& op, const std::string& name)
    {
        for (std::size_t i = 0; i < op.argInfo.size(); ++i)
            if (op.argInfo[i].name == name) return &op.args[i];
        return nullptr;
    }

    // Whether the argument is this number; `otherwise` if it is left out.
    static bool is(const Op& op, const std::string& name, std::int64_t number, bool otherwise = false)
    {
        const Arg* arg = argument(op, name);
        if (!arg || arg->none()) return otherwise;
        return arg->integer() && *arg->integer() == number;
    }

    static std::optional<ValueId> tensor(const Op& op, const std::string& name)
    {
        const Arg* arg = argument(op, name);
        return arg && arg->value() ? std::optional(*arg->value()) : std::nullopt;
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
        const auto table = tensor(*op, "self");
        if (!table) return std::nullopt;
        if (op->name == "aten::index_select" && is(*op, "dim", 0)) return Pick{*table, argument(*op, "index")};
        const Arg* indices = op->name == "aten::index" ? argument(*op, "indices") : nullptr;
        if (!indices || !indices->list() || indices->list()->size() != 1) return std::nullopt;
        return Pick{*table, &indices->list()->front()};
    }

    // offsets[1:] or offsets[:-1]; the length of the other one tells what a size as the end means.
    std::optional<ValueId> part(const Arg* arg, std::int64_t start) const
    {
        const Op* op = producer(arg);
        if (!op || op->name != "aten::slice" || !is(*op, "start", start, start == 0) || !is(*op, "step", 1, true))
            return std::nullopt;
        const auto whole = tensor(*op, "self");
        const Arg* end = argument(*op, "end");
        const bool open = !end || end->none() || (end->integer() && *end->integer() >= (std::int64_t{1} << 31));
        const bool last = end && ((end->integer() && *end->integer() == -1) || end->value());
        const bool oneLess = whole && m_program.value(op->outputs[0]).shape[0] + 1 == m_program.value(*whole).shape[0];
        return oneLess && (start == 1 ? open || (end && end->value()) : last) ? whole : std::nullopt;
    }

    std::optional<Segments> difference(const Op& op) const
    {
        const auto high = pick(argument(op, "self")), low = pick(argument(op, "other"));
        if (!high || !low || high->table != low->table || !is(op, "alpha", 1, true)) return std::nullopt;
        const auto ends = part(high->index, 1), begins = part(low->index, 0);
        if (!ends || ends != begins) return std::nullopt;
        return segments(high->table, *ends);
    }

    std::optional<Segments> diff(const Op& op) const
    {
        const auto found = pick(argument(op, "self"));
        const bool plain = is(op, "n", 1, true) && argument(op, "prepend")->none() && argument(op, "append")->none();
        if (!found || !plain || !is(op, "dim", 0) || !found->index->value()) return std::nullopt;
        return segments(found->table, *found->index->value());
    }

    std::optional<Segments> segments(ValueId sums, ValueId offsets) const
    {
        const Op* op = producer(sums);
        const Op* total = op ? producer(summed(*op)) : nullptr;
        if (!total || total->name != "aten::cumsum" || !is(*total, "dim", 0)) return std::nullopt;
        const auto messages = tensor(*total, "self");
        const base::DType dtype = m_program.value(sums).dtype;
        if (!messages || m_program.value(*messages).dtype != dtype || !base::isFloating(dtype)) return std::nullopt;
        return Segments{*messages, offsets};
    }

    // The prefix sums that have a row of zeros in front.
    const Arg* summed(const Op& op) const
    {
        if (op.name == "aten::cat") return is(op, "dim", 0) ? afterZeros(*argument(op, "tensors")) : nullptr;
        if (op.name == "aten::pad" || op.name == "aten::constant_pad_nd") return padded(op);
        const bool written = op.name == "aten::slice_scatter" && is(op, "dim", 0, true) && is(op, "start", 1);
        const Arg* end = written ? argument(op, "end") : nullptr;
        const bool open = end && (end->none() || (end->integer() && *end->integer() >= (std::int64_t{1} << 31)));
        return open && zeros(argument(op, "self")) ? argument(op, "src") : nullptr;
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
        const Arg* pad = argument(op, "pad");
        const auto self = tensor(op, "self");
        const Arg* value = argument(op, "value");
        if (!pad || !pad->list() || !self || pad->list()->size() != 2 * m_program.value(*self).shape.size())
            return nullptr;
        const double* filled = value ? std::get_if<double>(&value->data) : nullptr;
        if (value && !value->none() && !(filled && *filled == 0) && !is(op, "value", 0)) return nullptr;
        for (std::size_t i = 0; i < pad->list()->size(); ++i) {
            const std::int64_t* n = (*pad->list())[i].integer();
            if (!n || *n != (i + 2 == pad->list()->size() ? 1 : 0)) return nullptr;
        }
        return argument(op, "self");
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
