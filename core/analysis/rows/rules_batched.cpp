// Rules of operators that work on some dimensions as a whole, such as those of a matrix: rows may be in the others.

#include <algorithm>

#include "analysis/rows/rules.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using Shaped = RuleContext::Shaped;

bool comparesPairs(const RuleContext& c)
{
    return c.name == "cdist" || c.name.find("attention") != std::string::npos ||
           c.name.find("encoder") != std::string::npos;
}

Refused needsAll(const RuleContext& c, SpaceId rows)
{
    if (comparesPairs(c)) return {"compares all pairs of rows of " + c.spaceName(rows), Refused::Kind::AllPairs};
    return {"needs all rows of " + c.spaceName(rows) + " at once", Refused::Kind::AllRows};
}

// linalg.solve takes B for one vector for each matrix where its dimensions are those of A but the last.
bool isVectors(RuleContext& c, ValueId b)
{
    const ValueId a = c.tensor("A");
    if (c.rank(b) + 1 != c.rank(a)) return c.rank(b) == 1;
    const auto begins = [](const auto& whole, const auto& part) {
        return std::equal(part.begin(), part.end(), whole.begin());
    };
    return c.rank(b) == 1 || (begins(c.dims(a), c.dims(b)) && begins(c.shape(a), c.shape(b)));
}

int wholeDims(RuleContext& c, std::size_t argument, char digit)
{
    const std::string& named = c.op.argInfo[argument].name;
    const ValueId v = c.tensor(named);
    if (c.name == "linalg_solve" && named == "B" && isVectors(c, v)) return 1;
    if (c.name == "searchsorted" && named == "self" && c.rank(c.tensor("sorted_sequence")) == 1) return 0;
    if (named == "mask") {  // of places by places, of places, of places by places for each head
        constexpr int dims[] = {2, 1, 3};
        const std::int64_t type = c.integer("mask_type", 0);
        if (type >= 0 && type <= 2) return dims[type];
    }
    return digit - '0';
}

// Rows that are each compared with something that has no rows, such as the entries of a codebook: each by itself.
SpaceId comparedRows(const RuleContext& c, ValueId first)
{
    const bool each = c.name == "cdist" || c.name == "scaled_dot_product_attention";
    const SpaceId rows = each && c.rank(first) >= 2 ? c.dim(first, c.rank(first) - 2) : SpaceId{};
    if (!c.isRow(rows) || c.boolean("is_causal")) return {};
    const std::vector<ValueId> all = c.dependencies();
    const bool alone = std::ranges::none_of(all, [&](ValueId v) { return v != first && c.anyRow(c.dims(v)); });
    return alone && std::ranges::count(all, first) == 1 ? rows : SpaceId{};
}

// The dimensions of an operand before those that are needed as a whole, which have no rows.
Ruled<Shaped> batchOf(RuleContext& c, ValueId v, int whole, SpaceId compared)
{
    const int rank = c.rank(v), batch = std::max(rank - whole, 0);
    for (int d = batch; d < rank; ++d)
        if (c.isRow(c.dim(v, d)) && !(compared.valid() && d == rank - 2)) return Refusal(needsAll(c, c.dim(v, d)));
    return Shaped{{c.dims(v).begin(), c.dims(v).begin() + batch}, {c.shape(v).begin(), c.shape(v).begin() + batch}};
}

void passOnNumbers(RuleContext& c)
{
    for (std::size_t i = 0; i < c.op.argInfo.size(); ++i) {
        const ir::ArgType type = c.op.argInfo[i].type;
        if (type != ir::ArgType::Tensor && type != ir::ArgType::TensorList) c.passOn({c.op.argInfo[i].name.c_str()});
    }
}

}  // namespace

Ruled<Outcomes> batchedRule(RuleContext& c)
{
    const std::string_view whole = operators::of(c.op.name).traits.whole;
    std::vector<Shaped> batches;
    SpaceId pairs;
    for (std::size_t i = 0; i < std::min(whole.size(), c.op.argInfo.size()); ++i) {
        const ValueId v = c.tensor(c.op.argInfo[i].name);
        if (whole[i] == '.' || !v.valid()) continue;
        if (i == 0) pairs = comparedRows(c, v);
        const auto batch = batchOf(c, v, wholeDims(c, i, whole[i]), i == 0 ? pairs : SpaceId{});
        if (!batch) return Refusal(batch.error());
        batches.push_back(*batch);
    }
    const auto dims = c.broadcast(batches);
    if (!dims) return Refusal(dims.error());
    passOnNumbers(c);
    Outcomes result = c.all(*dims);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::vector<std::int64_t>& shape = c.outputs[i].shape;
        if (shape == std::vector<std::int64_t>{0}) result[i].dims.clear();  // a result that was not asked for
        result[i].dims.resize(shape.size());
    }
    if (pairs.valid()) result[0].dims[result[0].dims.size() - 2] = pairs;
    return result;
}

// diagonal: two dimensions become one, the last. diag_embed: the last becomes two.
Ruled<Outcomes> diagonalRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const bool takes = c.name == "diagonal";
    const int rank = c.rank(x) + (takes ? 0 : 1);
    const auto [first, second] =
        std::minmax({wrapDim(c.integer("dim1", 0), rank), wrapDim(c.integer("dim2", 1), rank)});
    c.passOn({"offset"});
    std::vector<SpaceId> dims = c.dims(x);
    for (const int d : takes ? std::vector{first, second} : std::vector{rank - 2})
        if (c.isRow(c.dim(x, d))) return Refusal(needsAll(c, c.dim(x, d)));
    if (takes) {
        dims.erase(dims.begin() + second);
        dims.erase(dims.begin() + first);
        dims.emplace_back();
        return c.one(dims);
    }
    dims.pop_back();
    dims.insert(dims.begin() + first, SpaceId{});
    dims.insert(dims.begin() + second, SpaceId{});
    return c.one(dims);
}

// Windows along a dimension, each a place of a new last one.
Ruled<Outcomes> unfoldRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    c.passOn({"size", "step"});
    const SpaceId along = c.dim(x, wrapDim(c.integer("dimension", 0), c.rank(x)));
    if (c.isRow(along))
        return Refusal(Refused("takes windows of the rows of " + c.spaceName(along), Refused::Kind::Position));
    std::vector<SpaceId> dims = c.dims(x);
    dims.resize(c.outputs[0].shape.size());
    return c.one(dims);
}

Ruled<Outcomes> tensordotRule(RuleContext& c)
{
    std::vector<SpaceId> dims;
    for (const auto& [operand, named] : {std::pair{"self", "dims_self"}, std::pair{"other", "dims_other"}}) {
        const ValueId x = c.tensor(operand);
        std::vector<int> summed;
        for (const std::int64_t d : c.integers(named)) summed.push_back(wrapDim(d, c.rank(x)));
        for (int d = 0; d < c.rank(x); ++d) {
            const bool gone = std::ranges::find(summed, d) != summed.end();
            if (gone && c.isRow(c.dim(x, d)))
                return Refusal(Refused("sums over the rows of " + c.spaceName(c.dim(x, d)), Refused::Kind::Statistics));
            if (!gone) dims.push_back(c.dim(x, d));
        }
    }
    return c.one(dims);
}

}  // namespace hopscope::analysis
