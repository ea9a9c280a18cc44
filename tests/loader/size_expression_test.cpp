#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <sstream>

#include "loader/exported/guard_parser.h"

using namespace hopscope;
using loader::SizeExpression;

namespace {

using Sizes = std::map<std::string, std::int64_t>;  // by loader::describe

std::optional<loader::SizeNumber> valueOf(const SizeExpression& expression, const Sizes& sizes)
{
    return loader::evaluate(expression, [&](const loader::SizePlace& place) {
        const auto size = sizes.find(loader::describe(place));
        return size == sizes.end() ? std::nullopt : std::optional(size->second);
    });
}

SizeExpression parsed(const std::string& code)
{
    INFO(code);
    auto expression = loader::exported::parseGuard(code);
    REQUIRE(expression);
    return *expression;
}

bool holds(const std::string& code, const Sizes& sizes)
{
    INFO(code);
    const auto value = valueOf(parsed(code), sizes);
    REQUIRE(value);
    REQUIRE(std::holds_alternative<std::int64_t>(*value));
    return std::get<std::int64_t>(*value) != 0;
}

// As random_guards.py writes numbers.
bool same(const loader::SizeNumber& found, const std::string& wanted)
{
    const auto* const integer = std::get_if<std::int64_t>(&found);
    if (integer != nullptr) return wanted == std::to_string(*integer);
    const double real = std::get<double>(found), other = std::strtod(wanted.c_str(), nullptr);
    const bool written = wanted.find_first_of("xn") != std::string::npos;  // "0x1.8p+1", "inf", "nan"
    return written && (real == other || (std::isnan(real) && std::isnan(other)));
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

std::vector<std::string> randomGuards(int count, int seed)
{
    const std::string command =
        std::string(TEST_PYTHON) + " -B " + TEST_GUARDS + " " + std::to_string(count) + " " + std::to_string(seed);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
    REQUIRE(pipe);
    std::string text;
    for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
    return split(text, '\n');
}

}  // namespace

TEST_CASE("Guards as torch.export writes them hold where Python says so")
{
    const Sizes even{{"x.size(0)", 60}, {"edge_index.size(1)", 300}},
        odd{{"x.size(0)", 75}, {"edge_index.size(1)", 299}};
    CHECK(holds("(L['x'].size()[0] % 2) == 0", even));
    CHECK_FALSE(holds("(L['x'].size()[0] % 2) == 0", odd));
    CHECK(holds("L['edge_index'].size()[1] > 4*L['x'].size()[0]", even));
    CHECK_FALSE(holds("L['edge_index'].size()[1] > 4*L['x'].size()[0]", odd));
    CHECK(holds("L['x'].size()[0] == (L['edge_index'].size()[1] // 5)", even));
    CHECK_FALSE(holds("L['x'].size()[0] == (L['edge_index'].size()[1] // 5)", odd));
    CHECK(holds("(L['edge_index'].size()[1] / L['x'].size()[0]) > 4.9", even));
    CHECK_FALSE(holds("(L['edge_index'].size()[1] / L['x'].size()[0]) > 4.9", odd));
    CHECK(holds("((L['x'].size()[0] + ((-1)*L['edge_index'].size()[1])) % 7) != 3", even));
    CHECK_FALSE(holds("((L['x'].size()[0] + ((-1)*L['edge_index'].size()[1])) % 7) == 3", odd));
    CHECK(holds("not (L['edge_index'].size()[1] > 1000 or L['x'].size()[0] > 1000)", even));
    CHECK(holds("L['x'].size()[0] < 1000 and (L['edge_index'].size()[1] % 2) == 0", even));
    CHECK_FALSE(holds("L['x'].size()[0] < 1000 and not L['edge_index'].size()[1] > 100", even));
    CHECK(holds("3*(L['x'].size()[0] if L['edge_index'].size()[1] > 299 else L['edge_index'].size()[1]) == 180", even));
    CHECK_FALSE(
        holds("3*(L['x'].size()[0] if L['edge_index'].size()[1] > 299 else L['edge_index'].size()[1]) == 180", odd));
    CHECK(holds("math.trunc(0.3*torch.sym_float(L['x'].size()[0])) == 18", even));
    CHECK(holds("torch._sym_sqrt(torch.sym_float(L['x'].size()[0])) > 7.5", even));
    CHECK(holds("math.log2(torch.sym_float(L['x'].size()[0])) > 5.9", even));
    CHECK_FALSE(holds("math.log2(torch.sym_float(L['x'].size()[0])) > 6.23", odd));
    CHECK(holds("round(L['x'].size()[0] / 7, 2) == 8.57", even));
    CHECK(holds("round(L['edge_index'].size()[1] / 8, 0) == 38.0", even));
    CHECK(holds("((0.5*torch.sym_float(L['x'].size()[0])) % 2.0) > 1.4", odd));
    CHECK(holds("((-0.5*torch.sym_float(L['x'].size()[0])) % 2.0) == 0.5", odd));
    CHECK(holds("L['x'].size()[0] ^ L['edge_index'].size()[1] > 3", even));
    CHECK(holds("2 ** 3 ** 2 == 512 and -2 ** 2 == -4", even));
    CHECK(holds("L['n'] > 2", {{"n", 3}}));
    CHECK(holds("2*L['x_dict']['user'].size()[0] < L['ei'][('user', 'to', 'item')].size()[1]",
                {{"x_dict.user.size(0)", 2}, {"ei.user__to__item.size(1)", 5}}));
}

TEST_CASE("Random expressions of sizes have the value that Python gives")
{
    constexpr int count = 4000;
    const std::vector<std::string> lines = randomGuards(count, 1);
    REQUIRE(lines.size() == count);
    for (const std::string& line : lines) {
        INFO(line);
        const std::vector<std::string> parts = split(line, '\t'), sizes = split(parts.at(1), ',');
        const SizeExpression expression = parsed(parts[0]);
        const Sizes given{{"x.size(0)", std::stoll(sizes.at(0))},
                          {"edge_index.size(1)", std::stoll(sizes.at(1))},
                          {"x_dict.user.size(0)", std::stoll(sizes.at(2))},
                          {"n", std::stoll(sizes.at(3))}};
        const auto value = valueOf(expression, given);
        const bool open = parts.at(2)[0] == '?';
        if (parts[2] == "none") CHECK_FALSE(value);
        else if (!open) CHECK(value);
        if (value) CHECK(same(*value, parts[2].substr(open ? 1 : 0)));
    }
}

TEST_CASE("The text of a condition is short, and keeps its parts together")
{
    const auto text = [](const std::string& code) { return loader::describe(parsed(code)); };
    CHECK(text("L['edge_index'].size()[1] > 4*L['x'].size()[0]") == "edge_index.size(1) > 4 * x.size(0)");
    CHECK(text("(L['x'].size()[0] % 2) == 0") == "x.size(0) % 2 == 0");
    CHECK(text("3*((2 + L['x'].size()[0]) // 3) <= L['x'].size()[0]") == "3 * ((2 + x.size(0)) // 3) <= x.size(0)");
    CHECK(text("(L['a'].size()[0] - L['b'].size()[0]) - (L['c'].size()[0] - 1)") ==
          "a.size(0) - b.size(0) - (c.size(0) - 1)");
    CHECK(text("not (L['n'] > 1 or L['m'] > 0.5)") == "not (n > 1 or m > 0.5)");
    CHECK(text("max(L['n'], (3 if L['m'] > 1 else 4)) == (-2) ** 2") == "max(n, 3 if m > 1 else 4) == (-2) ** 2");
    CHECK(text("(L['n'] == 1) == (L['m'] == 1)") == "(n == 1) == (m == 1)");
    CHECK(loader::isEqualityOfSizes(parsed("L['a'].size()[0] == L['b'].size()[1]")));
    CHECK_FALSE(loader::isEqualityOfSizes(parsed("L['a'].size()[0] == 2*L['b'].size()[1]")));
    CHECK(loader::placesIn(parsed("L['a'].size()[0]*L['a'].size()[0] > L['a'].size()[1]")).size() == 2);
}

TEST_CASE("Nothing but arithmetic on sizes is read as a guard")
{
    for (const char* code : {"",
                             "f(L['x'])",
                             "L",
                             "L['x'].storage_offset() > 2",
                             "L['x'].size()[0] <",
                             "1 < L['x'].size()[0] < 5",
                             "(1",
                             "1)",
                             "1 2",
                             "L['x'].size()",
                             "L['x'].size()[-1] > 1",
                             "L[x].size()[0]",
                             "L['x'].shape",
                             "x.size()[0] > 1",
                             "max(1)",
                             "abs(1, 2)",
                             "round(1, 2, 3)",
                             "math.log(2)",
                             "1 if 2",
                             "99999999999999999999 > 1",
                             "1.2.3",
                             "'a' == 'a'",
                             "L['\\x41'] > 1",
                             "__import__('os')",
                             "1 and",
                             "lambda: 1",
                             "L['x'].size()[0] << 2"})
        CHECK_MESSAGE(!loader::exported::parseGuard(code), code);
    const auto nested = [](const std::string& open, const std::string& close) {
        std::string code = "1";
        for (int i = 0; i < 5000; ++i) code = open + code + close;
        return code;
    };
    for (const auto& [open, close] :
         {std::pair("(", ")"), {"-", ""}, {"not ", ""}, {"1+", ""}, {"2**", ""}, {"1 if 1 else ", ""}})
        CHECK_FALSE(loader::exported::parseGuard(nested(open, close)));
}

TEST_CASE("Numbers that cannot be computed have no value")
{
    for (const char* code :
         {"1 // L['n']", "1 % L['n']", "1 / L['n']", "9223372036854775807 + 1", "-9223372036854775807 - 2",
          "9223372036854775807*2", "2 ** 64", "2 ** -1", "0.0 ** -1", "(-2.0) ** 0.5", "9007199254740993 / 3",
          "9007199254740993 > 0.5", "math.floor(1e300)", "math.sqrt(-1)", "7.5 // 2", "7.5 & 2", "L['m'] > 0"})
        CHECK_MESSAGE(!valueOf(parsed(code), {{"n", 0}}), code);
    CHECK(holds("L['n'] == 0 or 1 // L['n'] == 1", {{"n", 0}}));
    CHECK(holds("(-7) // 2 == -4 and (-7) % 2 == 1 and 7 % -2 == -1", {}));
    CHECK(holds("round(2.5) == 2 and round(3.5) == 4 and math.trunc(-2.5) == -2", {}));
}

TEST_CASE("Damaged guards are read or not, and never crash")
{
    std::mt19937 random(7);
    const std::string signs = "L[]().'\"+-*/%&|^<>=!, 0123456789eE.ifelsnotad_x\\\n";
    int read = 0;
    for (const std::string& line : randomGuards(1500, 2)) {
        std::string code = line.substr(0, line.find('\t'));
        for (int change = 0; change < 3; ++change) {
            const std::size_t at = random() % (code.size() + 1);
            if (random() % 2 == 0 && at < code.size()) code.erase(at, 1 + random() % 4);
            else code.insert(at, 1, signs[random() % signs.size()]);
        }
        const auto expression = loader::exported::parseGuard(code);
        if (!expression) continue;
        ++read;
        static_cast<void>(valueOf(*expression, {{"x.size(0)", 5}, {"n", 0}}));
        const auto again = loader::describe(*expression);
        CHECK_FALSE(again.empty());
    }
    CHECK(read > 20);
}
