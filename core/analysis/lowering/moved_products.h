#pragma once

// Private to analysis: finds the products that can be computed before the aggregation they follow.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/program.h"

namespace hopscope::analysis {

// product = aggregate(.. table ..) x weight + bias, where all operators between are linear in the rows of `table`, do
// the same to each column, and have no other use: it then also equals aggregate(.. table x weight ..) + bias.
struct MovedProduct {
    ir::OpId product;
    ir::ValueId table;            // one row per source, of `in` columns
    ir::ValueId root;             // the left factor of the product
    ir::ValueId weight;           // follows from parameters alone
    std::optional<ir::Arg> bias;  // none: nothing is added
    std::set<ir::ValueId> inner;  // results of the operators in between, including `root`
    std::int64_t in = 0, out = 0;
};

// Products that make rows narrower, in the order of their operators; their `inner` values are disjoint. Linear in the
// operators.
std::vector<MovedProduct> movedProducts(const ir::Program& program);

// The arguments of a linear operator that hold rows of the table: "self", or "self" and "other" of a sum. Empty for
// other operators.
std::vector<std::string> carriedArguments(const ir::Program& program, const ir::Op& op);

// The column that `v` repeats for each of its columns; none if it does not.
std::optional<ir::ValueId> repeatedColumn(const ir::Program& program, ir::ValueId v);

// A use of a value on a path that only reads its shape or dtype.
bool onlyLooksAt(const ir::Op& op, ir::Slot slot);

}  // namespace hopscope::analysis
