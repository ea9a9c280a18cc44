#include "graphview/fold/words.h"

#include <QStringList>
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "analysis/naming/op_words.h"
#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::graphview {

namespace {

using protocol::ModelRecord;
using protocol::NodeKind;
using protocol::OpId;
using protocol::OpRecord;
using protocol::ValueId;

std::string_view plainName(const OpRecord& op) { return analysis::plainName(op.name); }

template <std::size_t N>
bool oneOf(std::string_view name, const std::array<std::string_view, N>& names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool isQuiet(const OpRecord& op)
{
    static constexpr std::array<std::string_view, 9> names{"to",    "contiguous", "dropout",  "detach",         "clone",
                                                           "alias", "type_as",    "identity", "feature_dropout"};
    return op.kind == NodeKind::Rowwise && (op.view || oneOf(plainName(op), names));
}

bool isArithmetic(const OpRecord& op)
{
    static constexpr std::array<std::string_view, 4> names{"add", "sub", "mul", "div"};
    return op.kind == NodeKind::Rowwise && oneOf(plainName(op), names);
}

bool isData(const ModelRecord& model, ValueId value)
{
    const auto& record = model.values[value];
    return record.producer.valid() && !record.structureOnly;
}

std::vector<ValueId> dataInputs(const ModelRecord& model, const OpRecord& op)
{
    std::vector<ValueId> values;
    for (ValueId value : op.inputs)
        if (isData(model, value)) values.push_back(value);
    return values;
}

int dataConsumers(const ModelRecord& model, const OpRecord& op)
{
    int count = 0;
    for (ValueId value : op.outputs)
        for (OpId consumer : model.values[value].consumers) count += model.ops[consumer].structureOnly ? 0 : 1;
    return count;
}

// The operator whose result `op` dresses; may be none.
OpId dresses(const ModelRecord& model, const OpRecord& op)
{
    const bool quiet = isQuiet(op);
    if (op.structureOnly || (!quiet && !isArithmetic(op))) return {};
    const std::vector<ValueId> inputs = dataInputs(model, op);
    if (inputs.size() != 1) return {};
    const OpId producer = model.values[inputs.front()].producer;
    const OpRecord& maker = model.ops[producer];
    if (maker.kind == NodeKind::Input || maker.structureOnly) return {};
    return quiet || dataConsumers(model, maker) == 1 ? producer : OpId();
}

QString factorWord(const ModelRecord& model, const OpRecord& op)
{
    for (ValueId value : op.inputs) {
        const auto& record = model.values[value];
        if (record.origin == protocol::Origin::Parameter) return plainName(op) == "add" ? tr("bias") : tr("weight");
        if (record.structureOnly && record.producer.valid()) {
            const QString word = structureWord(model, value);
            if (!word.isEmpty()) return word;
        }
    }
    return {};
}

QString suffixOf(const ModelRecord& model, const OpRecord& op)
{
    if (!isArithmetic(op)) return {};
    const QString word = factorWord(model, op);
    if (word.isEmpty()) return {};
    const std::string_view name = plainName(op);
    const char* sign = name == "mul" ? " \u00d7 " : name == "div" ? " \u00f7 " : name == "sub" ? " \u2212 " : " + ";
    return QString::fromUtf8(sign) + word;
}

// The word for an operator's result from its own name; nothing if its first input says more.
std::optional<QString> wordOfOp(const OpRecord& op)
{
    const std::string_view name = plainName(op);
    static constexpr std::array<std::string_view, 4> norms{"rsqrt", "pow", "reciprocal", "sqrt"};
    static constexpr std::array<std::string_view, 5> counts{"clamp", "bincount", "index_add", "scatter_add",
                                                            "clamp_min"};
    static constexpr std::array<std::string_view, 6> fills{"new_zeros", "zeros",      "new_ones",
                                                           "ones",      "zeros_like", "size"};
    if (op.kind == NodeKind::Input) return QString::fromStdString(op.name);
    if (oneOf(name, norms)) return tr("norm");
    if (oneOf(name, counts)) return tr("degree");
    if (oneOf(name, fills) || isScalar(op)) return QString();
    return std::nullopt;
}

ValueId firstStructureInput(const ModelRecord& model, const OpRecord& op)
{
    for (ValueId value : op.inputs)
        if (model.values[value].structureOnly && model.values[value].producer.valid()) return value;
    return {};
}

}  // namespace

bool isScalar(const OpRecord& op) { return op.name.starts_with("scalar::"); }

base::IdVector<OpId, OpId> leadersOf(const ModelRecord& model)
{
    base::IdVector<OpId, OpId> leaders(model.ops.size());
    for (std::size_t i = 0; i < model.ops.size(); ++i) {
        const OpId dressed = dresses(model, model.ops[i]);
        leaders[i] = dressed.valid() ? leaders[dressed] : OpId(i);
    }
    return leaders;
}

QString structureWord(const ModelRecord& model, ValueId value)
{
    constexpr int maxSteps = 24;  // chains of views are long in traced models; the word is near or there is none
    for (int step = 0; step < maxSteps && value.valid(); ++step) {
        const auto& record = model.values[value];
        if (!record.producer.valid() || !record.structureOnly) return {};
        const OpRecord& op = model.ops[record.producer];
        if (const auto word = wordOfOp(op)) return *word;
        value = firstStructureInput(model, op);
    }
    return {};
}

namespace {

// Tables without a size have long names: "|(edge_index[v21] + node)|".
QString shortDimensions(const QString& shape)
{
    constexpr int longest = 16;
    QStringList dims = shape.split(QStringLiteral(" \u00d7 "));
    for (QString& dim : dims)
        if (dim.size() > longest) dim = QStringLiteral("\u2026");
    return dims.join(QStringLiteral(" \u00d7 "));
}

}  // namespace

QString groupLabel(const ModelRecord& model, OpId leader, std::span<const OpId> group)
{
    QString label = models::opLabel(model, model.ops[leader]);
    for (const OpId op : group)
        if (op != leader) label += suffixOf(model, model.ops[op]);
    return label;
}

QString shapeDetail(const ModelRecord& model, OpId op)
{
    const OpRecord& record = model.ops[op];
    const auto& values = record.outputs.empty() ? record.inputs : record.outputs;
    if (values.empty() || model.values[values.front()].shape.empty()) return {};
    QString shape = models::shapeLabel(model, model.values[values.front()]);
    if (const auto& dtype = model.values[values.front()].dtype; dtype == "float32")
        shape.remove(QLatin1Char(' ') + QString::fromStdString(dtype));
    return shortDimensions(shape);
}

QString operatorsText(std::size_t count) { return count == 1 ? tr("1 operator") : tr("%1 operators").arg(count); }

QString prologueDetail(const ModelRecord& model, std::span<const OpId> ops)
{
    bool loops = false, degrees = false, norm = false;
    for (const OpId op : ops) {
        const std::string_view name = plainName(model.ops[op]);
        loops = loops || name == "cat";
        degrees = degrees || name == "index_add" || name == "scatter_add" || name == "bincount";
        norm = norm || name == "rsqrt" || name == "pow" || name == "reciprocal";
    }
    QStringList words;
    if (loops) words << tr("self-loops");
    if (degrees) words << tr("degrees");
    if (norm) words << tr("norm");
    return words.isEmpty() ? operatorsText(ops.size()) : words.join(QStringLiteral(", "));
}

}  // namespace hopscope::graphview
