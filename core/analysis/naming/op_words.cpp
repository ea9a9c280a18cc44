#include "analysis/naming/op_words.h"

#include <algorithm>
#include <array>

namespace hopscope::analysis {

namespace {

struct Word {
    std::string_view name, word;
};

constexpr std::array aggregates{
    Word{"index_add", "sum aggregation"},
    Word{"scatter_add", "sum aggregation"},
    Word{"bincount", "degree count"},
    Word{"scatter_reduce", "aggregation"},
    Word{"index_reduce", "aggregation"},
    Word{"mm", "sparse product"},
    Word{"matmul", "sparse product"},
    Word{"_sparse_mm", "sparse product"},
    Word{"scatter", "scatter"},
    Word{"index_put", "index put"},
    Word{"select_rank", "quantile aggregation"},
    Word{"pad_groups", "messages as a matrix"},
};

constexpr std::array reductions{
    Word{"sum", "sum over all rows"},      Word{"mean", "mean over all rows"},
    Word{"amax", "maximum over all rows"}, Word{"max", "maximum over all rows"},
    Word{"amin", "minimum over all rows"}, Word{"min", "minimum over all rows"},
    Word{"var", "variance over all rows"}, Word{"std", "standard deviation over all rows"},
    Word{"index_add", "sum pooling"},      Word{"scatter_add", "sum pooling"},
    Word{"scatter_reduce", "pooling"},
};

constexpr std::array words{
    Word{"add", "add"},
    Word{"sub", "subtract"},
    Word{"rsub", "subtract"},
    Word{"mul", "multiply"},
    Word{"div", "divide"},
    Word{"neg", "negate"},
    Word{"pow", "power"},
    Word{"sqrt", "square root"},
    Word{"rsqrt", "inverse square root"},
    Word{"reciprocal", "reciprocal"},
    Word{"matmul", "matrix product"},
    Word{"mm", "matrix product"},
    Word{"bmm", "batched matrix product"},
    Word{"addmm", "linear"},
    Word{"cat", "concat"},
    Word{"concat", "concat"},
    Word{"stack", "stack"},
    Word{"index_select", "select rows"},
    Word{"index", "select rows"},
    Word{"gather", "gather entries"},
    Word{"embedding", "embedding"},
    Word{"index_add", "sum aggregation"},
    Word{"scatter_add", "sum aggregation"},
    Word{"bincount", "degree count"},
    Word{"new_zeros", "zeros"},
    Word{"zeros_like", "zeros"},
    Word{"new_ones", "ones"},
    Word{"ones_like", "ones"},
    Word{"new_full", "fill"},
    Word{"full_like", "fill"},
    Word{"full", "fill"},
    Word{"arange", "arange"},
    Word{"masked_fill", "masked fill"},
    Word{"where", "where"},
    Word{"eq", "equal"},
    Word{"ne", "not equal"},
    Word{"gt", "greater"},
    Word{"lt", "less"},
    Word{"view", "reshape"},
    Word{"reshape", "reshape"},
    Word{"expand_as", "expand"},
    Word{"unsqueeze", "add a dimension"},
    Word{"squeeze", "drop a dimension"},
    Word{"t", "transpose"},
    Word{"to", "cast"},
    Word{"type_as", "cast"},
    Word{"amax", "maximum"},
    Word{"amin", "minimum"},
    Word{"_softmax", "softmax"},
    Word{"_log_softmax", "log softmax"},
};

template <std::size_t N>
std::string_view find(const std::array<Word, N>& vocabulary, std::string_view name)
{
    const auto* const it = std::ranges::find(vocabulary, name, &Word::name);
    return it == vocabulary.end() ? std::string_view() : it->word;
}

// "_weight_norm" -> "weight norm".
std::string spelled(std::string_view name)
{
    std::string plain(name);
    std::ranges::replace(plain, '_', ' ');
    const std::size_t first = plain.find_first_not_of(' ');
    return first == std::string::npos ? std::string() : plain.substr(first, plain.find_last_not_of(' ') + 1 - first);
}

}  // namespace

std::string_view plainName(std::string_view name)
{
    if (const auto colon = name.rfind("::"); colon != std::string_view::npos) name.remove_prefix(colon + 2);
    if (const auto dot = name.find('.'); dot != std::string_view::npos) name = name.substr(0, dot);
    if (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
    return name;
}

std::string opWord(NodeKind kind, std::string_view name)
{
    if (kind == NodeKind::Gather) return "gather source";
    const std::string_view base = plainName(name);
    std::string_view word;
    if (kind == NodeKind::Aggregate) word = find(aggregates, base);
    if (kind == NodeKind::Reduce) word = find(reductions, base);
    if (word.empty()) word = find(words, base);
    return word.empty() ? spelled(base) : std::string(word);
}

}  // namespace hopscope::analysis
