#include "analysis/lowering/reassociate.h"

#include <algorithm>
#include <map>

#include "analysis/lowering/dead_code.h"
#include "analysis/lowering/match.h"
#include "analysis/lowering/moved_products.h"
#include "analysis/lowering/rewriter.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::Value;
using ir::ValueId;

void set(Op& op, const std::string& name, const Arg& to)
{
    for (std::size_t i = 0; i < op.argInfo.size() && i < op.args.size(); ++i)
        if (op.argInfo[i].name == name) op.args[i] = to;
}

class Reassociated : Rewriter {
public:
    Reassociated(const ir::Program& program, const std::vector<MovedProduct>& products)
        : Rewriter(program),
          m_old(program)
    {
        for (const MovedProduct& product : products) {
            m_byProduct[product.product] = &product;
            for (const ValueId v : product.inner) m_byValue[v] = &product;
        }
    }

    // The wide operators stay: they are dead where nothing else needs them.
    ir::Program run()
    {
        for (const Op& op : m_old.ops) {
            const auto product = m_byProduct.find(op.id);
            if (product != m_byProduct.end()) {
                finish(op, *product->second);
                continue;
            }
            Op copy = op;
            current(copy.args);
            look(copy, op);
            append(std::move(copy), op.outputs);
            if (op.outputs.size() == 1 && m_byValue.contains(op.outputs[0])) narrow(op, *m_byValue.at(op.outputs[0]));
        }
        for (ir::NamedValue& output : m_new.outputs) output.value = current(output.value);
        for (ir::Guard& guard : m_new.guards) guard.condition = current(guard.condition);
        return std::move(m_new);
    }

private:
    // ---- values of the new program

    // A product without a bias is the aggregation itself.
    [[nodiscard]] ValueId current(ValueId v) const
    {
        const auto replaced = m_replaced.find(v);
        return replaced == m_replaced.end() ? v : replaced->second;
    }

    void current(std::vector<Arg>& args) const
    {
        for (Arg& arg : args) {
            if (const ValueId* v = arg.value()) arg.data = current(*v);
            else if (auto* list = std::get_if<ir::ArgList>(&arg.data)) current(*list);
        }
    }

    [[nodiscard]] Value narrowed(ValueId wide, std::int64_t width) const
    {
        Value out;
        out.dtype = m_old.value(wide).dtype;
        out.shape = {m_old.value(wide).shape[0], width};
        return out;
    }

    // Operators that only look at a wide value are made to look at the narrow one, or, for its width, at the table.
    void look(Op& copy, const Op& op) const
    {
        ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
            const auto found = m_narrow.find(v);
            const bool sees = found != m_narrow.end() && m_byValue.contains(v) && onlyLooksAt(op, slot);
            if (!sees || operators::expands(op.name)) return;
            const bool width = op.name == "scalar::size" && !ofRows(op.args.at(1));
            copy.args[static_cast<std::size_t>(slot.arg)] =
                Arg{width ? current(m_byValue.at(v)->table) : found->second};
        });
    }

    static bool ofRows(const Arg& dim) { return dim.integer() && (*dim.integer() == 0 || *dim.integer() == -2); }

    // ---- the product

    ValueId weight(ValueId v)
    {
        const Op* const made = producerOf(m_old, v);
        if (!made) return v;
        const auto known = m_weights.find(v);
        if (known != m_weights.end()) return known->second;
        Op copy = *made;
        for (Arg& arg : copy.args)
            if (const ValueId* operand = arg.value()) arg.data = weight(*operand);
        const ValueId result = fresh(m_old.value(v));
        append(std::move(copy), {result});
        return m_weights[v] = result;
    }

    // table x weight, before the first operator that needs it.
    void multiply(const MovedProduct& product)
    {
        const ValueId table = current(product.table), factor = weight(product.weight);
        const Op& place = m_old.op(product.product);
        const bool linear = place.name == "aten::linear";
        const std::vector<Arg> operands{Arg{table}, Arg{factor}};
        m_multiplied[&product] = add(place, linear ? "linear" : "mm", operands, narrowed(product.table, product.out));
    }

    // table x weight + bias, now that the aggregation is of narrow rows.
    void finish(const Op& op, const MovedProduct& product)
    {
        const ValueId sum = m_narrow.at(product.root);
        if (!product.bias) {
            m_replaced[op.outputs[0]] = sum;
            return;
        }
        std::vector<Arg> args{Arg{sum}, *product.bias, Arg{std::int64_t{1}}};
        current(args);
        append(syntheticOp("add.Tensor", std::move(args), op), op.outputs);
    }

    // ---- operators between

    ValueId narrowOf(ValueId v, const MovedProduct& product) const
    {
        return product.inner.contains(v) ? m_narrow.at(v) : m_multiplied.at(&product);
    }

    void narrow(const Op& op, const MovedProduct& product)
    {
        if (!m_multiplied.contains(&product)) multiply(product);
        Op copy = op;
        current(copy.args);
        const std::vector<std::string> carried = carriedArguments(m_old, op);
        for (const std::string& name : carried) set(copy, name, Arg{narrowOf(*valueOf(op, name), product)});
        const ValueId rows = narrowOf(*valueOf(op, carried.front()), product);
        if (operators::of(op.name).rule == operators::Rule::Scatter) startNarrow(copy, op, rows, product);
        repeatLess(copy, op, carried, rows, product.out);
        const ValueId result = fresh(narrowed(op.outputs[0], product.out));
        append(std::move(copy), {result});
        m_narrow[op.outputs[0]] = result;
    }

    // A start of zeros, of the same number of rows.
    void startNarrow(Op& copy, const Op& op, ValueId rows, const MovedProduct& product)
    {
        const ValueId wide = *valueOf(op, "self");
        const Op& start = *producerOf(m_old, wide);
        const Arg* const size = ir::argument(start, "size");
        std::vector<Arg> number;
        if (size) number.push_back(size->list()->front());
        else number.push_back(Arg{rowsOf(*valueOf(start, "self"), op, product)});
        current(number);
        const ir::ArgList sizes{number.front(), Arg{product.out}};
        set(copy, "self", Arg{add(op, "new_zeros", {Arg{rows}, Arg{sizes}}, narrowed(wide, product.out))});
    }

    ValueId rowsOf(ValueId v, const Op& place, const MovedProduct& product)
    {
        Value number;
        number.kind = ir::ValueKind::Int;
        number.number = static_cast<double>(m_old.value(v).shape[0]);
        const ValueId of = product.inner.contains(v) ? m_narrow.at(v) : current(v);
        return add(place, "scalar::size", {Arg{of}, Arg{std::int64_t{0}}}, std::move(number));
    }

    // Indices and factors that repeat a column for each column of the rows.
    void repeatLess(Op& copy, const Op& op, const std::vector<std::string>& carried, ValueId rows, std::int64_t width)
    {
        for (const char* const name : {"index", "self", "other"}) {
            const auto v = valueOf(op, name);
            const auto column = v && !isCarried(carried, name) ? repeatedColumn(m_old, *v) : std::nullopt;
            if (!column) continue;
            Value wide = narrowed(*v, width);
            set(copy, name, Arg{add(op, "expand_as", {Arg{current(*column)}, Arg{rows}}, std::move(wide))});
        }
    }

    static bool isCarried(const std::vector<std::string>& carried, const std::string& name)
    {
        return std::ranges::find(carried, name) != carried.end();
    }

    const ir::Program& m_old;
    std::map<ir::OpId, const MovedProduct*> m_byProduct;
    std::map<ValueId, const MovedProduct*> m_byValue;            // inner values
    std::map<const MovedProduct*, ValueId> m_multiplied;         // table x weight
    std::map<ValueId, ValueId> m_narrow, m_weights, m_replaced;  // of the old program -> of the new one
};

Reassociation recordOf(const ir::Program& program, const MovedProduct& product)
{
    const Op& op = program.op(product.product);
    return {.place = ir::describeOp(op),
            .module = ir::modulePath(op.modules),
            .in = product.in,
            .out = product.out,
            .before = MovedBefore::Sum};
}

}  // namespace

ir::Program reassociate(const ir::Program& program, std::vector<Reassociation>& moved)
{
    const std::vector<MovedProduct> products = movedProducts(program);
    for (const MovedProduct& product : products) moved.push_back(recordOf(program, product));
    if (products.empty()) return program;
    return removeDead(Reassociated(program, products).run());
}

}  // namespace hopscope::analysis
