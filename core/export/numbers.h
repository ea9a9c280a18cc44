#pragma once

// Private to export: writes the numbers of a program as expressions, by the rules of executor/calls/number.h.

#include <functional>

#include "analysis/analysis.h"
#include "export/text.h"

namespace hopscope::exporter {

using SizeText = std::function<Text(ir::SpaceId)>;

struct NumberText {
    ir::ValueKind kind = ir::ValueKind::Int;
    Text text;
};

NumberText integerText(std::int64_t number);
NumberText realNumberText(double number);
NumberText boolText(bool truth);
// Returns the result of a scalar operator ("add") with one or two operands. Raises Unsupported.
NumberText computed(const std::string& name, const std::vector<NumberText>& operands);

class Numbers {
public:
    // `item` returns the variable that holds a one-element tensor.
    Numbers(const analysis::Analysis& analysis, std::function<std::string(ir::ValueId)> item)
        : m_analysis(analysis),
          m_item(std::move(item))
    {}

    [[nodiscard]] NumberText value(ir::ValueId id, const SizeText& sizes) const;
    [[nodiscard]] NumberText argument(const ir::Arg& arg, const SizeText& sizes) const;
    // Returns the shape of a value, with `sizes` for the rows of tables.
    [[nodiscard]] std::vector<Text> shape(ir::ValueId value, const SizeText& sizes) const;

private:
    [[nodiscard]] NumberText direct(ir::ValueId id, const SizeText& sizes) const;
    [[nodiscard]] NumberText linear(const analysis::Linear& linear, const SizeText& sizes) const;
    [[nodiscard]] NumberText fromOp(const ir::Op& op, const SizeText& sizes) const;
    [[nodiscard]] NumberText element(ir::ValueId id) const;

    const analysis::Analysis& m_analysis;
    std::function<std::string(ir::ValueId)> m_item;
};

}  // namespace hopscope::exporter
