// Rules of matrix products, dense and sparse.

#include <algorithm>
#include <cctype>

#include "analysis/rows/linear.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

namespace {

void reduceBySum(RuleContext& c, const std::vector<Slot>& slots)
{
    c.info.kind = OpKind::Reduce;
    c.info.reduction = Reduction::FunctionSum;
    for (Slot s : slots) c.use(s, Use::Reduced);
}

}  // namespace

Ruled<Outcomes> linearRule(RuleContext& c)
{
    const ValueId x = c.tensor("input"), w = c.tensor("weight");
    if (c.rank(x) == 0 || c.isRow(c.dims(x).back()))
        return Refusal(
            Refused("contracts the rows of " + c.spaceName(c.builder.analysis.rowSpace(x)), Refused::Kind::Columns));
    if (c.anyRow(c.dims(w)))
        return Refusal(Refused("multiplies by a matrix that has rows of " + c.spaceName(c.builder.analysis.rowSpace(w)),
                               Refused::Kind::Factors));
    std::vector<SpaceId> dims = c.dims(x);
    if (c.rank(w) == 1) dims.pop_back();
    else dims.back() = SpaceId{};
    return c.one(dims);
}

namespace {

struct Letters {
    std::vector<std::string> operands;
    std::string result;
};

// A letter for each dimension that "..." stands for, the last ones of all operands in common.
bool spellOut(std::string& term, std::size_t rank)
{
    static const std::string spare = "!#$%&()*+/0123456789;<=>?@[]^_{|}~";
    const std::size_t dots = term.find("...");
    if (dots == std::string::npos) return term.size() == rank;
    if (term.size() > rank + 3 || rank + 3 - term.size() > spare.size()) return false;
    const std::size_t hidden = rank + 3 - term.size();
    term.replace(dots, 3, spare.substr(spare.size() - hidden));
    return true;
}

// The letters that are there once, in their order, behind those of "...".
std::string impliedResult(const std::string& terms, std::size_t hidden)
{
    std::string once;
    for (const char letter : terms)
        if (std::isalpha(static_cast<unsigned char>(letter)) && std::ranges::count(terms, letter) == 1) once += letter;
    std::ranges::sort(once);
    return (hidden ? "..." : "") + once;
}

std::optional<Letters> parseEquation(const RuleContext& c)
{
    std::string equation = c.text("equation");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    const std::string left = equation.substr(0, arrow) + ",";
    Letters l;
    std::size_t hidden = 0;
    bool fits = true;
    std::size_t at = 0;
    ir::forEachOperand(c.op, [&](Slot, ValueId v) {
        const std::size_t comma = left.find(',', at);
        fits = fits && comma != std::string::npos;
        if (!fits) return;
        std::string term = left.substr(at, comma - at);
        if (term.find("...") != std::string::npos)
            hidden = std::max(hidden, static_cast<std::size_t>(c.rank(v)) + 3 - term.size());
        fits = spellOut(term, static_cast<std::size_t>(c.rank(v)));
        l.operands.push_back(term);
        at = comma + 1;
    });
    l.result = arrow == std::string::npos ? impliedResult(left, hidden) : equation.substr(arrow + 2);
    const std::size_t rank = l.result.find("...") == std::string::npos ? l.result.size() : l.result.size() - 3 + hidden;
    if (!fits || at != left.size() || !spellOut(l.result, rank)) return std::nullopt;
    return l;
}

}  // namespace

Ruled<Outcomes> einsumRule(RuleContext& c)
{
    c.passOn({"tensors", "path"});
    const auto letters = parseEquation(c);
    if (!letters) return Refusal("an equation of einsum that does not fit its operands");
    std::map<char, SpaceId> space;
    std::vector<Slot> slots;
    std::size_t operand = 0;
    std::optional<Refused> clash;
    ir::forEachOperand(c.op, [&](Slot s, ValueId v) {
        const std::string& names = letters->operands[operand++];
        for (std::size_t i = 0; i < names.size(); ++i) {
            SpaceId& known = space[names[i]];
            const SpaceId own = c.dim(v, static_cast<int>(i));
            if (known.valid() && own.valid() && known != own) clash = c.differ(known, own);
            if (own.valid()) known = own;
        }
        if (c.anyRow(c.dims(v))) slots.push_back(s);
    });
    if (clash) return Refusal(*clash);
    operand = 0;
    ir::forEachOperand(c.op, [&](Slot, ValueId v) {  // a letter of rows has rows wherever it stands
        const std::string& names = letters->operands[operand++];
        for (std::size_t i = 0; i < names.size() && !clash; ++i)
            if (c.isRow(space[names[i]]) && !c.isRow(c.dim(v, static_cast<int>(i))))
                clash = Refused("multiplies the rows of " + c.spaceName(space[names[i]]) +
                                    " by a dimension that has no rows",
                                Refused::Kind::Columns);
    });
    if (clash) return Refusal(*clash);
    bool contracted = false;
    for (const auto& [letter, s] : space)
        contracted = contracted || (c.isRow(s) && letters->result.find(letter) == std::string::npos);
    Outcome o;
    for (char letter : letters->result) o.dims.push_back(space[letter]);
    if (contracted && c.anyRow(o.dims))
        return Refusal(Refused("contracts some rows and keeps others", Refused::Kind::Adjacency));
    if (contracted) reduceBySum(c, slots);
    return Outcomes{o};
}

namespace {

struct Factors {
    Slot firstSlot, secondSlot;
    ValueId first, second;
    std::optional<Slot> addendSlot;
};

Factors factorsOf(RuleContext& c)
{
    static const std::vector<std::pair<std::string, std::string>> names{
        {"mat1", "mat2"},  {"batch1", "batch2"}, {"mat", "vec"},     {"sparse", "dense"}, {"self", "mat2"},
        {"self", "other"}, {"self", "vec2"},     {"self", "tensor"}, {"self", "vec"},     {"vec1", "vec2"}};
    Factors f;
    for (const auto& [a, b] : names) {
        if (!c.tensor(a).valid() || !c.tensor(b).valid()) continue;
        f = {.firstSlot = c.slot(a),
             .secondSlot = c.slot(b),
             .first = c.tensor(a),
             .second = c.tensor(b),
             .addendSlot = std::nullopt};
        if (a != "self" && c.tensor("self").valid()) f.addendSlot = c.slot("self");
        break;
    }
    return f;
}

Ruled<Outcomes> sparseProduct(RuleContext& c, const Factors& f)
{
    const ValueInfo& matrix = c.of(f.first);
    const Role row = matrix.sparseRow, column = matrix.sparseColumn;
    if (f.addendSlot) return Refusal(Refused("fuses an addition with a sparse product", Refused::Kind::Fused));
    if (const std::string way = c.text("reduce"); !way.empty() && way != "sum")
        return Refusal(Refused("reduces the products of a row by '" + way + "', not by their sum",
                               Refused::Kind::SparseReduction));
    if (c.rank(f.second) < 1 || c.dim(f.second, 0) != column.target)
        return Refusal(Refused("multiplies columns of " + c.spaceName(column.target) + " with rows of " +
                                   c.spaceName(c.rank(f.second) ? c.dim(f.second, 0) : SpaceId{}),
                               Refused::Kind::Roles));
    c.info.kind = OpKind::Aggregate;
    c.info.role = row;
    c.info.dim = 0;
    c.use(f.firstSlot, Use::SparseMatrix);
    c.use(f.secondSlot, Use::SparseSource);
    c.builder.useKey(row);
    c.builder.useKey(column);
    std::vector<SpaceId> dims = c.dims(f.second);
    dims[0] = row.target;
    return c.one(dims);
}

// An input with a number for each pair of rows of the table that it is multiplied with.
bool isDenseGraph(const RuleContext& c, const Factors& f, SpaceId multiplied)
{
    const std::vector<std::int64_t>& shape = c.shape(f.first);
    return c.value(f.first).origin == ir::Origin::Input && c.isRow(multiplied) && shape.size() == 2 && shape[0] > 1 &&
           shape[0] == shape[1];
}

// The result meets the addend as in a sum.
Ruled<Outcomes> withAddend(RuleContext& c, const std::vector<SpaceId>& dims)
{
    const auto sum = c.broadcast({{dims, c.outputs[0].shape}, c.shaped(c.tensor("self"))});
    return sum ? Ruled<Outcomes>(c.one(*sum)) : Ruled<Outcomes>(Refusal(sum.error()));
}

}  // namespace

Ruled<Outcomes> matmulRule(RuleContext& c)
{
    const Factors f = factorsOf(c);
    if (!f.first.valid()) return opaqueRule(c);
    if (c.of(f.first).sparse) return sparseProduct(c, f);
    c.passOn({"alpha", "beta", "out_dtype"});
    if (c.of(f.second).sparse)
        return Refusal(Refused("multiplies by a sparse matrix from the right", Refused::Kind::FromRight));
    std::vector<SpaceId> p = c.dims(f.first), q = c.dims(f.second);
    const bool outer = c.name == "outer" || c.name == "ger";
    if (outer)
        return c.isRow(p[0]) && c.isRow(q[0])
                   ? Ruled<Outcomes>(Refusal(Refused("a dense product of rows by rows", Refused::Kind::AllPairs)))
                   : Ruled<Outcomes>(c.one({p[0], q[0]}));
    const SpaceId contractedP = p.back(), contractedQ = q.size() > 1 ? q[q.size() - 2] : q.back();
    RuleContext::Shaped batchP, batchQ;
    for (std::size_t i = 0; i + 2 < p.size(); ++i)
        batchP.dims.push_back(p[i]), batchP.shape.push_back(c.shape(f.first)[i]);
    for (std::size_t i = 0; i + 2 < q.size(); ++i)
        batchQ.dims.push_back(q[i]), batchQ.shape.push_back(c.shape(f.second)[i]);
    auto dims = c.broadcast({batchP, batchQ});
    if (!dims) return Refusal(dims.error());
    if (p.size() > 1) dims->push_back(p[p.size() - 2]);
    if (q.size() > 1) dims->push_back(q.back());
    int rows = 0;
    for (SpaceId s : *dims) rows += c.isRow(s) ? 1 : 0;
    if (rows > 1)
        return Refusal(Refused("a dense product of rows by rows (all pairs of nodes)", Refused::Kind::AllPairs));
    if (!c.isRow(contractedP) && !c.isRow(contractedQ)) return f.addendSlot ? withAddend(c, *dims) : c.one(*dims);
    if (contractedP != contractedQ && isDenseGraph(c, f, contractedQ))
        return Refusal(Refused(c.value(f.first).name + " is a dense matrix with a number for each pair of rows of " +
                                   c.spaceName(contractedQ),
                               Refused::Kind::Dense));
    if (contractedP != contractedQ)
        return Refusal(Refused("contracts rows of " + c.spaceName(contractedP) + " with " + c.spaceName(contractedQ),
                               Refused::Kind::Roles));
    if (rows > 0)
        return Refusal(
            Refused("a dense product over the rows of " + c.spaceName(contractedP), Refused::Kind::Adjacency));
    if (f.addendSlot) return Refusal(Refused("fuses an addition with a product over rows", Refused::Kind::Fused));
    if (!c.structure(f.first) || !c.structure(f.second)) reduceBySum(c, {f.firstSlot, f.secondSlot});
    return c.one(*dims);
}

namespace {

// Whether a size of a matrix that is a constant of the file is that of the table, as it is on the sample: of columns, or
// products would be refused, and of rows where these are as many.
bool impliedSize(const RuleContext& c, const std::vector<ir::Arg>& size, std::size_t d, const std::vector<Role>& pair)
{
    const auto given = c.linear(size[d]);
    const auto known = c.builder.analysis.sampleSizes.find(pair[d].target);
    const bool fits = given && known != c.builder.analysis.sampleSizes.end() && *given == constant(known->second);
    return fits && (d == 1 || (pair[0].target == pair[1].target && size[0] == size[1]));
}

}  // namespace

// A matrix over (row table, column table) whose entries are the rows of an edge table.
Ruled<Outcomes> sparseRule(RuleContext& c)
{
    const ValueId indices = c.tensor("indices"), values = c.tensor("values");
    const std::vector<Role>& pair = indices.valid() ? c.of(indices).pairRoles : std::vector<Role>{};
    if (pair.size() != 2)
        return Refusal(Refused("a sparse matrix whose indices are not an edge index", Refused::Kind::Sparse));
    const std::vector<ir::Arg> size = c.items("size");
    if (size.size() < 2) return Refusal(Refused("a sparse matrix without a size", Refused::Kind::Sparse));
    for (std::size_t i = 0; i < 2; ++i) {
        const auto space = c.spaceOf(size[i]);
        if ((!space || *space != pair[i].target) && !impliedSize(c, size, i, pair))
            return Refusal(
                bakedSize("the size of the sparse matrix is not the number of rows of " + c.spaceName(pair[i].target)));
    }
    if (!values.valid() || c.rank(values) != 1 || c.dim(values, 0) != pair[0].space)
        return Refusal(Refused("the values of the sparse matrix are not one number per edge", Refused::Kind::Sparse));
    if (c.value(values).dtype == c.outputs[0].dtype)
        c.passOn({"dtype"});  // else products would be of the values as given
    c.passOn({"layout", "is_coalesced"});
    Outcome o;
    o.dims = {pair[0].target, pair[1].target};
    o.sparse = true;
    o.sparseRow = pair[0];
    o.sparseColumn = pair[1];
    return Outcomes{o};
}

Ruled<Outcomes> coalesceRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    if (!c.of(x).sparse) return opaqueRule(c);
    c.passOn({"coalesced"});
    c.same = x;  // products do not depend on whether entries are merged
    return c.one(c.dims(x));
}

}  // namespace hopscope::analysis
