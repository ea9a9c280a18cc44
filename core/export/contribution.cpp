#include "export/loop_writer.h"

#include <algorithm>

#include "executor/failure.h"

namespace hopscope::exporter {

using analysis::Reduction;
using schema::MergeKind;

namespace {

MergeKind mergeOf(Reduction reduction)
{
    switch (reduction) {
    case Reduction::Mean: return MergeKind::Mean;
    case Reduction::Max: return MergeKind::Max;
    case Reduction::Min: return MergeKind::Min;
    case Reduction::Var: return MergeKind::Var;
    case Reduction::Std: return MergeKind::Std;
    case Reduction::Norm2: return MergeKind::Norm2;
    case Reduction::ScatterSum: return MergeKind::ScatterSum;
    case Reduction::ScatterMean: return MergeKind::ScatterMean;
    case Reduction::ScatterMax: return MergeKind::ScatterMax;
    case Reduction::ScatterMin: return MergeKind::ScatterMin;
    case Reduction::Sum:
    case Reduction::FunctionSum: break;
    }
    return MergeKind::Sum;
}

// Sums of floating-point numbers are formed in double precision.
base::DType wide(base::DType dtype)
{
    if (base::isFloating(dtype)) return base::DType::Float64;
    return dtype == base::DType::Bool ? base::DType::Int64 : dtype;
}

// Writes what one batch contributes.
class ContributionWriter {
public:
    ContributionWriter(const analysis::Analysis& analysis, const ir::Op& op, const Surroundings& around, Method& method)
        : m_analysis(analysis),
          m_op(op),
          m_info(analysis.info(op.id)),
          m_result(analysis.program.value(op.outputs.at(0))),
          m_around(around),
          m_method(method)
    {}

    std::vector<Text> moments()
    {
        const std::string x = operand(0).python;
        switch (m_info.reduction) {
        case Reduction::Sum:
        case Reduction::Mean:
            return {assign(Text("torch.sum(" + x + ", " + dims() + keep(m_info.keepDim) + ", dtype=") + type() + ")")};
        case Reduction::Max: return {assign("torch.amax(" + notEmpty(x) + ", " + dims() + keep(m_info.keepDim) + ")")};
        case Reduction::Min: return {assign("torch.amin(" + notEmpty(x) + ", " + dims() + keep(m_info.keepDim) + ")")};
        case Reduction::Norm2: {
            const std::string y = m_method.assign("exact", x + ".double()");
            return {assign("torch.sum(" + y + " * " + y + ", " + dims() + keep(m_info.keepDim) + ")")};
        }
        default: return deviations(x);
        }
    }

    std::vector<Text> scatter()
    {
        const auto [slot, value, dim] = slotIndex();
        const Text index = m_around.operand(slot, value);
        const int rank = static_cast<int>(m_analysis.program.value(value).shape.size());
        const std::string initial = operand(0).python;
        const int source = argumentNamed({"src", "source", "values", "value"});
        Text rows = operand(source) + ".to(" + type() + ")";
        const std::string d = std::to_string(dim);
        if (rank == 1 && static_cast<int>(rankOf(source)) < static_cast<int>(m_result.shape.size()))
            rows += ".expand(" + expansion(dim, index.python) + ")";
        const std::string wideRows = m_method.assign("contributed", rows);
        const std::string where =
            m_method.assign("slots", elementIndex(index.python, rank, dim) + ".expand_as(" + wideRows + ")");
        return scattered(initial, wideRows, where, d);
    }

private:
    std::vector<Text> deviations(const std::string& x)
    {
        const std::string y = m_method.assign("exact", x + ".double()");
        const std::string mean =
            m_method.assign("mean of batch", "torch.mean(" + y + ", " + dims() + ", keepdim=True)");
        const std::string centred = m_method.assign("centred", y + " - " + mean);
        return {mean, assign("torch.sum(" + centred + " * " + centred + ", " + dims() + ", keepdim=True)")};
    }

    std::vector<Text> scattered(const std::string& initial, const std::string& rows, const std::string& where,
                                const std::string& d)
    {
        const std::string zeros =
            m_method.assign("zeros", Text("torch.zeros_like(" + initial + ", dtype=") + type() + ")");
        const Text sum = zeros + ".scatter_add(" + d + ", " + where + ", " + rows + ")";
        if (m_info.reduction == Reduction::ScatterSum) return {assign(sum), initial};
        const std::string ones = m_method.assign("ones", "torch.ones_like(" + rows + ").double()");
        const std::string hits =
            m_method.assign("hits", zeros + ".double().scatter_add(" + d + ", " + where + ", " + ones + ")");
        if (m_info.reduction == Reduction::ScatterMean) return {assign(sum), hits, initial};
        const bool max = m_info.reduction == Reduction::ScatterMax;
        const std::string start =
            m_method.assign("start", "torch.full_like(" + zeros + ", float(\"" + (max ? "-inf" : "inf") + "\"))");
        return {assign(start + ".scatter_reduce(" + d + ", " + where + ", " + rows + ", " +
                       (max ? "\"amax\"" : "\"amin\"") + ")"),
                hits, initial};
    }

    // A batch may own no rows; its extremum is left out, but has to exist.
    std::string notEmpty(const std::string& x) const
    {
        const ir::ValueId value = *m_op.args.at(0).value();
        std::string shape;
        for (std::size_t d = 0; d < m_analysis.program.value(value).shape.size(); ++d) {
            const bool rows = static_cast<int>(d) == m_analysis.rowDim(value);
            const std::int64_t n = rows ? 1 : m_analysis.program.value(value).shape[d];
            shape += (d ? ", " : "") + std::to_string(n);
        }
        return x + " if " + x + ".numel() > 0 else " + x + ".new_zeros([" + shape + "])";
    }

    std::string elementIndex(const std::string& index, int rank, int dim) const
    {
        if (rank == static_cast<int>(m_result.shape.size())) return index;
        std::string shape;
        for (int d = 0; d < static_cast<int>(m_result.shape.size()); ++d)
            shape += (d ? ", " : "") + std::string(d == dim ? "-1" : "1");
        return index + ".view([" + shape + "])";
    }

    std::string expansion(int dim, const std::string& index) const
    {
        std::string shape = "[";
        for (int d = 0; d < static_cast<int>(m_result.shape.size()); ++d)
            shape += (d ? ", " : "") +
                     (d == dim ? index + ".numel()" : std::to_string(m_result.shape[static_cast<std::size_t>(d)]));
        return shape + "]";
    }

    std::string dims() const
    {
        std::string text = "[";
        for (const int d : m_info.reducedDims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
        return text + "]";
    }

    static std::string keep(bool kept) { return kept ? ", keepdim=True" : ""; }
    Text type() const { return dtypeText(wide(m_result.dtype)); }
    std::string assign(const Text& value) { return m_method.assign("contribution", value); }

    Text operand(int arg) const
    {
        return m_around.operand({arg, -1}, *m_op.args.at(static_cast<std::size_t>(arg)).value());
    }

    std::size_t rankOf(int arg) const
    {
        return m_analysis.program.value(*m_op.args.at(static_cast<std::size_t>(arg)).value()).shape.size();
    }

    int argumentNamed(std::initializer_list<const char*> names) const
    {
        for (std::size_t i = 0; i < m_op.argInfo.size(); ++i)
            for (const char* name : names)
                if (m_op.argInfo[i].name == name) return static_cast<int>(i);
        executor::raise(base::ErrorCode::Unsupported, "export cannot write this reduction over rows", {},
                        ir::describeOp(m_op));
    }

    struct SlotIndex {
        ir::Slot slot;
        ir::ValueId value;
        int dim;
    };

    // The operand that holds the slot of each row, and the dimension that it counts along.
    SlotIndex slotIndex() const
    {
        for (std::size_t i = 0; i < m_op.argInfo.size(); ++i) {
            const int arg = static_cast<int>(i);
            if (m_op.argInfo[i].name == "index")
                return {.slot = {arg, -1}, .value = *m_op.args[i].value(), .dim = m_info.dim};
            if (m_op.argInfo[i].name != "indices") continue;
            const ir::ArgList& items = *m_op.args[i].list();
            for (int k = 0; k < static_cast<int>(items.size()); ++k)
                if (const ir::ValueId* v = items[static_cast<std::size_t>(k)].value())
                    return {.slot = {arg, k}, .value = *v, .dim = k};
        }
        executor::raise(base::ErrorCode::Unsupported, "export cannot write this scatter over rows", {},
                        ir::describeOp(m_op));
    }

    const analysis::Analysis& m_analysis;
    const ir::Op& m_op;
    const analysis::OpInfo& m_info;
    const ir::Value& m_result;
    const Surroundings& m_around;
    Method& m_method;
};

std::int64_t numbersPerRow(const analysis::Analysis& analysis, const ir::Op& op)
{
    const ir::ValueId* const first = op.args.at(0).value();
    if (!first) return 1;
    std::int64_t product = 1;
    const auto& shape = analysis.program.value(*first).shape;
    for (const int d : analysis.info(op.id).reducedDims)
        if (d != analysis.rowDim(*first)) product *= shape.at(static_cast<std::size_t>(d));
    return product;
}

}  // namespace

std::vector<Text> contributionText(const analysis::Analysis& analysis, const ir::Op& op, const Surroundings& around,
                                   Method& method, const std::function<std::string()>& call, schema::CodeMerge& merge)
{
    const analysis::OpInfo& info = analysis.info(op.id);
    const ir::Value& result = analysis.program.value(op.outputs.at(0));
    merge.kind = mergeOf(info.reduction);
    merge.correction = info.correction;
    merge.includeSelf = info.includeSelf;
    if (info.reduction == Reduction::FunctionSum) {
        merge.shape = result.shape;
        return {Text(call() + ".to(") + dtypeText(wide(result.dtype)) + ")"};
    }
    ContributionWriter writer(analysis, op, around, method);
    if (schema::isScatter(merge.kind)) return writer.scatter();
    merge.perRow = numbersPerRow(analysis, op);
    merge.shape = result.shape;
    return writer.moments();
}

}  // namespace hopscope::exporter
