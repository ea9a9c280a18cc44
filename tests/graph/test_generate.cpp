#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "graph/dataset.h"
#include "graph/files.h"
#include "graph/generate.h"
#include "graph/random.h"

using namespace hopscope;
using namespace hopscope::graph;
using namespace hopscope::graph::testing;
using base::ErrorCode;

namespace {

struct Graph {
    std::int64_t nodes = 0, features = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> edges;
    std::vector<float> x;
};

Graph make(const GenerateOptions& options)
{
    const TempFolder folder;
    const std::string path = folder.file("g.safetensors");
    const auto done = generate(options, path, {}, {});
    REQUIRE_MESSAGE(done, done.error().message);
    CHECK(folder.names() == std::vector<std::string>{"g.safetensors"});
    const auto data = readData({path});
    REQUIRE(data);
    const base::TensorView& x = data->at("x");
    const base::TensorView& edges = data->at("edge_index");
    CHECK(edges.shape[0] == 2);
    Graph graph{x.shape[0], x.shape[1], {}, {}};
    const auto* const ids = reinterpret_cast<const std::int64_t*>(edges.data);
    for (std::int64_t e = 0; e < edges.shape[1]; ++e) graph.edges.emplace_back(ids[e], ids[e + edges.shape[1]]);
    const auto* const values = reinterpret_cast<const float*>(x.data);
    graph.x.assign(values, values + x.elements());
    return graph;
}

std::string bytesWith(GenerateOptions options, int threads)
{
    const TempFolder folder;
    options.threads = threads;
    REQUIRE(generate(options, folder.file("g"), {}, {}));
    return readAll(folder.file("g"));
}

GenerateOptions options(GraphKind kind, std::int64_t nodes, std::int64_t edges, bool symmetric = false)
{
    GenerateOptions result;
    result.kind = kind;
    result.nodes = nodes;
    result.edges = edges;
    result.features = 3;
    result.symmetric = symmetric;
    return result;
}

const std::vector<GraphKind> kKinds{GraphKind::Rmat, GraphKind::Sbm,  GraphKind::Grid,
                                    GraphKind::Star, GraphKind::Path, GraphKind::ErdosRenyi};
const std::vector<GraphKind> kRandomKinds{GraphKind::Rmat, GraphKind::Sbm, GraphKind::ErdosRenyi};

std::vector<std::int64_t> inDegrees(const Graph& graph)
{
    std::vector<std::int64_t> degrees(static_cast<std::size_t>(graph.nodes));
    for (const auto& [source, target] : graph.edges) ++degrees[static_cast<std::size_t>(target)];
    return degrees;
}

}  // namespace

TEST_CASE("kinds have names")
{
    CHECK(parseGraphKind("rmat").value() == GraphKind::Rmat);
    CHECK(parseGraphKind("er").value() == GraphKind::ErdosRenyi);
    const auto wrong = parseGraphKind("tree");
    REQUIRE(!wrong);
    CHECK(wrong.error().code == ErrorCode::Usage);
}

TEST_CASE("the same options give the same bytes for any number of threads, another seed gives others")
{
    for (const GraphKind kind : kKinds) {
        for (const bool symmetric : {false, true}) {
            GenerateOptions wanted = options(kind, 3000, 200'000, symmetric);
            wanted.features = 37;
            CAPTURE(static_cast<int>(kind));
            CAPTURE(symmetric);
            const std::string once = bytesWith(wanted, 1);
            CHECK(once == bytesWith(wanted, 3));
            CHECK(once == bytesWith(wanted, 8));
            wanted.seed = 2;
            CHECK(once != bytesWith(wanted, 2));
        }
    }
}

TEST_CASE("random kinds have the asked number of edges within the asked nodes")
{
    for (const GraphKind kind : kRandomKinds) {
        for (const std::int64_t nodes : {1, 2, 3, 5, 64, 65, 1000}) {
            const Graph graph = make(options(kind, nodes, 500));
            CAPTURE(static_cast<int>(kind));
            CAPTURE(nodes);
            CHECK(graph.nodes == nodes);
            CHECK(graph.edges.size() == 500);
            const bool inside = std::all_of(graph.edges.begin(), graph.edges.end(), [&](const auto& edge) {
                return edge.first >= 0 && edge.second >= 0 && edge.first < nodes && edge.second < nodes;
            });
            CHECK(inside);
        }
    }
}

TEST_CASE("symmetric graphs have both directions, no loops, no duplicates, sorted columns and all their edges")
{
    for (const GraphKind kind : kKinds) {
        for (const std::int64_t nodes : {2, 7, 100, 1000}) {
            const bool random = std::find(kRandomKinds.begin(), kRandomKinds.end(), kind) != kRandomKinds.end();
            const std::int64_t wanted = nodes == 2 ? 2 : nodes * 3 - nodes % 2;
            const Graph graph = make(options(kind, nodes, wanted, true));
            CAPTURE(static_cast<int>(kind));
            CAPTURE(nodes);
            if (random) CHECK(static_cast<std::int64_t>(graph.edges.size()) == wanted / 2 * 2);
            const std::set<std::pair<std::int64_t, std::int64_t>> distinct(graph.edges.begin(), graph.edges.end());
            CHECK(distinct.size() == graph.edges.size());
            for (const auto& [source, target] : distinct) {
                CHECK(source != target);
                CHECK(distinct.contains({target, source}));
            }
            const bool sorted =
                std::is_sorted(graph.edges.begin(), graph.edges.end(), [](const auto& a, const auto& b) {
                    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
                });
            CHECK(sorted);
        }
    }
}

TEST_CASE("grids, stars and paths are what they are called")
{
    using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
    const auto sorted = [](Edges edges) {
        std::sort(edges.begin(), edges.end());
        return edges;
    };
    CHECK(make(options(GraphKind::Path, 4, 0)).edges == Edges{{0, 1}, {1, 2}, {2, 3}});
    CHECK(make(options(GraphKind::Star, 4, 0)).edges == Edges{{1, 0}, {2, 0}, {3, 0}});
    CHECK(sorted(make(options(GraphKind::Grid, 6, 0)).edges) ==
          Edges{{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {4, 5}});
    for (std::int64_t nodes = 0; nodes < 40; ++nodes) {
        const auto columns = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(nodes))));
        Edges expected;
        for (std::int64_t i = 0; i < nodes; ++i) {
            if (i % columns + 1 < columns && i + 1 < nodes) expected.emplace_back(i, i + 1);
            if (i + columns < nodes) expected.emplace_back(i, i + columns);
        }
        CAPTURE(nodes);
        CHECK(sorted(make(options(GraphKind::Grid, nodes, 0)).edges) == sorted(expected));
    }
}

TEST_CASE("symmetric shapes keep their degrees though their ids are shuffled")
{
    const Graph star = make(options(GraphKind::Star, 100, 0, true));
    auto degrees = inDegrees(star);
    CHECK(std::count(degrees.begin(), degrees.end(), 1) == 99);
    CHECK(std::count(degrees.begin(), degrees.end(), 99) == 1);
    CHECK(degrees[0] != 99);
    const Graph path = make(options(GraphKind::Path, 100, 0, true));
    degrees = inDegrees(path);
    CHECK(std::count(degrees.begin(), degrees.end(), 1) == 2);
    CHECK(std::count(degrees.begin(), degrees.end(), 2) == 98);
}

TEST_CASE("RMAT halves follow their probabilities, also the second ones")
{
    const Graph graph = make(options(GraphKind::Rmat, 1 << 12, 400'000));
    const auto share = [&](auto&& matches) {
        return static_cast<double>(std::count_if(graph.edges.begin(), graph.edges.end(), matches)) / 400'000;
    };
    for (const int bit : {11, 10, 7, 6, 0}) {
        const auto quadrant = [bit](const auto& edge) {
            return (edge.first >> bit & 1) * 2 + (edge.second >> bit & 1);
        };
        CAPTURE(bit);
        CHECK(share([&](const auto& e) { return quadrant(e) == 0; }) == doctest::Approx(0.57).epsilon(0.01));
        CHECK(share([&](const auto& e) { return quadrant(e) == 1; }) == doctest::Approx(0.19).epsilon(0.03));
        CHECK(share([&](const auto& e) { return quadrant(e) == 2; }) == doctest::Approx(0.19).epsilon(0.03));
        CHECK(share([&](const auto& e) { return quadrant(e) == 3; }) == doctest::Approx(0.05).epsilon(0.05));
    }
    const auto degrees = inDegrees(graph);
    CHECK(*std::max_element(degrees.begin(), degrees.end()) > 20 * 400'000 / 4096);
}

TEST_CASE("communities hold the asked share of edges")
{
    GenerateOptions wanted = options(GraphKind::Sbm, 1003, 200'000);
    wanted.communities = 10;
    wanted.inside = 0.8;
    const Graph graph = make(wanted);
    const auto community = [](std::int64_t node) { return std::min<std::int64_t>(node / 100, 9); };
    const auto inner = std::count_if(graph.edges.begin(), graph.edges.end(),
                                     [&](const auto& e) { return community(e.first) == community(e.second); });
    CHECK(static_cast<double>(inner) / 200'000 == doctest::Approx(0.8 + 0.2 * 0.1).epsilon(0.01));
}

TEST_CASE("uniform edges spread evenly")
{
    const Graph graph = make(options(GraphKind::ErdosRenyi, 100, 200'000));
    for (const std::int64_t degree : inDegrees(graph)) CHECK(std::abs(degree - 2000) < 300);
}

TEST_CASE("features are standard normal and uncorrelated between neighbours")
{
    GenerateOptions wanted = options(GraphKind::Path, 40'000, 0);
    wanted.features = 25;
    const Graph graph = make(wanted);
    REQUIRE(graph.x.size() == 1'000'000);
    double sum = 0, square = 0, fourth = 0, product = 0;
    for (std::size_t i = 0; i < graph.x.size(); ++i) {
        const double value = graph.x[i];
        sum += value;
        square += value * value;
        fourth += value * value * value * value;
        if (i > 0) product += value * graph.x[i - 1];
    }
    CHECK(std::abs(sum / 1e6) < 0.004);
    CHECK(square / 1e6 == doctest::Approx(1).epsilon(0.006));
    CHECK(fourth / 1e6 == doctest::Approx(3).epsilon(0.02));
    CHECK(std::abs(product / 1e6) < 0.004);
}

TEST_CASE("the normal quantile inverts the error function")
{
    for (std::uint64_t word = 0; word < (std::uint64_t{1} << 32U); word += 16'777'213) {
        const double p = (static_cast<double>(word) + 0.5) / 4294967296.0;
        const double x = normalFromWord(static_cast<std::uint32_t>(word));
        CAPTURE(word);
        // p = erfc(-x / sqrt 2) / 2; compared through the density, that is, as an error in x.
        const double density = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
        CHECK(std::abs(std::erfc(-x / std::sqrt(2.0)) / 2 - p) / density < 1e-6);
    }
    CHECK(normalFromWord(0) == doctest::Approx(-6.338).epsilon(1e-3));
    CHECK(normalFromWord(0xFFFFFFFFU) == -normalFromWord(0));
}

TEST_CASE("the permutation is one")
{
    for (const std::int64_t n : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
        const Permutation shuffle(n, 5);
        std::vector<bool> seen(static_cast<std::size_t>(n));
        std::int64_t fixed = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t place = shuffle(i);
            REQUIRE(place >= 0);
            REQUIRE(place < n);
            CHECK(!seen[static_cast<std::size_t>(place)]);
            seen[static_cast<std::size_t>(place)] = true;
            fixed += place == i ? 1 : 0;
        }
        CAPTURE(n);
        if (n >= 1000) CHECK(fixed < 10);
    }
}

TEST_CASE("empty graphs and graphs without features are written")
{
    CHECK(make(options(GraphKind::ErdosRenyi, 0, 0)).nodes == 0);
    CHECK(make(options(GraphKind::Grid, 0, 0)).edges.empty());
    CHECK(make(options(GraphKind::Star, 1, 0, true)).edges.empty());
    GenerateOptions bare = options(GraphKind::Rmat, 10, 20);
    bare.features = 0;
    CHECK(make(bare).x.empty());
    CHECK(make(options(GraphKind::ErdosRenyi, 10, 90, true)).edges.size() == 90);
}

TEST_CASE("requests that cannot be met are refused and leave no file")
{
    const TempFolder folder;
    std::vector<GenerateOptions> wrong{
        options(GraphKind::Rmat, 0, 5),        options(GraphKind::Rmat, -1, 5),
        options(GraphKind::Rmat, 5, -5),       options(GraphKind::ErdosRenyi, 10, 91, true),
        options(GraphKind::Sbm, 10, 20, true), options(GraphKind::Sbm, 10, 20),
        options(GraphKind::Sbm, 10, 20)};
    wrong[4].communities = 10;
    wrong[4].inside = 1;
    wrong[5].communities = 11;
    wrong[6].inside = 1.5;
    for (const GenerateOptions& one : wrong) {
        const auto done = generate(one, folder.file("g"), {}, {});
        CAPTURE(static_cast<int>(one.kind));
        CAPTURE(one.nodes);
        REQUIRE(!done);
        CAPTURE(done.error().message);
        CHECK(done.error().code == ErrorCode::Usage);
    }
    const auto huge = generate(options(GraphKind::Rmat, std::int64_t{1} << 40, std::int64_t{1} << 50, true),
                               folder.file("g"), {}, {});
    REQUIRE(!huge);
    const auto large =
        generate(options(GraphKind::Rmat, 1'000'000'000, std::int64_t{1} << 45, true), folder.file("g"), {}, {});
    REQUIRE(!large);
    CHECK(large.error().code == ErrorCode::Resources);
    CHECK(folder.names().empty());
}

TEST_CASE("a stop leaves no file and is told apart from failure")
{
    const TempFolder folder;
    for (const bool symmetric : {false, true}) {
        GenerateOptions large = options(GraphKind::Rmat, 100'000, 2'000'000, symmetric);
        large.features = 20;
        for (const int call : {1, 2, 5}) {
            std::stop_source source;
            int calls = 0;
            const auto done = generate(
                large, folder.file("g"),
                [&](const base::Progress&) {
                    if (++calls >= call) source.request_stop();
                },
                source.get_token());
            if (done) {  // faster than its fifth report
                std::filesystem::remove(folder.file("g"));
                continue;
            }
            CHECK(done.error().code == ErrorCode::Cancelled);
            CHECK(folder.names().empty());
        }
        std::stop_source early;
        early.request_stop();
        const auto done = generate(large, folder.file("g"), {}, early.get_token());
        REQUIRE(!done);
        CHECK(done.error().code == ErrorCode::Cancelled);
        CHECK(folder.names().empty());
    }
}

TEST_CASE("progress names its work and never runs past its total")
{
    const TempFolder folder;
    std::set<std::string> works;
    REQUIRE(generate(options(GraphKind::Rmat, 200'000, 1'000'000), folder.file("g"),
                     [&](const base::Progress& progress) {
                         works.insert(progress.what);
                         CHECK(progress.done <= progress.total);
                     },
                     {}));
    CHECK(works == std::set<std::string>{"writing edge_index", "writing x"});
}
