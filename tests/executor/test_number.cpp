#include <doctest/doctest.h>

#include "executor/calls/number.h"

using namespace hopscope;
using namespace hopscope::executor;

TEST_CASE("scalar operators follow Python's rules")
{
    const auto ints = [](const char* op, std::int64_t a, std::int64_t b) {
        return applyScalar(op, integerNumber(a), integerNumber(b));
    };
    CHECK(ints("floordiv", -7, 2).integer == -4);
    CHECK(ints("mod", -7, 3).integer == 2);
    CHECK(ints("truediv", 7, 2).real == doctest::Approx(3.5));
    CHECK(ints("pow", 2, 10).integer == 1024);
    CHECK(ints("pow", 2, -1).real == doctest::Approx(0.5));
    CHECK(ints("max", 3, 5).integer == 5);
    CHECK(ints("lt", 3, 5).kind == ir::ValueKind::Bool);
    CHECK(applyScalar("add", integerNumber(1), realNumber(0.5)).real == doctest::Approx(1.5));
    CHECK(applyScalar("round", realNumber(2.5), {}).integer == 2);
    CHECK(applyScalar("int", realNumber(-2.7), {}).integer == -2);
    CHECK(applyScalar("not", boolNumber(false), {}).integer == 1);
}

TEST_CASE("linear forms take the sizes that they are given")
{
    analysis::Analysis a;
    const NumberEvaluator numbers(a, {});
    analysis::Linear linear;
    linear.sizes = {{ir::SpaceId(0), 2}, {ir::SpaceId(1), -1}};
    linear.constant = 3;
    CHECK(numbers.evaluate(linear, [](ir::SpaceId s) { return s.index == 0 ? 10 : 4; }) == 19);
    CHECK(numbers.evaluate(linear, [](ir::SpaceId) { return 1; }) == 4);
}
