#include "pipeline/opening/data_lints.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "support/program_text.h"

using namespace hopscope;

namespace {

// Each node's count of edges that end there is read at one end of the edges.
std::vector<std::string> lintsWhereReadAt(const std::string& end)
{
    const auto drawn = test::drawProgram(R"(
x = node f[7,4]
e = index i[2,9]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
degrees = aten::bincount(self=dst, weights=none, minlength=n) -> i[7]
counted = aten::index_select(self=degrees, dim=0, index=)" +
                                         end + R"() -> i[9]
column = aten::unsqueeze(self=counted, dim=1) -> i[9,1]
m = aten::index_select(self=x, dim=0, index=src) -> f[9,4]
w = aten::mul.Tensor(self=m, other=column) -> f[9,4]
z = aten::new_zeros(self=x, size=[n, 4], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,4]
r = aten::index_add(self=z, dim=0, index=dst, source=w, alpha=1) -> f[7,4]
out = r
)");
    pipeline::Prepared prepared{.model = loader::Model(nullptr),
                                .inputs = {{"x", base::allocate(base::DType::Float32, {7, 4}).view}},
                                .schema = drawn.schema,
                                .sample = {},
                                .walk = {},
                                .analysis = analysis::analyse(drawn.program, drawn.schema),
                                .sizes = {},
                                .hashes = {},
                                .dataArguments = {},
                                .files = {},
                                .notes = {}};
    REQUIRE(!prepared.analysis.refusal);
    pipeline::addDataLints(prepared);
    std::vector<std::string> codes;
    for (const analysis::Lint& lint : prepared.analysis.lints) codes.push_back(lint.code);
    return codes;
}

}  // namespace

TEST_CASE("degrees are warned of where they are read at the other end of the edges than they are counted at")
{
    const auto warned = [](const std::string& end) {
        const std::vector<std::string> codes = lintsWhereReadAt(end);
        return std::ranges::count(codes, "whole-graph-degrees");
    };
    CHECK(warned("src") == 1);
    CHECK(warned("dst") == 0);
}
