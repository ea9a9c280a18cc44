#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "solver/compact.h"
#include "solver/mip.h"

using namespace hopscope;
using namespace hopscope::solver;

namespace {

struct Generator {
    std::mt19937_64 engine;
    int upTo(int most) { return static_cast<int>(engine() % static_cast<std::uint64_t>(most + 1)); }
};

// A few binary columns, small whole numbers everywhere; about half of them have no solution or an easy one.
Problem randomProblem(std::uint64_t seed)
{
    Generator random{std::mt19937_64(seed)};
    Problem p;
    p.constant = random.upTo(5);
    const int columns = 1 + random.upTo(9), rows = random.upTo(8);
    for (int c = 0; c < columns; ++c) {
        const int fixed = random.upTo(9);
        p.addColumn(random.upTo(20) - 6, fixed == 0 ? 1 : 0, fixed == 1 ? 0 : 1, true);
    }
    for (int row = 0; row < rows; ++row) {
        for (int c = 0; c < columns; ++c)
            if (const int value = random.upTo(6) - 3; value != 0 && random.upTo(1) == 0) p.term(c, value);
        const int low = random.upTo(4) - 3;
        p.closeRow(random.upTo(2) == 0 ? -infinity : low, random.upTo(2) == 0 ? infinity : low + random.upTo(3));
    }
    return p;
}

// The optimum by trying everything; infinity where there is none.
double exhaustive(const Problem& p)
{
    double best = infinity;
    for (int bits = 0; bits < 1 << p.columns(); ++bits) {
        std::vector<double> values;
        for (int c = 0; c < p.columns(); ++c) values.push_back(bits >> c & 1);
        bool good = true;
        double sum = p.constant;
        for (int c = 0; c < p.columns(); ++c) {
            good = good && values[c] >= p.lower[c] && values[c] <= p.upper[c];
            sum += p.cost[c] * values[c];
        }
        for (int row = 0; row < p.rows() && good; ++row) {
            double left = 0;
            for (int k = p.rowStart[row]; k < p.rowStart[row + 1]; ++k)
                left += p.termValue[k] * values[p.termColumn[k]];
            good = left >= p.rowLower[row] && left <= p.rowUpper[row];
        }
        if (good) best = std::min(best, sum);
    }
    return best;
}

std::string text(const Problem& p)
{
    std::ostringstream out;
    out << p.constant;
    for (int c = 0; c < p.columns(); ++c)
        out << " + " << p.cost[c] << " x" << c << " [" << p.lower[c] << "," << p.upper[c] << "]";
    for (int row = 0; row < p.rows(); ++row) {
        out << "; " << p.rowLower[row] << " <=";
        for (int k = p.rowStart[row]; k < p.rowStart[row + 1]; ++k)
            out << " + " << p.termValue[k] << " x" << p.termColumn[k];
        out << " <= " << p.rowUpper[row];
    }
    return out.str();
}

// What the process prints on both of its outputs while a function runs.
template <class Function>
std::string printed(const Function& function)
{
    std::fflush(nullptr);
    std::FILE* const file = std::tmpfile();
    const int out = dup(1), err = dup(2);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    function();
    std::fflush(nullptr);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    std::string all(static_cast<std::size_t>(std::ftell(file) < 0 ? 0 : lseek(fileno(file), 0, SEEK_END)), ' ');
    std::fclose(file);
    return all;
}

// Many equal items, sums that halves cannot reach: the relaxation says nothing and the tree is huge.
Problem hardProblem()
{
    Generator random{std::mt19937_64(3)};
    Problem p;
    const int columns = 60, rows = 5;
    for (int c = 0; c < columns; ++c) p.addColumn(0, 0, 1, true);
    for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int c = 0; c < columns; ++c) {
            const double weight = random.upTo(100);
            sum += weight;
            p.term(c, weight);
        }
        const int over = p.addColumn(1, 0, infinity, false), under = p.addColumn(1, 0, infinity, false);
        p.term(over, -1);
        p.term(under, 1);
        p.closeRow(std::floor(sum / 2), std::floor(sum / 2));
    }
    return p;
}

}  // namespace

TEST_CASE("without a solver every question is answered with the reason")
{
    if (available()) return;
    CHECK(solverName() == std::string("none"));
    CHECK(solveInteger(randomProblem(1)).error().code == base::ErrorCode::Unsupported);
    CHECK(solveRelaxation(randomProblem(1)).error().code == base::ErrorCode::Unsupported);
}

TEST_CASE("small programs have the optimum that trying everything finds, with and without a start")
{
    if (!available()) return;
    int solved = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const Problem p = randomProblem(seed);
        INFO(seed << ": " << text(p));
        const double optimum = exhaustive(p);
        const auto found = solveInteger(p);
        REQUIRE(found);
        if (optimum == infinity) {
            CHECK(found->outcome == Outcome::Infeasible);
            continue;
        }
        ++solved;
        REQUIRE(found->outcome == Outcome::Optimal);
        CHECK(found->objective == doctest::Approx(optimum));
        CHECK(found->bound == doctest::Approx(optimum));
        CHECK(feasible(p, found->values));
        CHECK(objective(p, found->values) == doctest::Approx(optimum));
        const auto again = solveInteger(p, found->values);
        REQUIRE(again);
        CHECK(again->outcome == Outcome::Optimal);
        CHECK(again->objective == doctest::Approx(optimum));
    }
    CHECK(solved > 200);
    CHECK(solved < 600);
}

TEST_CASE("the relaxation bounds the program from below")
{
    if (!available()) return;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Problem p = randomProblem(seed);
        INFO(seed << ": " << text(p));
        const auto relaxed = solveRelaxation(p);
        REQUIRE(relaxed);
        const double optimum = exhaustive(p);
        if (relaxed->outcome == Outcome::Infeasible) CHECK(optimum == infinity);
        else CHECK(relaxed->bound <= optimum + 1e-6);
    }
}

TEST_CASE("nothing that is not cheaper than the cutoff is returned")
{
    if (!available()) return;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Problem p = randomProblem(seed);
        const double optimum = exhaustive(p);
        if (optimum == infinity) continue;
        INFO(seed << ": " << text(p));
        Limits limits;
        limits.cutoff = optimum;
        CHECK(solveInteger(p, {}, limits)->outcome == Outcome::Infeasible);
        limits.cutoff = optimum + 0.5;
        CHECK(solveInteger(p, {}, limits)->objective == doctest::Approx(optimum));
    }
}

TEST_CASE("the smaller problem has the same solutions")
{
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Problem p = randomProblem(seed);
        INFO(seed << ": " << text(p));
        const Compacted small = compact(p);
        const double optimum = exhaustive(p);
        if (small.infeasible) CHECK(optimum == infinity);
        else if (optimum == infinity) CHECK(exhaustive(small.problem) == infinity);
        else CHECK(exhaustive(small.problem) == doctest::Approx(optimum));
    }
}

TEST_CASE("the solver prints nothing")
{
    CHECK(printed([] {
              for (std::uint64_t seed = 0; seed < 40; ++seed) {
                  static_cast<void>(solveInteger(randomProblem(seed)));
                  static_cast<void>(solveRelaxation(randomProblem(seed)));
              }
          }).empty());
}

TEST_CASE("a deadline ends the search with the best solution and a bound")
{
    if (!available()) return;
    Limits limits;
    limits.seconds = 0.3;
    const auto began = std::chrono::steady_clock::now();
    const auto found = solveInteger(hardProblem(), {}, limits);
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - began;
    REQUIRE(found);
    CHECK(used.count() < 30);
    CHECK((found->outcome == Outcome::Feasible || found->outcome == Outcome::Unknown ||
           found->outcome == Outcome::Optimal));
    CHECK(found->bound <= found->objective + 1e-6);
}

TEST_CASE("a number of iterations ends the search at the same place every time, for all programs that share it")
{
    if (!available()) return;
    const auto searched = [] {
        Limits limits;
        limits.iterations = std::make_shared<std::int64_t>(500);
        const auto found = solveInteger(hardProblem(), {}, limits);
        REQUIRE(found);
        CHECK((found->outcome == Outcome::Feasible || found->outcome == Outcome::Unknown));
        CHECK(*limits.iterations <= 0);
        const auto next = solveInteger(hardProblem(), {}, limits);
        REQUIRE(next);
        CHECK(next->values.empty());
        return *found;
    };
    const Solution once = searched(), again = searched();
    CHECK(once.values == again.values);
    CHECK(once.bound == again.bound);
}

TEST_CASE("a stop request ends a search that goes on, with the best solution so far")
{
    if (!available()) return;
    std::stop_source source;
    Limits limits;
    limits.stop = source.get_token();
    std::chrono::steady_clock::time_point stopped;
    std::jthread stops([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stopped = std::chrono::steady_clock::now();
        source.request_stop();
    });
    const auto found = solveInteger(hardProblem(), {}, limits);
    const auto ended = std::chrono::steady_clock::now();
    stops.join();
    REQUIRE(found);
    CHECK((found->outcome == Outcome::Feasible || found->outcome == Outcome::Unknown));
    CHECK(found->bound <= found->objective + 1e-6);
    CHECK(ended - stopped < std::chrono::seconds(30));
}

TEST_CASE("a stop request that comes first leaves nothing to do")
{
    if (!available()) return;
    std::stop_source source;
    source.request_stop();
    Limits limits;
    limits.stop = source.get_token();
    const auto found = solveInteger(hardProblem(), {}, limits);
    REQUIRE(found);
    CHECK(found->outcome != Outcome::Infeasible);
}
