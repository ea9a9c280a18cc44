#include "schema/fixture.h"

#include <type_traits>

namespace fixture {

using namespace hopscope;
using ir::KeyId;
using ir::OpId;
using ir::RowClass;
using ir::RowKind;
using ir::SpaceId;
using ir::ValueId;

namespace {

constexpr int nodeSpace = 0, edgeSpace = 1;

ir::Value input(int id, const char* name, base::DType dtype, std::vector<std::int64_t> shape)
{
    ir::Value value;
    value.id = ValueId(id);
    value.origin = ir::Origin::Input;
    value.name = name;
    value.dtype = dtype;
    value.shape = std::move(shape);
    return value;
}

ir::Value result(int id, int op, std::vector<std::int64_t> shape)
{
    ir::Value value;
    value.id = ValueId(id);
    value.producer = OpId(op);
    value.shape = std::move(shape);
    return value;
}

ir::Op op(int id, const char* name, std::vector<int> operands, int output)
{
    ir::Op made;
    made.id = OpId(id);
    made.name = name;
    for (int operand : operands) made.args.push_back({ValueId(operand)});
    made.argInfo.resize(made.args.size());
    made.outputs = {ValueId(output)};
    return made;
}

analysis::ValueInfo rows(int space, std::size_t dims)
{
    analysis::ValueInfo info;
    info.dims.resize(dims);
    if (dims > 0) info.dims[0] = SpaceId(space);
    return info;
}

ir::Program program()
{
    ir::Program p;
    p.values = {input(0, "x", base::DType::Float32, {5, 3}),
                input(1, "edge_index", base::DType::Int64, {2, 7}),
                result(2, 0, {7, 3}),
                result(3, 1, {}),
                result(4, 2, {5, 3}),
                result(5, 3, {5, 3}),
                result(6, 4, {7, 3}),
                result(7, 5, {5, 3})};
    p.ops = {op(0, "aten::index_select", {0, 1}, 2), op(1, "scalar::numel", {1}, 3),
             op(2, "aten::scatter_add", {2, 1}, 4),  op(3, "aten::relu", {4}, 5),
             op(4, "aten::index_select", {5, 1}, 6), op(5, "aten::scatter_add", {6, 1}, 7)};
    p.ops[3].source = {ir::SourceKind::Python, "model.py", 12, "h = h.relu()"};
    p.ops[4].modules = {{"conv2", "Conv", 1}};
    p.inputs = {{"x", ValueId(0)}, {"edge_index", ValueId(1)}};
    p.outputs = {{"out", ValueId(7)}};
    return p;
}

analysis::Tables tables()
{
    analysis::Tables t;
    analysis::Space node, edge;
    node.kind = analysis::SpaceKind::Node;
    node.name = "node";
    edge.kind = analysis::SpaceKind::Edge;
    edge.name = "edge_index";
    edge.ends[0] = edge.ends[1] = SpaceId(nodeSpace);
    edge.index = ValueId(1);
    t.spaces = {node, edge};
    t.keys.resize(4);
    t.keys[1].kind = analysis::KeyKind::Pos;
    t.keys[2].kind = t.keys[3].kind = analysis::KeyKind::End;
    t.keys[3].end = 1;
    t.usedKeys[{SpaceId(edgeSpace), KeyId(3)}] = SpaceId(nodeSpace);
    return t;
}

RowClass batch() { return {RowKind::Batch, SpaceId(nodeSpace), {}}; }

RowClass owned() { return {RowKind::Owned, SpaceId(edgeSpace), KeyId(3)}; }

RowClass frontier() { return {RowKind::Frontier, SpaceId(nodeSpace), {}}; }

// From or to the nodes that the key names.
analysis::OpInfo alongEdges(analysis::OpKind kind, analysis::Use first, int key)
{
    analysis::OpInfo info;
    info.kind = kind;
    info.uses = {{ir::Slot{.arg = 0}, {first}}, {ir::Slot{.arg = 1}, {analysis::Use::Index}}};
    info.role = {.space = SpaceId(edgeSpace), .key = KeyId(key), .target = SpaceId(nodeSpace)};
    return info;
}

plan::Stage stage(int index, std::vector<plan::Step> steps, int read, int written)
{
    plan::Loop loop;
    loop.destination = SpaceId(nodeSpace);
    loop.frontier = {{SpaceId(nodeSpace), SpaceId(edgeSpace), KeyId(3), KeyId(2)}};
    loop.steps = std::move(steps);
    loop.reads = {{ValueId(read), frontier()}, {ValueId(1), owned()}};
    loop.writes = {{ValueId(written), batch()}};
    return {plan::StageId(index), {loop}, {}};
}

std::string kindless(const json::Value& value) { return value.kindName(); }

void collect(const json::Value& root, const json::Value& at, const std::string& pointer, std::vector<Mutation>& found)
{
    if (const json::Object* object = at.asObject())
        for (const auto& [key, member] : *object) {
            const std::string child = json::childPointer(pointer, key);
            json::Value without = *json::resolve(root, pointer)->asObject();
            without.asObject()->erase(key);
            found.push_back({child, "missing", with(json::write(root), pointer, without)});
            collect(root, member, child, found);
        }
    if (const json::Array* array = at.asArray())
        for (std::size_t i = 0; i < array->size(); ++i)
            collect(root, (*array)[i], pointer + "/" + std::to_string(i), found);
    if (pointer.empty() || at.isNull()) return;
    const json::Value wrong = at.asObject() != nullptr ? json::Value("text") : json::Value::object();
    found.push_back({pointer, "of another kind than " + kindless(at), with(json::write(root), pointer, wrong)});
}

// A copy of `at` with what lies at the rest of the pointer replaced.
json::Value replaced(json::Value at, const std::string& pointer, const json::Value& value)
{
    if (pointer.empty()) return value;
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string token = pointer.substr(1, end - 1), rest = pointer.substr(end);
    if (json::Array* array = at.asArray()) {
        json::Value& item = array->at(static_cast<std::size_t>(std::stoi(token)));
        item = replaced(item, rest, value);
    } else {
        at[token] = replaced(at[token], rest, value);
    }
    return at;
}

// Sets the figures that have no number yet: those that are newer than the golden.
void setOthers(plan::StageFigures& figures)
{
    const plan::StageFigures unset;
    base::forEachField<plan::StageFigures>([&]<class M>(const plan::Figure<M>& figure) {
        if constexpr (std::is_assignable_v<M&, int>)
            if (figures.*figure.member == unset.*figure.member) figures.*figure.member = 7;
    });
}

}  // namespace

analysis::Analysis analysis()
{
    analysis::Analysis a;
    a.program = program();
    a.tables = tables();
    for (const ir::Value& value : a.program.values) {
        const bool edges = value.id == ValueId(2) || value.id == ValueId(6);
        a.values.push_back(rows(edges ? edgeSpace : nodeSpace, value.shape.size()));
    }
    a.values[1].dims = {SpaceId(), SpaceId(edgeSpace)};
    a.values[1].structureOnly = a.values[3].structureOnly = true;
    a.ops.resize(a.program.ops.size());
    for (int i : {0, 4})
        a.ops[static_cast<std::size_t>(i)] = alongEdges(analysis::OpKind::Gather, analysis::Use::Source, 2);
    for (int i : {2, 5})
        a.ops[static_cast<std::size_t>(i)] = alongEdges(analysis::OpKind::Aggregate, analysis::Use::Message, 3);
    a.ops[1].structureOnly = true;
    for (std::size_t i = 2; i < 6; ++i) a.ops[i].depth = i < 4 ? 1 : 2;
    a.depth = a.depthModule = a.depthOp = 2;
    a.lints.push_back({"baked-size", "the number 7 is baked in", OpId(1), false});
    return a;
}

plan::Plan plan()
{
    plan::Plan p;
    p.batch = 64;
    p.prologue = {OpId(1)};
    p.stages = {stage(1, {{OpId(0), owned()}, {OpId(2), batch()}, {OpId(3), batch()}}, 0, 5),
                stage(2, {{OpId(4), owned()}, {OpId(5), batch()}}, 5, 7)};
    p.checkpoints = {{ValueId(5), plan::StageId(1), false, 60, std::nullopt},
                     {ValueId(7), plan::StageId(2), true, 60, std::nullopt}};
    p.pins = {{plan::PinKind::Checkpoint, ValueId(5)},
              {plan::PinKind::NoCheckpoint, ValueId(4)},
              {plan::PinKind::Cut, ValueId(5), ValueId(7)},
              {plan::PinKind::HopStage, ValueId(7), {}, plan::StageId(2)},
              {plan::PinKind::NoRecompute, ValueId(5)}};
    p.hashes = {{"model", "00ff"}, {"data", "11ee"}};
    return p;
}

schema::Verification verification()
{
    schema::Verification v;
    v.verdict = schema::Verdict::Equal;
    v.reason = "within the tolerance on every row";
    v.coverage = {schema::CoverageMethod::Sampled, 5, 4, 1, 3, 3};
    v.outputs = {{"out", 1e-7, 2.5e-6, 4, 0, 1}};
    v.checkpoints = {{"v5", 0.25, 0.5, 4, 0, 0}};
    v.tolerance = {1e-5, 1e-4, 1e-6};
    v.seconds = 0.5;
    return v;
}

schema::Report report()
{
    schema::Report r;
    r.model = "model.pt";
    r.modelClass = "Net";
    r.device = "cpu";
    r.fuse = {base::Fuse::Chain, base::Fuse::Several};
    r.reorder = base::Reorder::Auto;
    r.orders = {{"node", base::Reorder::Community, 0.25, 19.5, 3.75, "nodes of a community share rows"}};
    r.store = base::StoreType::BFloat16;
    r.narrowed = {{"conv1 output", base::DType::Float32, base::DType::BFloat16, 0.0078125, 3.5, 1}};
    r.reassociated = {{{"aten::linear in conv2.lin (conv.py:7)", "conv2.lin", 128, 47}}, 1e-7, 2.5e-6};
    r.resumed = {12, 4096, 1};
    r.shard = {2, 3, 0.75, 2048, true, "00ff"};
    r.hashes = {{"model", "00ff"}};
    schema::StageRecord s;
    s.seconds = 1.5;
    s.phases = {0.1, 0.2, 0.3, 0.4, 0.25, 0.25};
    s.batches = 3;
    s.smallestBatch = 1;
    s.largestBatch = 2;
    s.destinations = 5;
    s.frontierRows = 9;
    s.bytes = {60, 108, 112};
    s.peakMemory = 4096;
    s.reservedMemory = 8192;
    s.overlap = 0.75;
    s.windows = 2;
    s.fileBytes = 65536;
    s.coreSeconds = 2.5;
    s.backOffs = 1;
    setOthers(s);
    s.predicted = {1.25, {60, 108, 112}, 4000, 3, 5, 9};
    s.boundSeconds = 0.75;
    s.wall = plan::Wall::Rows;
    s.operators = {{"op1", "conv.lin output", {}, 0.25, 20}, {"op4", "conv output", {"op2", "op3"}, 0.125, 40}};
    r.stages = {s};
    r.prologueSeconds = 0.125;
    r.seconds = 2;
    r.peakMemory = 4096;
    r.outputs = {{"out", "out.npy", base::DType::Float32, {5, 3}}};
    r.notes = {"a note"};
    r.notFinite = {.outputs = {{"out", 7, 15}},
                   .first = schema::OperatorRecord{.op = ir::OpId(3),
                                                   .value = ir::ValueId(5),
                                                   .name = "log",
                                                   .kind = "aten::log",
                                                   .module = "conv",
                                                   .source = "net.py:7",
                                                   .depth = 1},
                   .stage = plan::StageId(1),
                   .given = {"x"},
                   .onSample = true,
                   .origin = "first made by aten::log"};
    r.verify = verification();
    return r;
}

schema::Split split() { return schema::makeSplit(plan(), analysis(), verification()); }

std::vector<Mutation> mutations(const std::string& document)
{
    const json::Value root = json::parse(document).value();
    std::vector<Mutation> found;
    collect(root, root, "", found);
    return found;
}

std::string with(const std::string& document, const std::string& pointer, json::Value value)
{
    return json::write(replaced(json::parse(document).value(), pointer, value));
}

}  // namespace fixture
