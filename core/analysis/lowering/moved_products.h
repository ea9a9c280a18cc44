#pragma once

// Private to analysis: finds the products that can be computed before the aggregation they follow.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/program.h"

namespace hopscope::analysis {

// A product = aggregate(.. table ..) x weight + bias that also equals aggregate(.. table x weight ..) + bias, because
// all operators in between are linear in the rows of `table`, treat all columns alike, and have no other use.
struct MovedProduct {
    ir::OpId product;
    ir::ValueId table;            // one row per source, of `in` columns
    ir::ValueId root;             // the left factor of the product
    ir::ValueId weight;           // follows from parameters alone
    std::optional<ir::Arg> bias;  // none: nothing is added
    std::set<ir::ValueId> inner;  // results of the operators in between, including `root`
    std::int64_t in = 0, out = 0;
};

// A product of rows with a matrix, plus a bias.
struct Product {
    ir::ValueId input, weight;
    std::optional<ir::Arg> bias;  // none: nothing is added
};

// Returns the operands of an operator that is such a product; none for other operators.
std::optional<Product> productOf(const ir::Op& op);

// True for parameters, constants, and views and copies of them: they are the same for the whole run, and exist before
// everything else.
bool isWeight(const ir::Program& program, ir::ValueId v);

// Returns the products that make rows narrower, in the order of their operators. Their `inner` values are disjoint.
// Linear in the operators.
std::vector<MovedProduct> movedProducts(const ir::Program& program);

// Returns the arguments of a linear operator that hold rows of the table: "self", or "self" and "other" for a sum.
// Empty for other operators.
std::vector<std::string> carriedArguments(const ir::Program& program, const ir::Op& op);

// Returns the value whose single column `v` repeats; none for other values.
std::optional<ir::ValueId> repeatedColumn(const ir::Program& program, ir::ValueId v);

// True if the operator only reads the shape or dtype of this operand.
bool onlyLooksAt(const ir::Op& op, ir::Slot slot);

}  // namespace hopscope::analysis
