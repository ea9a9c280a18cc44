#include "analysis/lowering/composed_linear.h"

#include "analysis/lowering/match.h"
#include "analysis/lowering/synthetic.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::ValueId;
using Shape = std::vector<std::int64_t>;

struct Layer {
    ValueId x, weight;
    std::optional<ValueId> bias;
    bool transposed = true;
};

class Layers {
public:
    explicit Layers(const ir::Program& program) : m_program(program) {}

    // The layer whose result this view separates again.
    [[nodiscard]] std::optional<Layer> before(const Op& view) const
    {
        const auto flat = viewed(&view);
        const Op* product = flat ? producerOf(m_program, *flat) : nullptr;
        if (!product || !isProduct(*product)) return std::nullopt;
        const bool adds = product->name == "aten::addmm";
        const auto rows = valueOf(*product, adds ? "mat1" : "self");
        const auto x = rows ? viewed(producerOf(m_program, *rows)) : std::nullopt;
        const auto factor = valueOf(*product, "mat2"), weight = factor ? transposed(*factor) : std::nullopt;
        if (!x || !factor || (adds && !weight) || !sameRows(shape(*x), shape(view.outputs.at(0)))) return std::nullopt;
        if (shape(*x).back() != shape(*rows).back() || shape(view.outputs[0]).back() != shape(*flat).back())
            return std::nullopt;
        const auto bias = adds ? valueOf(*product, "self") : std::nullopt;
        if (adds && (!bias || shape(*bias) != Shape{shape(*flat).back()})) return std::nullopt;
        return Layer{.x = *x, .weight = weight.value_or(*factor), .bias = bias, .transposed = weight.has_value()};
    }

private:
    const Shape& shape(ValueId v) const { return m_program.value(v).shape; }

    static std::optional<ValueId> viewed(const Op* op)
    {
        const bool reshape = op && operators::of(op->name).rule == operators::Rule::Reshape;
        return reshape ? valueOf(*op, "self") : std::nullopt;
    }

    static bool isProduct(const Op& op)
    {
        return op.name == "aten::mm" || (op.name == "aten::addmm" && onlyGives(op, {"self", "mat1", "mat2"}));
    }

    // w of w.t()
    [[nodiscard]] std::optional<ValueId> transposed(ValueId factor) const
    {
        const Op* op = producerOf(m_program, factor);
        const auto weight = op ? valueOf(*op, "self") : std::nullopt;
        if (!weight || shape(*weight).size() != 2) return std::nullopt;
        const bool swaps = op->name == "aten::t" || (op->name == "aten::permute" && swapsBoth(*op)) ||
                           (op->name == "aten::transpose" && dimension(*op, "dim0") != dimension(*op, "dim1"));
        return swaps ? weight : std::nullopt;
    }

    // Of a matrix, counted from the front.
    static std::int64_t dimension(const Op& op, const char* name)
    {
        const Arg* dim = ir::argument(op, name);
        return dim && dim->integer() ? (*dim->integer() + 2) % 2 : 0;
    }

    static bool swapsBoth(const Op& op)
    {
        const Arg* dims = ir::argument(op, "dims");
        const std::int64_t* first =
            dims && dims->list() && !dims->list()->empty() ? (*dims->list())[0].integer() : nullptr;
        return first && (*first == 1 || *first == -1);
    }

    static bool sameRows(const Shape& from, const Shape& to)
    {
        return from.size() > 2 && from.size() == to.size() && std::equal(from.begin(), from.end() - 1, to.begin());
    }

    const ir::Program& m_program;
};

}  // namespace

void composeLinear(ir::Program& program)
{
    for (Op& op : program.ops) {
        const auto layer =
            operators::of(op.name).rule == operators::Rule::Reshape ? Layers(program).before(op) : std::nullopt;
        if (!layer) continue;
        const Op view = op;
        std::vector<Arg> operands{Arg{layer->x}, Arg{layer->weight}};
        if (layer->transposed) operands.push_back(layer->bias ? Arg{*layer->bias} : Arg{});
        op = syntheticOp(layer->transposed ? "linear" : "matmul", std::move(operands), view);
        op.id = view.id;
        op.outputs = view.outputs;
    }
}

}  // namespace hopscope::analysis
