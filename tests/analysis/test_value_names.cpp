#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "analysis/naming/op_words.h"
#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_namer.h"
#include "analysis/naming/value_names.h"

using namespace hopscope;
using analysis::NodeKind;
using analysis::OpToName;
using analysis::ValueToName;

namespace {

std::vector<ir::ValueId> ids(std::initializer_list<int> numbers)
{
    std::vector<ir::ValueId> found;
    for (const int number : numbers) found.emplace_back(number);
    return found;
}

// Two layers with a rectifier between them; values in the order of the operators that make them, the weight last.
std::vector<OpToName> twoLayers()
{
    return {{NodeKind::Input, "x", "", {}, ids({0})},
            {NodeKind::Rowwise, "aten::linear", "convs.0.lin", ids({0, 8}), ids({1})},
            {NodeKind::Aggregate, "aten::index_add", "convs.0", ids({1}), ids({2})},
            {NodeKind::Rowwise, "aten::mul.Tensor", "convs.0", ids({2}), ids({3})},
            {NodeKind::Rowwise, "aten::relu", "", ids({3}), ids({4})},
            {NodeKind::Rowwise, "aten::add.Tensor", "convs.1", ids({4}), ids({5})},
            {NodeKind::Rowwise, "aten::add.Tensor", "convs.1", ids({5}), ids({6})},
            {NodeKind::Rowwise, "aten::log_softmax.int", "convs.1", ids({6}), ids({7})},
            {NodeKind::Output, "out", "", ids({7}), {}}};
}

std::vector<ValueToName> unnamed(std::size_t count) { return std::vector<ValueToName>(count); }

}  // namespace

TEST_CASE("a value is named by the module that gives it away, or by what is done inside")
{
    std::vector<ValueToName> values = unnamed(9);
    values[8].name = "convs.0.lin.weight";
    const std::vector<std::string> names = analysis::nameValues(twoLayers(), values);
    CHECK(names == std::vector<std::string>{"x", "convs.0.lin output", "convs.0 sum aggregation", "convs.0 output",
                                            "relu after convs.0", "convs.1 sum", "convs.1 sum (2)", "out",
                                            "convs.0.lin.weight"});
}

TEST_CASE("an operator that only asks for a size does not take a value out of its module")
{
    std::vector<OpToName> ops = twoLayers();
    ops.insert(ops.begin() + 3, {NodeKind::Structure, "scalar::size", "", ids({2}), ids({9})});
    CHECK(analysis::nameValues(ops, unnamed(10))[2] == "convs.0 sum aggregation");
    ops[3].name = "aten::neg";
    CHECK(analysis::nameValues(ops, unnamed(10))[2] == "convs.0 output");
}

TEST_CASE("a list of modules is no module")
{
    const std::vector<OpToName> ops{{NodeKind::Rowwise, "aten::linear", "convs.0", {}, ids({0})},
                                    {NodeKind::Rowwise, "aten::relu", "", ids({0}), ids({1})},
                                    {NodeKind::Rowwise, "aten::tanh", "", ids({1}), ids({2})}};
    CHECK(analysis::nameValues(ops, unnamed(3)) ==
          std::vector<std::string>{"convs.0 output", "relu after convs.0", "tanh after convs.0"});
}

TEST_CASE("names that values have of their own are not given to others")
{
    const std::vector<OpToName> ops{{NodeKind::Rowwise, "aten::relu", "", {}, ids({0})},
                                    {NodeKind::Rowwise, "aten::relu", "", {}, ids({1})}};
    std::vector<ValueToName> values = unnamed(4);
    values[2].name = "relu";
    values[3].name = "relu (2)";
    CHECK(analysis::nameValues(ops, values) == std::vector<std::string>{"relu (3)", "relu (4)", "relu", "relu (2)"});
}

TEST_CASE("equal names get the lowest numbers that are free, also beside names that look numbered")
{
    std::vector<ValueToName> values;
    for (int i = 0; i < 20; ++i) values.push_back({.name = "relu"});
    for (const char* name : {"relu (2)", "relu (5)", "relu (21)", "relu (2) (2)", "relu (2)", "relu (2)", "relu (24)"})
        values.push_back({.name = name});
    std::mt19937 random(5);
    for (int round = 0; round < 20; ++round) {
        std::shuffle(values.begin(), values.end(), random);
        std::set<std::string> taken;
        std::vector<std::string> wanted;
        for (const ValueToName& value : values) {
            std::string name = value.name;
            for (int number = 2; !taken.insert(name).second; ++number)
                name = value.name + " (" + std::to_string(number) + ")";
            wanted.push_back(name);
        }
        CHECK(analysis::nameValues({}, values) == wanted);
    }
}

TEST_CASE("no two values of random programs share a name, and none is without")
{
    const std::vector<NodeKind> kinds{NodeKind::Rowwise, NodeKind::Gather, NodeKind::Aggregate};
    const std::vector<std::string> modules{"", "a", "a.0", "a.0.lin", "b", "b.c"},
        names{"aten::relu", "aten::add", "scalar::size"};
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        std::vector<OpToName> ops{{NodeKind::Input, "x", "", {}, ids({0})}};
        for (int v = 1; v < 30; ++v)
            ops.push_back({kinds[random() % kinds.size()], names[random() % names.size()],
                           modules[random() % modules.size()],
                           ids({static_cast<int>(random() % static_cast<unsigned>(v))}), ids({v})});
        ops.push_back({NodeKind::Output, "out", "", ids({29}), {}});
        CAPTURE(seed);
        const std::vector<std::string> found = analysis::nameValues(ops, unnamed(31));
        CHECK(std::set<std::string>(found.begin(), found.end()).size() == found.size());
        CHECK_FALSE(std::set<std::string>(found.begin(), found.end()).contains(""));
    }
}

TEST_CASE("operators are called by what they do, whatever their overload")
{
    CHECK(analysis::opWord(NodeKind::Aggregate, "aten::scatter_add_") == "sum aggregation");
    CHECK(analysis::opWord(NodeKind::Reduce, "aten::mean.dim") == "mean over all rows");
    CHECK(analysis::opWord(NodeKind::Rowwise, "aten::mean.dim") == "mean");
    CHECK(analysis::opWord(NodeKind::Rowwise, "aten::_weight_norm") == "weight norm");
    CHECK(analysis::opWord(NodeKind::Rowwise, "") == "");
}

TEST_CASE("derived tables are named by what they are made of")
{
    analysis::Tables tables;
    const auto add = [&](analysis::SpaceKind kind, const char* name) {
        analysis::Space space;
        space.kind = kind;
        space.name = name;
        space.parent = analysis::SpaceId(1);
        space.selector = ir::ValueId(12);
        tables.spaces.push_back(space);
        return analysis::SpaceId(static_cast<std::int32_t>(tables.spaces.size() - 1));
    };
    const analysis::SpaceId node = add(analysis::SpaceKind::Node, "node"), edge = add(analysis::SpaceKind::Edge, "e");
    const analysis::SpaceId some = add(analysis::SpaceKind::Filter, ""), sorted = add(analysis::SpaceKind::Perm, ""),
                            both = add(analysis::SpaceKind::Cat, ""), nodes = add(analysis::SpaceKind::Cat, "");
    tables.spaces[both.at()].parts = {some, node};
    tables.spaces[nodes.at()].parts = {node, node};
    CHECK(analysis::tableLabel(tables, edge) == "e");
    CHECK(analysis::tableLabel(tables, some) == "part of e");
    CHECK(analysis::tableLabel(tables, sorted) == "e");
    CHECK(analysis::tableLabel(tables, both) == "part of e + self-loops");
    CHECK(analysis::tableLabel(tables, nodes) == "node + node");
    CHECK(analysis::tableLabel(tables, {}) == "none");
    CHECK(analysis::rowsLabel(tables, {ir::RowKind::Batch, node, {}}) == "rows of node in the batch");
    CHECK(analysis::rowsLabel(tables, {ir::RowKind::Owned, some, {}}) == "rows of part of e into the batch");
    CHECK(analysis::rowsLabel(tables, {ir::RowKind::Frontier, node, {}}) == "rows of node in the frontier");
    CHECK(analysis::rowsLabel(tables, {}) == "all rows");
}

TEST_CASE("keys and places of values are named as people know them")
{
    analysis::Analysis a;
    ir::Op op;
    op.id = ir::OpId(0);
    op.name = "aten::relu";
    op.modules = {{"conv1", "Conv", 1}};
    op.source.kind = ir::SourceKind::Python;
    op.source.file = "model.py";
    op.source.line = 17;
    a.program.ops = {op};
    a.program.values.resize(2);
    a.program.values[0].id = ir::ValueId(0);
    a.program.values[0].name = "batch";
    a.program.values[1].id = ir::ValueId(1);
    a.program.values[1].producer = op.id;
    a.tables.keys = {{analysis::KeyKind::End, 1, {}, {}, {}, {}},
                     {analysis::KeyKind::Foreign, 0, ir::ValueId(0), {}, {}, {}},
                     {analysis::KeyKind::Of, 0, {}, ir::KeyId(0), ir::KeyId(1), {}}};
    CHECK(analysis::placeOfValue(a, ir::ValueId(0)).empty());
    CHECK(analysis::placeOfValue(a, ir::ValueId(1)) == "aten::relu in conv1 (model.py:17)");
    CHECK(analysis::nameOfKey(a, ir::KeyId(0)) == "row 1");
    CHECK(analysis::nameOfKey(a, ir::KeyId(1)) == "batch");
    CHECK(analysis::nameOfKey(a, ir::KeyId(2)) == "batch by way of row 1");
}
