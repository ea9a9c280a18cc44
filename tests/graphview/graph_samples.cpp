#include "graphview/graph_samples.h"

#include <QFile>
#include <algorithm>
#include <set>

namespace hopscope::graphview::samples {

using protocol::NodeKind;
using protocol::OpId;
using protocol::ValueId;

ModelWriter::ModelWriter() { m_model.splittable = true; }

int ModelWriter::addValue(protocol::Origin origin, int width, bool structure)
{
    protocol::ValueRecord value;
    const int index = static_cast<int>(m_model.values.size());
    value.id = "v" + std::to_string(index);
    value.origin = origin;
    value.dtype = "float32";
    value.shape = {"|node|", std::to_string(width)};
    value.spaces = {std::string("node"), std::nullopt};
    value.bytes = 4000LL * width;
    value.structureOnly = structure;
    m_model.valuesById.emplace(value.id, ValueId(index));
    m_model.values.push_back(value);
    m_depth.push_back(0);
    return index;
}

int ModelWriter::input(const std::string& name, bool structure)
{
    const int value = addValue(protocol::Origin::Input, 64, structure);
    m_model.values[value].name = name;
    protocol::OpRecord op;
    op.id = "input." + name;
    op.kind = NodeKind::Input;
    op.name = name;
    op.structureOnly = structure;
    op.outputs = {ValueId(value)};
    m_model.values[value].producer = OpId(m_model.ops.size());
    m_model.opsById.emplace(op.id, OpId(m_model.ops.size()));
    m_model.ops.push_back(op);
    return value;
}

int ModelWriter::parameter(const std::string& name)
{
    const int value = addValue(protocol::Origin::Parameter, 64, false);
    m_model.values[value].name = name;
    m_model.values[value].shape = {"64", "64"};
    m_model.values[value].spaces = {std::nullopt, std::nullopt};
    return value;
}

int ModelWriter::op(NodeKind kind, const std::string& name, const std::string& module, const std::string& type,
                    const std::vector<int>& inputs, int width)
{
    const int index = static_cast<int>(m_model.ops.size());
    const int value = addValue(protocol::Origin::Op, width, kind == NodeKind::Structure);
    protocol::OpRecord op;
    op.id = "op" + std::to_string(index);
    op.kind = kind;
    op.name = name;
    op.module = module;
    op.moduleType = type;
    op.structureOnly = kind == NodeKind::Structure;
    op.outputs = {ValueId(value)};
    for (int input : inputs) {
        op.inputs.emplace_back(input);
        m_model.values[input].consumers.emplace_back(index);
        if (!op.structureOnly) op.depth = std::max(op.depth, m_depth[input]);
    }
    op.depth += kind == NodeKind::Gather ? 1 : 0;
    op.depthModule = op.depthOp = op.depth;
    m_depth[value] = op.depth;
    m_model.depth = std::max(m_model.depth, op.depth);
    m_model.values[value].producer = OpId(index);
    m_model.opsById.emplace(op.id, OpId(index));
    if (op.structureOnly) m_model.prologue.emplace_back(index);
    m_model.ops.push_back(std::move(op));
    return value;
}

void ModelWriter::output(int value)
{
    protocol::OpRecord op;
    op.id = "output.out";
    op.kind = NodeKind::Output;
    op.name = "out";
    op.inputs = {ValueId(value)};
    op.depth = m_depth[value];
    m_model.values[value].consumers.emplace_back(m_model.ops.size());
    m_model.opsById.emplace(op.id, OpId(m_model.ops.size()));
    m_model.ops.push_back(op);
}

models::ModelPtr ModelWriter::finish() { return std::make_shared<const protocol::ModelRecord>(std::move(m_model)); }

namespace {

struct Edges {
    int source = 0, destination = 0, norm = 0;
};

Edges writePrologue(ModelWriter& writer, const std::string& module)
{
    const int edges = writer.input("edge_index", true);
    Edges made;
    made.source = writer.op(NodeKind::Structure, "aten::select.int", module, "GCNConv", {edges});
    made.destination = writer.op(NodeKind::Structure, "aten::select.int", module, "GCNConv", {edges});
    const int degree = writer.op(NodeKind::Structure, "aten::index_add", module, "GCNConv", {made.destination});
    made.norm = writer.op(NodeKind::Structure, "aten::rsqrt", module, "GCNConv", {degree});
    return made;
}

int writeLayer(ModelWriter& writer, const std::string& module, int h, const Edges& edges)
{
    const int weight = writer.parameter(module + ".lin.weight");
    const int linear = writer.op(NodeKind::Rowwise, "aten::linear", module + ".lin", "Linear", {h, weight});
    const int scaled = writer.op(NodeKind::Rowwise, "aten::mul.Tensor", module, "GCNConv", {linear, edges.norm});
    const int gathered = writer.op(NodeKind::Gather, "aten::index_select", module, "GCNConv", {scaled, edges.source});
    const int sum = writer.op(NodeKind::Aggregate, "aten::index_add", module, "GCNConv", {edges.destination, gathered});
    return writer.op(NodeKind::Rowwise, "aten::add.Tensor", module, "GCNConv", {sum, scaled});
}

// A block of 20 operators: a layer, a branch with its own modules, and what brings them together.
int writeBlock(ModelWriter& writer, const std::string& block, int h, const Edges& edges)
{
    int conv = writeLayer(writer, block + ".conv", h, edges);
    conv = writer.op(NodeKind::Rowwise, "aten::relu", block, "Block", {conv});
    int left = writer.op(NodeKind::Rowwise, "aten::layer_norm", block + ".norm", "LayerNorm", {conv});
    int right = conv;
    for (int i = 0; i < 3; ++i) {
        const std::string mlp = block + ".mlp." + std::to_string(i);
        right = writer.op(NodeKind::Rowwise, "aten::linear", mlp, "Layer", {right, writer.parameter(mlp + ".weight")});
        right = writer.op(NodeKind::Rowwise, "aten::relu", mlp, "Layer", {right});
        right = writer.op(NodeKind::Rowwise, "aten::layer_norm", mlp, "Layer", {right});
    }
    left = writer.op(NodeKind::Rowwise, "aten::sigmoid", block, "Block", {left});
    const int gated = writer.op(NodeKind::Rowwise, "aten::mul.Tensor", block, "Block", {left, right});
    return writer.op(NodeKind::Rowwise, "aten::add.Tensor", block, "Block", {gated, h});
}

}  // namespace

models::ModelPtr layeredModel(int layers, bool skips)
{
    ModelWriter writer;
    int h = writer.input("x"), before = h;
    const Edges edges = writePrologue(writer, "convs.0");
    for (int layer = 0; layer < layers; ++layer) {
        h = writeLayer(writer, "convs." + std::to_string(layer), h, edges);
        h = writer.op(NodeKind::Rowwise, "aten::relu", "", "", {h});
        if (skips && layer % 8 == 7)
            h = writer.op(NodeKind::Rowwise, "aten::add.Tensor", "", "", {h, std::exchange(before, h)});
    }
    writer.output(
        writer.op(NodeKind::Rowwise, "aten::linear", "lin", "Linear", {h, writer.parameter("lin.weight")}, 7));
    return writer.finish();
}

models::ModelPtr largeModel(int ops)
{
    constexpr int opsPerBlock = 19;
    ModelWriter writer;
    int h = writer.input("x");
    const Edges edges = writePrologue(writer, "embed");
    h = writer.op(NodeKind::Rowwise, "aten::linear", "embed", "Linear", {h, writer.parameter("embed.weight")});
    std::vector<int> skips;
    for (int block = 0; block * opsPerBlock < ops; ++block) {
        // Stages of ten blocks, so that the tree has depth; every tenth block looks back at the stage before.
        h = writeBlock(writer, "stages." + std::to_string(block / 10) + ".blocks." + std::to_string(block % 10), h,
                       edges);
        if (block % 10 != 9) continue;
        skips.push_back(h);
        if (skips.size() > 2)
            h = writer.op(NodeKind::Rowwise, "aten::add.Tensor", "", "", {h, skips[skips.size() - 3]});
    }
    writer.output(
        writer.op(NodeKind::Rowwise, "aten::linear", "head", "Linear", {h, writer.parameter("head.weight")}, 7));
    return writer.finish();
}

models::PlanPtr depthPlan(const models::ModelPtr& model)
{
    auto plan = std::make_shared<protocol::PlanRecord>();
    const auto stageOf = [&](OpId op) { return protocol::StageId(std::max(1, model->ops[op].depth)); };
    plan->strategy = base::Strategy::Depth;
    plan->stages.resize(std::max(1, model->depth));
    for (std::size_t i = 0; i < plan->stages.size(); ++i) plan->stages[i].index = protocol::StageId::at(i);
    for (std::size_t op = 0; op < model->ops.size(); ++op) {
        const auto& record = model->ops[op];
        if (record.structureOnly || !record.computes()) continue;
        const protocol::StageId stage = stageOf(OpId(op));
        plan->stages[stage.number - 1].steps.push_back({OpId(op), "B(node)", "node"});
        for (ValueId value : record.outputs)
            for (OpId consumer : model->values[value].consumers)
                if (const auto* known = plan->checkpointOf(value); !known && stageOf(consumer) > stage)
                    plan->checkpoints.push_back({value, stage, false, model->values[value].bytes, std::nullopt});
    }
    return plan;
}

models::ModelPtr readModelFile(const QString& file)
{
    QFile in(file);
    if (!in.open(QIODevice::ReadOnly)) return nullptr;
    const auto document = json::parse(in.readAll().toStdString(), file.toStdString());
    if (!document) return nullptr;
    auto model = protocol::readModel(*document);
    return model ? std::make_shared<const protocol::ModelRecord>(std::move(*model)) : nullptr;
}

models::PlanPtr readPlanFile(const QString& file, const models::ModelPtr& model)
{
    QFile in(file);
    if (!in.open(QIODevice::ReadOnly)) return nullptr;
    auto document = json::parse(in.readAll().toStdString(), file.toStdString());
    if (!document) return nullptr;
    json::Value result = json::Value::object();
    result["plan"] = std::move(*document);
    result["predicted"] = nullptr;
    auto plan = protocol::readPlanResult(result, *model);
    return plan ? std::make_shared<const protocol::PlanRecord>(std::move(*plan)) : nullptr;
}

}  // namespace hopscope::graphview::samples
