#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>

#include "executor/loop/prologue.h"
#include "model_runs.h"

namespace hopscope::tests {

using namespace hopscope::executor;

namespace {

// Edges between nodes, those that a mask selects, and these with a loop at every node behind them.
struct Derived {
    Derived(std::uint64_t seed, std::int64_t nodes, std::int64_t edges) : mask(static_cast<std::size_t>(edges))
    {
        std::mt19937_64 random(seed);
        const auto anyNode = [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(nodes)); };
        for (int end = 0; end < 2; ++end)
            for (std::int64_t e = 0; e < edges; ++e) ends[end].push_back(anyNode());
        for (auto&& selected : mask) selected = random() % 4 != 0;
        declare();
        give(nodes, edges);
    }

    void declare()
    {
        const auto input = [](int id, base::DType dtype, std::vector<std::int64_t> shape) {
            ir::Value v;
            v.id = ir::ValueId(id);
            v.origin = ir::Origin::Input;
            v.dtype = dtype;
            v.shape = std::move(shape);
            return v;
        };
        a.program.values = {input(0, base::DType::Float32, {4, 1}), input(1, base::DType::Int64, {2, 9}),
                            input(2, base::DType::Bool, {9})};
        a.program.inputs = {{"x", ir::ValueId(0)}, {"edge_index", ir::ValueId(1)}, {"mask", ir::ValueId(2)}};
        const auto key = [](analysis::KeyKind kind, int end) { return analysis::Key{kind, end, {}, {}, {}, {}}; };
        a.tables.keys = {key(analysis::KeyKind::Id, 0), key(analysis::KeyKind::Pos, 0), key(analysis::KeyKind::End, 0),
                         key(analysis::KeyKind::End, 1)};
        for (int end = 0; end < 2; ++end)
            a.tables.keys.push_back(
                {analysis::KeyKind::Parts, 0, {}, {}, {}, {a.tables.endKey(end), a.tables.idKey()}});
        analysis::Space all[4];
        all[0].kind = analysis::SpaceKind::Node;
        all[1].kind = analysis::SpaceKind::Edge;
        all[1].ends[0] = all[1].ends[1] = nodeTable;
        all[1].index = ir::ValueId(1);
        all[2].kind = analysis::SpaceKind::Filter;
        all[2].parent = edgeTable;
        all[2].selector = ir::ValueId(2);
        all[3].kind = analysis::SpaceKind::Cat;
        all[3].parts = {filtered, nodeTable};
        a.tables.spaces.assign(std::begin(all), std::end(all));
        a.values.resize(3);
        a.values[0].dims = {nodeTable, {}};
        a.values[1].dims = {{}, edgeTable};
        a.values[2].dims = {edgeTable};
        a.values[1].structureOnly = a.values[2].structureOnly = true;
        walk.tensors = std::make_shared<loader::Walk::Tensors>();
    }

    void give(std::int64_t nodes, std::int64_t edges)
    {
        data["x"] = base::allocate(base::DType::Float32, {nodes, 1}).view;
        auto pair = base::allocate(base::DType::Int64, {2, edges});
        numbers = reinterpret_cast<std::int64_t*>(pair.bytes);
        std::copy(ends[0].begin(), ends[0].end(), numbers);
        std::copy(ends[1].begin(), ends[1].end(), numbers + edges);
        data["edge_index"] = pair.view;
        auto selected = base::allocate(base::DType::Bool, {edges});
        std::copy(mask.begin(), mask.end(), reinterpret_cast<bool*>(selected.bytes));
        data["mask"] = selected.view;
    }

    // One row after the other, as the definition of the table says.
    [[nodiscard]] std::vector<std::int64_t> expected(int end, bool loops) const
    {
        std::vector<std::int64_t> keys;
        for (std::size_t e = 0; e < mask.size(); ++e)
            if (mask[e]) keys.push_back(ends[end][e]);
        const std::int64_t nodes = data.at("x").shape[0];
        for (std::int64_t v = 0; loops && v < nodes; ++v) keys.push_back(v);
        return keys;
    }

    Structure structure(int threads) { return {walk, a, data, folder.path, threads, {}}; }

    ir::SpaceId nodeTable{0}, edgeTable{1}, filtered{2}, withLoops{3};
    ir::KeyId loopEnd[2]{ir::KeyId(4), ir::KeyId(5)};
    std::vector<std::int64_t> ends[2];
    std::vector<bool> mask;
    std::int64_t* numbers = nullptr;
    analysis::Analysis a;
    base::TensorMap data;
    loader::Walk walk;
    TemporaryFolder folder;
};

std::vector<std::int64_t> numbersOf(const Column& column)
{
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < column.rows; ++i) all.push_back(column[i]);
    return all;
}

// What a run asks of edges: rows of the adjacency, numbers along it in the order of the input and of places.
std::vector<std::int64_t> askedOf(Structure& s, ir::SpaceId edges, ir::KeyId owner, ir::KeyId key)
{
    std::vector<std::int64_t> all;
    const graph::Adjacency& adjacency = s.adjacency(edges, owner);
    all.insert(all.end(), adjacency.offsets(), adjacency.offsets() + adjacency.targets() + 1);
    adjacency.eachRow(0, adjacency.rows(), [&](std::int64_t, std::int64_t row) { all.push_back(row); });
    for (const Numbers numbers : {Numbers::Input, Numbers::Places}) {
        const OwnedColumn& column = s.ownedColumn(edges, owner, key, numbers);
        for (std::int64_t p = 0; p < adjacency.rows(); ++p) all.push_back(column[p]);
    }
    return all;
}

std::vector<std::filesystem::path> filesIn(const std::string& folder)
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    return files;
}

// Each file of a folder: a new one where it was written anew.
std::map<std::string, ino_t> writtenAt(const std::string& folder)
{
    std::map<std::string, ino_t> found;
    for (const auto& file : filesIn(folder)) {
        struct stat facts {};
        REQUIRE(stat(file.c_str(), &facts) == 0);
        found[file] = facts.st_ino;
    }
    return found;
}

// Puts zeros of the same sizes into all entries of a cache, with digests that are right.
void emptyEntries(const std::string& folder)
{
    const graph::ArrayCache cache(folder, 1);
    for (const auto& file : filesIn(folder)) {
        graph::Digest name;
        for (std::size_t i = 0; i < name.bytes.size(); ++i)
            name.bytes[i] =
                static_cast<std::uint8_t>(std::stoul(file.filename().string().substr(2 * i, 2), nullptr, 16));
        const auto entry = cache.find(name);
        REQUIRE(entry);
        std::vector<std::byte> zeros(entry->arrays[0].size());
        std::vector<graph::ArrayCache::Bytes> arrays = entry->arrays;
        if (arrays.size() == 1) arrays[0] = zeros;
        REQUIRE(cache.keep(name, arrays));
    }
}

// Edges that are sorted or not, and where asked for, a loop behind them at every node; nodes in the order of the input, or
// in another one from the start or from where the adjacency is there.
struct CacheCase {
    bool sorted, loops;
    int arranged;  // 0: never, 1: before, 2: after

    std::vector<std::int64_t> asked(Derived& d, const std::string& cache) const
    {
        const std::int64_t nodes = d.data.at("x").shape[0];
        Structure s = d.structure(2);
        if (!cache.empty()) s.cacheIn(cache);
        const ir::SpaceId table = loops ? d.withLoops : d.edgeTable;
        const ir::KeyId owner = loops ? d.loopEnd[1] : d.a.tables.endKey(1);
        const ir::KeyId key = loops ? d.loopEnd[0] : d.a.tables.endKey(0);
        if (arranged == 2) s.ownedColumn(table, owner, key);
        std::vector<std::int64_t> order(static_cast<std::size_t>(nodes));
        std::iota(order.rbegin(), order.rend(), 0);
        if (arranged > 0) s.arrangeNodes(d.nodeTable, order);
        std::vector<std::int64_t> all = askedOf(s, table, owner, key);
        CHECK((!s.cache() || !s.cache()->problem()));
        return all;
    }
};

Prepared prepared(const char* name)
{
    auto made = prepare(models(), name, base::Strategy::Depth);
    REQUIRE_MESSAGE(made.has_value(), (made ? std::string() : base::describe(made.error())));
    return std::move(*made);
}

// Every value of the prologue, degrees among them, against what operators make of it without any adjacency; and those that
// some loop reads in the order of an adjacency, against the whole value rearranged.
int checkPrologue(const Prepared& p, bool arranged)
{
    const TemporaryFolder folder;
    Structure one(p.walk, p.analysis, p.data, folder.path, 2, {}),
        other(p.walk, p.analysis, p.data, folder.path, 1, {});
    const ir::SpaceId nodes = p.plan.stages.front().loops.front().destination;
    std::vector<std::int64_t> backwards(static_cast<std::size_t>(one.size(nodes)));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    for (Structure* const each : {&one, &other})
        if (arranged) each->arrangeNodes(nodes, backwards);
    const ResidentChoice choice(p.analysis, p.plan, one.same(), false);
    const auto programs = compileStages(p.analysis, p.plan, choice, one, Families{}, TilingRequest{{}, 5, 1e9, 2});
    makePrologue(one, p.analysis, programs, folder.path);
    for (const ir::ValueId v : prologueValues(p.analysis, programs))
        CHECK(at::allclose(one.value(v), other.value(v), 1e-6, 0, true));
    int checked = 0;
    for (const auto& loops : programs)
        for (const LoopProgram& program : loops)
            for (const auto& [value, rows] : program.owned) {
                const graph::Adjacency& order = other.adjacency(rows.table, rows.key);
                std::vector<std::int64_t> numbers;
                order.eachRow(0, order.rows(), [&](std::int64_t, std::int64_t row) { numbers.push_back(row); });
                const at::Tensor wanted = other.value(value).index_select(0, at::tensor(numbers, at::kLong));
                CHECK(at::allclose(one.ownedValue(value, rows), wanted, 1e-6, 0, true));
                ++checked;
            }
    return checked;
}

}  // namespace

TEST_CASE("keys of derived tables are those that a walk over all edges finds, in 32 bits")
{
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CAPTURE(seed);
        const std::int64_t nodes = 1 + static_cast<std::int64_t>(seed * 7);
        Derived d(seed, nodes, seed == 11 ? 200000 : static_cast<std::int64_t>(seed * 13));  // more than one chunk
        Structure s = d.structure(1 + static_cast<int>(seed % 3));
        for (int end = 0; end < 2; ++end) {
            const Column& some = s.column(d.filtered, d.a.tables.endKey(end));
            const Column& all = s.column(d.withLoops, d.loopEnd[end]);
            CHECK(numbersOf(some) == d.expected(end, false));
            CHECK(numbersOf(all) == d.expected(end, true));
            CHECK(all.narrow != nullptr);
        }
        std::vector<std::int64_t> parents;
        for (std::size_t e = 0; e < d.mask.size(); ++e)
            if (d.mask[e]) parents.push_back(static_cast<std::int64_t>(e));
        CHECK(numbersOf(s.parentRows(d.filtered)) == parents);
        CHECK(s.size(d.filtered) == static_cast<std::int64_t>(parents.size()));
    }
}

TEST_CASE("adjacencies of 32-bit keys group rows as their definition says")
{
    Derived d(3, 50, 900);
    Structure s = d.structure(2);
    const std::vector<std::int64_t> keys = d.expected(1, true), sources = d.expected(0, true);
    const graph::Adjacency& order = s.adjacency(d.withLoops, d.loopEnd[1]);
    const OwnedColumn& column = s.ownedColumn(d.withLoops, d.loopEnd[1], d.loopEnd[0]);
    std::vector<std::int64_t> wanted, found;
    for (std::int64_t v = 0; v < 50; ++v)
        for (std::size_t row = 0; row < keys.size(); ++row)
            if (keys[row] == v) wanted.push_back(static_cast<std::int64_t>(row));
    order.eachRow(0, order.rows(), [&](std::int64_t p, std::int64_t row) {
        found.push_back(row);
        CHECK(column[p] == sources[static_cast<std::size_t>(row)]);
    });
    CHECK(found == wanted);
}

TEST_CASE("columns of sorted edges are read where they lie, in any order of the nodes, and others are copied")
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const std::int64_t nodes = 1 + static_cast<std::int64_t>(seed * 5);
        Derived d(seed, nodes, 40 + static_cast<std::int64_t>(seed * 31));
        if (seed % 4 != 3) std::sort(d.ends[1].begin(), d.ends[1].end());
        d.give(nodes, static_cast<std::int64_t>(d.mask.size()));
        Structure s = d.structure(2);
        if (seed % 4 != 2) s.readColumnsInPlace();
        const ir::KeyId source = d.a.tables.endKey(0), destination = d.a.tables.endKey(1);
        const OwnedColumn& column = s.ownedColumn(d.edgeTable, destination, source);
        const bool sorted = std::is_sorted(d.ends[1].begin(), d.ends[1].end());
        CHECK((column.bytes.get() == reinterpret_cast<const std::byte*>(d.numbers)) == (sorted && seed % 4 != 2));
        std::mt19937_64 random(seed);
        std::vector<std::int64_t> order(static_cast<std::size_t>(nodes));
        std::iota(order.begin(), order.end(), 0);
        for (bool arranged : {false, true}) {
            if (arranged) {
                std::shuffle(order.begin(), order.end(), random);
                s.arrangeNodes(d.nodeTable, order);
                CHECK_FALSE(column.wide);
            }
            std::vector<std::int64_t> wanted, found;
            for (const std::int64_t v : order)
                for (std::size_t e = 0; e < d.mask.size(); ++e)
                    if (d.ends[1][e] == v) wanted.push_back(d.ends[0][e]);
            for (std::size_t p = 0; p < d.mask.size(); ++p) found.push_back(column[static_cast<std::int64_t>(p)]);
            CHECK(found == wanted);
        }
        const OwnedColumn& places = s.ownedColumn(d.edgeTable, destination, source, Numbers::Places);
        for (std::size_t p = 0; p < d.mask.size(); ++p)
            CHECK(order[static_cast<std::size_t>(places[static_cast<std::int64_t>(p)])] ==
                  column[static_cast<std::int64_t>(p)]);
    }
}

TEST_CASE("a cache has what another structure of the same edges has made, and nothing of other edges")
{
    for (const bool sorted : {false, true})
        for (const bool loops : {false, true})
            for (const int arranged : {0, 1, 2}) {
                CAPTURE(sorted);
                CAPTURE(loops);
                CAPTURE(arranged);
                const CacheCase wanted{sorted, loops, arranged};
                const std::int64_t nodes = 5'000, edges = 100'000;
                Derived d(1, nodes, edges), other(2, nodes, edges);
                for (Derived* const each : {&d, &other}) {
                    if (sorted) std::sort(each->ends[1].begin(), each->ends[1].end());
                    each->give(nodes, edges);
                }
                const TemporaryFolder cache;
                const auto expected = wanted.asked(d, {}), expectedOther = wanted.asked(other, {});
                CHECK(wanted.asked(d, cache.path) == expected);
                const std::size_t kept = filesIn(cache.path).size();
                CHECK((kept == 0) == (sorted && arranged == 0));
                const auto made = writtenAt(cache.path);
                CHECK(wanted.asked(d, cache.path) == expected);
                CHECK(writtenAt(cache.path) == made);
                CHECK(wanted.asked(other, cache.path) == expectedOther);
                CHECK(filesIn(cache.path).size() == 2 * kept);
                // Entries whose numbers are not those of the edges are made anew.
                emptyEntries(cache.path);
                const auto emptied = writtenAt(cache.path);
                CHECK(wanted.asked(d, cache.path) == expected);
                CHECK((writtenAt(cache.path) == emptied) == (kept == 0));
                for (const auto& file : filesIn(cache.path)) std::filesystem::resize_file(file, 5'000);
                CHECK(wanted.asked(d, cache.path) == expected);
            }
}

TEST_CASE("a cache has the edges of graphs apart that differ in their nodes without edges only")
{
    const CacheCase unsorted{false, false, 0};
    constexpr std::int64_t edges = 100'000;
    Derived few(1, 5'000, edges), more(1, 5'000, edges);
    more.give(5'001, edges);
    const TemporaryFolder cache;
    const auto expected = unsorted.asked(more, {});
    CHECK(unsorted.asked(few, cache.path) == unsorted.asked(few, {}));
    const std::size_t kept = filesIn(cache.path).size();
    CHECK(kept > 0);
    CHECK(unsorted.asked(more, cache.path) == expected);
    CHECK(filesIn(cache.path).size() == 2 * kept);
}

TEST_CASE("few edges are not kept, and a cache that cannot be written changes nothing")
{
    const TemporaryFolder cache;
    const CacheCase unsorted{false, false, 1};
    Derived few(1, 50, 1'000), many(1, 5'000, 100'000);
    CHECK(unsorted.asked(few, cache.path) == unsorted.asked(few, {}));
    CHECK(filesIn(cache.path).empty());
    Structure s = many.structure(1);
    s.cacheIn(cache.path + "/gone");
    const ir::KeyId source = many.a.tables.endKey(0), destination = many.a.tables.endKey(1);
    const auto asked = askedOf(s, many.edgeTable, destination, source);
    CHECK(asked == CacheCase{false, false, 0}.asked(many, {}));
    REQUIRE(s.cache()->problem());
    CHECK(s.cache()->problem()->message.find("gone") != std::string::npos);
}

TEST_CASE("a number that 32 bits cannot hold is refused, not cut off")
{
    for (const std::int64_t wrong : {(std::int64_t{1} << 32) + 1, std::int64_t{-1}}) {
        Derived d(5, 20, 100);
        const auto first = static_cast<std::size_t>(std::find(d.mask.begin(), d.mask.end(), true) - d.mask.begin());
        d.numbers[first] = wrong;
        Structure s = d.structure(1);
        CHECK_THROWS_AS(s.column(d.filtered, d.a.tables.endKey(0)), Failure);
    }
}

TEST_CASE("the end of an edge is one of the nodes, of which the last has the number before their count")
{
    constexpr std::int64_t nodes = 20;
    for (const std::int64_t end : {nodes - 1, nodes}) {
        CAPTURE(end);
        Derived d(5, nodes, 100);
        const ir::KeyId key = d.a.tables.endKey(0);
        d.numbers[17] = end;
        const graph::Scratch scratch(d.folder.path);
        const auto value = [&](ir::ValueId) { return loader::toTensor(d.data.at("edge_index")); };
        KeyColumns columns(d.a, scratch, value, [](ir::SpaceId space) { return space.at() == 0 ? nodes : 100; });
        if (end < nodes) CHECK(columns.checked(d.edgeTable, key)[17] == end);
        else CHECK_THROWS_AS(columns.checked(d.edgeTable, key), Failure);
    }
}

TEST_CASE("values of the prologue are the same, however they are made")
{
    const c10::InferenceMode inference;
    for (const char* const name : {"gcn", "shares", "sage", "gat", "normed", "edges", "sparse", "wide"})
        for (const bool arranged : {false, true}) {
            CAPTURE(name);
            CAPTURE(arranged);
            const int checked = checkPrologue(prepared(name), arranged);
            CHECK((checked > 0 || name != std::string("gcn")));
        }
}

}  // namespace hopscope::tests
