// What samples are cut to, and the memory that the unsplit model is predicted to take.

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "graph/dataset.h"
#include "verify/cut.h"
#include "verify/models.h"

using namespace hopscope;

namespace {

using Numbers = std::vector<std::int64_t>;

const ir::SpaceId user(0), item(1), relation(2);

// Four users who each have an edge to one of two items, and the sizes of two matrices of these edges.
struct Bipartite {
    Bipartite()
    {
        std::ranges::copy(Numbers{0, 1, 2, 3, 0, 0, 1, 1}, reinterpret_cast<std::int64_t*>(index.bytes));
        structure.tables = {user, item, relation};
        structure.sizes = {{user, 4}, {item, 2}, {relation, 4}};
        link("a.coo_indices", 0);
        link("a.coo_indices", 1);
        link("b.csr_col", 0);
        link("b.csr_crow", 1);
        for (const char* const size : {"a.coo_size", "b.csr_size"})
            inputs[size] = base::allocate(base::DType::Int64, {2}).view;
    }

    void link(const char* input, int end)
    {
        structure.links.push_back({relation, end == 0 ? user : item, input, end, analysis::EdgeForm::Rows,
                                   analysis::IntColumn(index.view, end, 0), end == 1, end == 1});
    }

    base::OwnedTensor index = base::allocate(base::DType::Int64, {2, 4});
    verify::Structure structure;
    base::TensorMap inputs;
};

Numbers numbersOf(const base::TensorView& view)
{
    const auto* const first = reinterpret_cast<const std::int64_t*>(view.data);
    return {first, first + view.elements()};
}

}  // namespace

TEST_CASE("a sparse matrix is cut to as many rows and columns as there are nodes at its ends, however it is stored")
{
    const testing::Folder folder;
    Bipartite whole;
    REQUIRE(verify::prepareRounds(whole.structure, folder.path));
    auto neighbourhood = verify::Neighbourhood::create(whole.structure, folder.path);
    REQUIRE(neighbourhood->expand({{item, 1}}, 1, [](const verify::TableSizes&) { return true; }));
    const analysis::Analysis none;
    const analysis::InputSchema undeclared;
    verify::Cutter cutter(none, whole.structure, undeclared, whole.inputs, {"a.coo_size", "b.csr_size"}, folder.path);
    const std::string file = folder.file("cut.safetensors");
    REQUIRE(cutter.write(*neighbourhood, file));
    const auto cut = graph::readData({file});
    REQUIRE(cut);
    CHECK(numbersOf(cut->at("a.coo_size")) == Numbers{2, 1});  // users, items
    CHECK(numbersOf(cut->at("b.csr_size")) == Numbers{1, 2});  // compressed by item
}

namespace {

// x, a = relu(x), b = view(a), c = relu(x), and the sum of c and `last`, values 1 to 4.
std::int64_t peakWhere(int last)
{
    analysis::Analysis a;
    const auto add = [&](const char* name, std::vector<int> operands) {
        ir::Value made;
        made.id = ir::ValueId(a.program.values.size());
        made.shape = {1'000'000};
        if (!operands.empty()) {
            ir::Op op;
            op.id = made.producer = ir::OpId(a.program.ops.size());
            op.name = name;
            for (const int operand : operands) op.args.push_back({ir::ValueId(operand)});
            op.outputs = {made.id};
            a.program.ops.push_back(op);
        } else {
            made.origin = ir::Origin::Input;
        }
        a.program.values.push_back(made);
    };
    add("", {});
    add("aten::relu", {0});
    add("aten::view", {1});
    add("aten::relu", {0});
    add("aten::add", {3, last});
    a.program.outputs = {{"out", ir::ValueId(4)}};
    a.values.resize(a.program.values.size());
    a.ops.resize(a.program.ops.size());
    return verify::ForwardMemory(a).peak({});
}

}  // namespace

TEST_CASE("memory is predicted to be taken as long as a view of it is read")
{
    CHECK(peakWhere(2) == peakWhere(1));
    CHECK(peakWhere(2) > peakWhere(3));
}
