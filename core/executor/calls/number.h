#pragma once

// Private to executor: evaluates numbers that depend on table sizes. As part of a shape, the size of a table means the
// rows in the batch; as a number, the rows of the whole table; the caller passes the appropriate sizes.

#include <functional>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "analysis/analysis.h"

namespace hopscope::executor {

using SizeOf = std::function<std::int64_t(ir::SpaceId)>;

struct Number {
    ir::ValueKind kind = ir::ValueKind::Int;
    std::int64_t integer = 0;  // Int, Bool
    double real = 0;           // Float

    [[nodiscard]] double asReal() const { return kind == ir::ValueKind::Float ? real : static_cast<double>(integer); }
    [[nodiscard]] c10::IValue value() const;
    [[nodiscard]] at::Scalar scalar() const;
};

// Returns a number as a result of the model: a tensor of bool, int64 or float64 without dimensions.
at::Tensor tensorOf(const Number& number);

Number integerNumber(std::int64_t i);
Number realNumber(double d);
Number boolNumber(bool b);

// Evaluates the numbers of a program. `item` returns the value of a one-element tensor.
class NumberEvaluator {
public:
    NumberEvaluator(const analysis::Analysis& analysis, std::function<at::Tensor(ir::ValueId)> item)
        : m_analysis(analysis),
          m_item(std::move(item))
    {}
    Number evaluate(ir::ValueId value, const SizeOf& sizes) const;
    std::int64_t evaluate(const analysis::Linear& linear, const SizeOf& sizes) const;

private:
    Number direct(ir::ValueId value, const SizeOf& sizes) const;
    Number fromOp(const ir::Op& op, const SizeOf& sizes) const;
    Number argument(const ir::Arg& arg, const SizeOf& sizes) const;
    Number dimension(ir::ValueId tensor, std::int64_t dim, const SizeOf& sizes) const;

    const analysis::Analysis& m_analysis;
    std::function<at::Tensor(ir::ValueId)> m_item;
};

// Evaluates the scalar operator `name` ("add", "floordiv", ...) as Python does. Raises Input for a division by zero.
Number applyScalar(const std::string& name, const Number& a, const Number& b);

// Returns the shape of `value` if each dimension with a row space has the size of its table.
std::vector<std::int64_t> shapeOf(const analysis::Analysis& analysis, ir::ValueId value, const SizeOf& sizes);
// Return the bytes of the whole value, and of one of its rows (or of the whole value if it has no rows).
std::int64_t wholeBytes(const analysis::Analysis& analysis, ir::ValueId value, const SizeOf& sizes);
std::int64_t rowBytes(const analysis::Analysis& analysis, ir::ValueId value, const SizeOf& sizes);

}  // namespace hopscope::executor
