#include "analysis/lowering/functionalise.h"

#include "analysis/lowering/reshape.h"
#include "analysis/lowering/sharing.h"
#include "analysis/lowering/synthetic.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using base::ErrorCode;
using ir::Arg;
using ir::ArgList;
using ir::Op;
using ir::OpId;
using ir::Program;
using ir::Value;
using ir::ValueId;
using ir::ValueKind;
using operators::Aliasing;
using operators::Undo;

// A variable of the model: a name for one immutable value at a time. A view knows the operator that made it from its base,
// so that it can be replayed after the base was written, and written through into the base.
struct Handle {
    ValueId value;
    int base = -1;
    int version = 0, seen = 0;
    const Op* view = nullptr;  // with arguments already resolved
    std::vector<Arg> viewArgs;
    int output = 0;
};

class Functionaliser {
public:
    explicit Functionaliser(const Program& raw) : m_raw(raw), m_sharing(raw), m_handleOf(raw.values.size(), -1) {}

    base::Result<Program> run()
    {
        for (const Value& v : m_raw.values) {
            if (v.origin == ir::Origin::Op) continue;
            define(v.id, addValue(v));
            m_out.values.back().raw = v.id;
        }
        for (const ir::NamedValue& in : m_raw.inputs) m_out.inputs.push_back({in.name, current(in.value)});
        for (const Op& op : m_raw.ops) {
            step(op);
            if (m_error) return tl::unexpected(*m_error);
        }
        for (const ir::NamedValue& o : m_raw.outputs) m_out.outputs.push_back({o.name, current(o.value)});
        for (ir::Guard g : m_raw.guards) {
            g.condition = current(g.condition);
            m_out.guards.push_back(std::move(g));
        }
        return std::move(m_out);
    }

private:
    ValueId addValue(Value v)
    {
        v.id = ValueId(m_out.values.size());
        m_out.values.push_back(std::move(v));
        return m_out.values.back().id;
    }

    void define(ValueId raw, ValueId value)
    {
        m_handles.push_back({});
        m_handles.back().value = value;
        m_handleOf[raw.at()] = static_cast<int>(m_handles.size()) - 1;
    }

    void alias(ValueId raw, int handle) { m_handleOf[raw.at()] = handle; }
    int handle(ValueId raw) const { return m_handleOf[raw.at()]; }

    ValueId current(ValueId raw) { return currentOf(handle(raw)); }

    ValueId currentOf(int h)
    {
        const int base = m_handles[static_cast<std::size_t>(h)].base;
        if (base < 0) return m_handles[static_cast<std::size_t>(h)].value;
        const ValueId baseValue = currentOf(base);
        Handle& self = m_handles[static_cast<std::size_t>(h)];
        const int baseVersion = m_handles[static_cast<std::size_t>(base)].version;
        if (self.seen == baseVersion) return self.value;
        std::vector<Arg> args = self.viewArgs;
        args[0].data = baseValue;
        self.value = emit(*self.view, std::move(args))[static_cast<std::size_t>(self.output)];
        self.seen = baseVersion;
        ++self.version;
        return self.value;
    }

    Arg resolve(const Arg& arg)
    {
        if (const ValueId* v = arg.value()) return Arg{current(*v)};
        if (const ArgList* list = arg.list()) {
            ArgList items;
            for (const Arg& a : *list) items.push_back(resolve(a));
            return Arg{std::move(items)};
        }
        return arg;
    }

    std::vector<Arg> resolveAll(const Op& op)
    {
        std::vector<Arg> args;
        for (const Arg& a : op.args) args.push_back(resolve(a));
        return args;
    }

    // A copy of `op` on `args` whose outputs are new values like the raw ones.
    std::vector<ValueId> emit(const Op& op, std::vector<Arg> args)
    {
        std::vector<Value> like;
        for (ValueId o : op.outputs) like.push_back(m_raw.value(o));
        return append(op, std::move(args), std::move(like));
    }

    std::vector<ValueId> append(Op op, std::vector<Arg> args, std::vector<Value> outputs)
    {
        op.id = OpId(m_out.ops.size());
        op.args = std::move(args);
        op.mutatedArg = -1;
        op.functionalName.clear();
        op.functionalOverload.clear();
        op.outputs.clear();
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            outputs[i].producer = op.id;
            outputs[i].output = static_cast<int>(i);
            outputs[i].origin = ir::Origin::Op;
            outputs[i].name.clear();
            op.outputs.push_back(addValue(std::move(outputs[i])));
        }
        m_out.ops.push_back(op);
        return op.outputs;
    }

    ValueId synthesise(const std::string& signature, std::vector<Arg> args, const Op& like, Value out)
    {
        Op op = syntheticOp(signature, std::move(args), like);
        std::vector<Arg> filled = op.args;
        return append(std::move(op), std::move(filled), {std::move(out)})[0];
    }

    Value shaped(ValueId like) const { return m_out.value(like); }

    Arg dimension(ValueId v, std::size_t d, const Op& like)
    {
        Value number;
        number.kind = ValueKind::Int;
        number.number = static_cast<double>(m_out.value(v).shape[d]);
        return Arg{synthesise("scalar::size", {Arg{v}, Arg{static_cast<std::int64_t>(d)}}, like, number)};
    }

    Arg dimensions(ValueId v, const Op& like)
    {
        ArgList sizes;
        for (std::size_t d = 0; d < m_out.value(v).shape.size(); ++d) sizes.push_back(dimension(v, d, like));
        return Arg{std::move(sizes)};
    }

    void step(const Op& op)
    {
        if (op.mutatedArg >= 0) return write(op);
        if (const auto same = identity(op)) return alias(op.outputs[0], *same);
        if (const auto value = copyOf(op)) return define(op.outputs[0], *value);
        std::vector<Arg> args = resolveAll(op);
        const std::vector<ValueId> results = emit(op, args);
        for (std::size_t i = 0; i < results.size(); ++i) define(op.outputs[i], results[i]);
        if (linked(op)) link(op, args);
    }

    void link(const Op& op, const std::vector<Arg>& args)
    {
        const int base = handle(*op.args[0].value());
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            Handle& h = m_handles[static_cast<std::size_t>(handle(op.outputs[i]))];
            h.base = base;
            h.seen = m_handles[static_cast<std::size_t>(base)].version;
            h.view = &op;
            h.viewArgs = args;
            h.output = static_cast<int>(i);
        }
    }

    bool linked(const Op& op) const
    {
        const Aliasing a = operators::of(op.name).traits.aliasing;
        const bool views = a == Aliasing::View || a == Aliasing::ViewIfDense;
        return views && !op.outputs.empty() && sharesWithFirst(m_raw, op, op.outputs[0]);
    }

    bool sameType(const Op& op) const
    {
        const Value &in = m_raw.value(*op.args[0].value()), &out = m_raw.value(op.outputs[0]);
        return in.kind == out.kind && in.dtype == out.dtype && in.shape == out.shape;
    }

    // The handle that the result simply is, if the operator changes nothing and shares memory.
    std::optional<int> identity(const Op& op) const
    {
        const Aliasing a = operators::of(op.name).traits.aliasing;
        if (a != Aliasing::Same && a != Aliasing::SameDtype && a != Aliasing::SameIfDense) return std::nullopt;
        if (op.args.empty() || !op.args[0].value() || op.outputs.size() != 1 || !sameType(op)) return std::nullopt;
        if (!sharesWithFirst(m_raw, op, op.outputs[0])) return std::nullopt;
        return handle(*op.args[0].value());
    }

    // The same value under a new name: writes to it do not reach the original.
    std::optional<ValueId> copyOf(const Op& op)
    {
        const Aliasing a = operators::of(op.name).traits.aliasing;
        if (a != Aliasing::Copy && a != Aliasing::SameDtype && a != Aliasing::SameIfDense) return std::nullopt;
        if (!op.args[0].value() || !sameType(op)) return std::nullopt;
        return current(*op.args[0].value());
    }

    void write(const Op& op)
    {
        const ValueId target = *op.args[static_cast<std::size_t>(op.mutatedArg)].value();
        const int h = handle(target);
        if (operators::of(op.functionalName).traits.aliasing == Aliasing::Same) return alias(op.outputs[0], h);
        if (const auto conflict = m_sharing.conflict(op)) return refuse(*conflict);
        const ValueId old = currentOf(h);
        const ValueId next = written(op, old);
        if (m_error) return;
        assign(h, next, op);
        for (ValueId out : op.outputs) alias(out, h);
    }

    ValueId written(const Op& op, ValueId old)
    {
        std::vector<Arg> args = resolveAll(op);
        const operators::Write how = operators::of(op.name).traits.write;
        if (how == operators::Write::Zero) return synthesise("zeros_like", {Arg{old}}, op, shaped(old));
        if (how == operators::Write::Copy) return filled(op, old, args[1]);
        if (op.functionalName.empty()) {
            refuse(op, "writes in place and has no functional form");
            return old;
        }
        Op twin = op;
        twin.name = op.functionalName;
        twin.overload = op.functionalOverload;
        const Value out = shaped(old);
        Value made = out;
        if (operators::of(twin.name).traits.tells) made.dtype = base::DType::Bool;
        const bool promotes = promotesBeyond(op, args, out.dtype);
        const ValueId result = append(twin, std::move(args), {made})[0];
        return promotes ? cast(result, out, op) : result;
    }

    // Another floating operand of a wider type would make the functional twin wider than the tensor written to; what tells
    // true from false gives bool.
    bool promotesBeyond(const Op& op, const std::vector<Arg>& args, base::DType dtype) const
    {
        if (operators::of(op.functionalName).traits.tells) return dtype != base::DType::Bool;
        for (std::size_t i = 0; i < args.size(); ++i) {
            const ValueId* v = args[i].value();
            if (!v || static_cast<int>(i) == op.mutatedArg) continue;
            const Value& value = m_out.value(*v);
            if (value.kind == ValueKind::Tensor && base::isFloating(value.dtype) && value.dtype != dtype) return true;
        }
        return false;
    }

    ValueId cast(ValueId value, const Value& like, const Op& op)
    {
        return synthesise("to.dtype", {Arg{value}, Arg{dtypeCode(like.dtype)}, Arg{false}, Arg{false}}, op, like);
    }

    ValueId filled(const Op& op, ValueId old, const Arg& source)
    {
        const Value target = shaped(old);
        const ValueId* tensor = source.value();
        if (!tensor || m_out.value(*tensor).kind != ValueKind::Tensor)
            return synthesise("full_like", {Arg{old}, source}, op, target);
        ValueId value = *tensor;
        Value casted = target;
        casted.shape = m_out.value(value).shape;
        if (m_out.value(value).dtype != target.dtype) value = cast(value, casted, op);
        if (m_out.value(value).shape == target.shape) return value;
        return synthesise("expand", {Arg{value}, dimensions(old, op), Arg{false}}, op, target);
    }

    // The handle now names `value`; a view passes the write on to its base through the inverse of the view.
    void assign(int h, ValueId value, const Op& op)
    {
        Handle& self = m_handles[static_cast<std::size_t>(h)];
        self.value = value;
        ++self.version;
        if (self.base < 0) return;
        const int base = self.base;
        const ValueId baseValue = currentOf(base);
        const auto updated = inverse(Handle(m_handles[static_cast<std::size_t>(h)]), baseValue, value, op);
        if (!updated) return;
        assign(base, *updated, op);
        m_handles[static_cast<std::size_t>(h)].seen = m_handles[static_cast<std::size_t>(base)].version;
    }

    std::optional<ValueId> inverse(const Handle& h, ValueId baseValue, ValueId value, const Op& op)
    {
        const Value base = shaped(baseValue);
        const auto put = [&](const std::string& signature, std::vector<Arg> args) {
            return synthesise(signature, std::move(args), op, base);
        };
        const auto slice = [&](const Arg& dim, const Arg& start, const Arg& end, const Arg& step) {
            return put("slice_scatter", {Arg{baseValue}, Arg{value}, dim, start, end, step});
        };
        const std::vector<Arg>& args = h.viewArgs;
        const bool sameType = base.dtype == shaped(value).dtype;
        switch (sameType ? operators::of(h.view->name).traits.undo : Undo::None) {
        case Undo::None: break;
        case Undo::SameShape:
            if (base.shape == shaped(value).shape) return value;
            break;
        case Undo::Select: return put("select_scatter", {Arg{baseValue}, Arg{value}, args[1], args[2]});
        case Undo::Unbind:
            return put("select_scatter", {Arg{baseValue}, Arg{value}, args[1], Arg{std::int64_t{h.output}}});
        case Undo::Slice: return slice(args[1], args[2], args[3], args[4]);
        case Undo::Narrow: return slice(args[1], args[2], narrowEnd(h, op), Arg{std::int64_t{1}});
        case Undo::Section: {
            const Section s = sectionOf(h);
            return slice(Arg{s.dim}, Arg{s.start}, Arg{s.end}, Arg{std::int64_t{1}});
        }
        case Undo::Reshape: return put("reshape", {Arg{value}, dimensions(baseValue, op)});
        case Undo::Swap: return put("transpose.int", {Arg{value}, args[1], args[2]});
        case Undo::Reverse: return put("permute", {Arg{value}, reversed(base.shape.size())});
        case Undo::Permute: return put("permute", {Arg{value}, inversePermutation(args[1])});
        case Undo::Move: return put("permute", {Arg{value}, movedBack(args, base.shape.size())});
        }
        refuse(op, "writes through " + h.view->name.substr(6) + ", which cannot be undone");
        return std::nullopt;
    }

    Arg narrowEnd(const Handle& h, const Op& op)
    {
        Value end;
        end.kind = ValueKind::Int;
        end.number = numberOf(h.viewArgs[2]) + numberOf(h.viewArgs[3]);
        return Arg{synthesise("scalar::add", {h.viewArgs[2], h.viewArgs[3]}, op, end)};
    }

    double numberOf(const Arg& arg) const
    {
        if (const std::int64_t* i = arg.integer()) return static_cast<double>(*i);
        return arg.value() ? m_out.value(*arg.value()).number : 0;
    }

    struct Section {
        std::int64_t dim = 0, start = 0, end = 0;
    };

    // The position of one of the pieces of split, chunk, ...; the pieces before it have the sizes of the sample
    // (feature dimensions: rows split this way are refused later).
    Section sectionOf(const Handle& h) const
    {
        Section s;
        const std::int64_t* dim = h.viewArgs[2].integer();
        s.dim = dim ? *dim : 0;
        for (int i = 0; i <= h.output; ++i) {
            const Value& piece = m_raw.value(h.view->outputs[static_cast<std::size_t>(i)]);
            const std::int64_t rank = static_cast<std::int64_t>(piece.shape.size());
            s.start = s.end;
            s.end += piece.shape[static_cast<std::size_t>(s.dim < 0 ? s.dim + rank : s.dim)];
        }
        return s;
    }

    static Arg reversed(std::size_t rank)
    {
        ArgList dims;
        for (std::size_t d = rank; d-- > 0;) dims.push_back(Arg{static_cast<std::int64_t>(d)});
        return Arg{std::move(dims)};
    }

    static std::vector<std::int64_t> literals(const Arg& arg)
    {
        std::vector<std::int64_t> numbers;
        if (const std::int64_t* i = arg.integer()) numbers.push_back(*i);
        if (const ArgList* list = arg.list())
            for (const Arg& item : *list) numbers.push_back(item.integer() ? *item.integer() : 0);
        return numbers;
    }

    static Arg movedBack(const std::vector<Arg>& args, std::size_t rank)
    {
        ArgList dims;
        for (const int d : movedDims(literals(args[2]), literals(args[1]), static_cast<int>(rank)))
            dims.push_back(Arg{std::int64_t{d}});
        return Arg{std::move(dims)};
    }

    static Arg inversePermutation(const Arg& dims)
    {
        const ArgList& list = *dims.list();
        const std::int64_t n = static_cast<std::int64_t>(list.size());
        ArgList inverse(list.size(), Arg{std::int64_t{0}});
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t d = *list[static_cast<std::size_t>(i)].integer();
            inverse[static_cast<std::size_t>(d < 0 ? d + n : d)] = Arg{i};
        }
        return Arg{std::move(inverse)};
    }

    void refuse(const Op& op, const std::string& why)
    {
        if (m_error) return;
        m_error = base::makeError(ErrorCode::Unsupported, ir::describeOp(op) + " " + why,
                                  "write the result to a new tensor instead", ir::describeOp(op));
    }

    void refuse(base::Error error)
    {
        if (!m_error) m_error = std::move(error);
    }

    const Program& m_raw;
    Sharing m_sharing;
    Program m_out;
    std::vector<Handle> m_handles;
    std::vector<int> m_handleOf;
    std::optional<base::Error> m_error;
};

}  // namespace

base::Result<Program> functionalise(const Program& raw) { return Functionaliser(raw).run(); }

}  // namespace hopscope::analysis
