#pragma once

// Private to analysis: the common base class of passes that multiply the parts of a sum or a concatenation instead of
// the whole.

#include <map>
#include <optional>
#include <vector>

#include "analysis/lowering/gathered_sums.h"
#include "analysis/lowering/moved_products.h"
#include "analysis/lowering/rewriter.h"

namespace hopscope::analysis {

// Knows which values of the program made so far are sums of gathered rows, or columns side by side.
class ProductParts : protected Rewriter {
public:
    explicit ProductParts(const ir::Program& program) : Rewriter(program), m_old(program) {}
    virtual ~ProductParts() = default;

protected:
    // Records the parts of the result of an operator that was appended. Appends operators for each part; without a use
    // they are dead.
    void note(const ir::Op& op);
    [[nodiscard]] const GatheredSum* sumOf(std::optional<ir::ValueId> v) const;
    [[nodiscard]] const std::vector<std::int64_t>& shape(ir::ValueId v) const { return m_new.value(v).shape; }
    // Returns the parts of the left operand of a product with a weight; null if they cannot be multiplied one by one.
    [[nodiscard]] const GatheredSum* factorOf(const ir::Op& op, const std::optional<Product>& product) const;

    // A left operand and its columns of the weight.
    struct Part {
        std::optional<RowGather> gather;  // of the product's rows
        ir::ValueId rows, weight;         // [out, in]
    };

    // True if these columns are multiplied before they are gathered.
    [[nodiscard]] virtual bool moves(const SummedColumns&) const { return false; }
    // Returns the products whose sum is the result, each table once, and those that are gathered first.
    std::vector<Part> partsOf(const ir::Op& op, const Product& product, const GatheredSum& sum);
    // Appends the products. Those whose rows are gathered alike are added up before that. The bias is added to the first
    // one.
    std::vector<Summand> multiplied(const ir::Op& op, const std::vector<Part>& parts,
                                    const std::optional<ir::Arg>& bias);
    // Appends the gather of a summand.
    ir::ValueId gathered(const Summand& summand, std::optional<ir::ValueId> result = {});
    ir::ValueId rowsOf(const Summand& summand) { return summand.gather ? gathered(summand) : summand.table; }
    static ir::Arg one() { return ir::Arg{std::int64_t{1}}; }

    const ir::Program& m_old;
    std::map<ir::ValueId, GatheredSum> m_sums;

private:
    [[nodiscard]] SummedColumns asItIs(ir::ValueId v) const;
    void addUp(const ir::Op& op);
    void negate(const ir::Op& op);
    void placeSideBySide(const ir::Op& op);
    void apply(const ir::Op& op, GatheredSum sum);
    [[nodiscard]] bool isLayer(const ir::Op& op, const Product& product) const;
    [[nodiscard]] bool isOfType(const GatheredSum& sum, base::DType type) const;
    [[nodiscard]] ir::Value sized(ir::ValueId like, std::vector<std::int64_t> to) const;
    ir::ValueId columnsOf(const ir::Op& op, ir::ValueId weight, std::int64_t from, std::int64_t width);
    void addPart(const ir::Op& op, std::vector<Part>& parts, Part part, bool negative);
};

}  // namespace hopscope::analysis
