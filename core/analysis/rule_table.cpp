// The one table from operators to rules. Adding an operator: one entry here, one row in tests/analysis.

#include <set>
#include <sstream>
#include <unordered_map>

#include "analysis/rules.h"

namespace hopscope::analysis {

namespace {

struct Family {
    Rule rule;
    const char* names;
};

const Family families[] = {
    {pointwiseRule,
     "add sub mul div rsub pow neg exp exp2 expm1 log log1p log2 log10 sqrt rsqrt sigmoid tanh relu relu6 leaky_relu "
     "elu selu "
     "gelu softplus silu mish abs clamp clamp_min clamp_max clip sin cos tan asin acos atan sinh cosh asinh acosh "
     "atanh where "
     "eq ne lt gt le ge logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor "
     "__and__ "
     "__or__ __xor__ masked_fill isnan isinf isfinite nan_to_num floor ceil round trunc frac reciprocal sign sgn "
     "maximum minimum "
     "fmod remainder floor_divide true_divide atan2 erf erfc erfinv hardtanh celu prelu rrelu square addcmul addcdiv "
     "lerp "
     "hardsigmoid hardswish log_sigmoid hardshrink softshrink tanhshrink threshold heaviside lgamma digamma xlogy "
     "logaddexp hypot copysign deg2rad rad2deg special_expit bitwise_left_shift bitwise_right_shift isclose multiply "
     "divide "
     "subtract negative absolute not_equal greater less greater_equal less_equal"},
    {copyRule, "to _to_copy clone contiguous detach alias type_as float double half int long bool"},
    {fillRule, "zeros ones full empty new_zeros new_ones new_full new_empty zeros_like ones_like full_like empty_like"},
    {arangeRule, "arange"},
    {dimwiseRule, "softmax log_softmax cumsum cumprod cummax cummin sort topk argsort logcumsumexp glu"},
    {reduceRule, "sum mean amax amin max min prod var std any all argmax argmin norm linalg_vector_norm linalg_norm "
                 "logsumexp median "
                 "nansum count_nonzero kthvalue mode"},
    {layerNormRule, "layer_norm native_layer_norm rms_norm"},
    {normRule, "batch_norm group_norm instance_norm"},
    {cellRule, "gru_cell lstm_cell rnn_tanh_cell rnn_relu_cell"},
    {recurrentRule, "lstm gru rnn_tanh rnn_relu"},
    {oneHotRule, "one_hot"},
    {nonzeroRule, "nonzero nonzero_numpy"},
    {convolutionRule, "conv1d conv2d _convolution max_pool2d max_pool1d avg_pool2d adaptive_avg_pool2d avg_pool1d"},
    {crossRule, "cross linalg_cross cosine_similarity"},
    {reshapeRule, "view reshape _unsafe_view view_as reshape_as flatten unflatten squeeze ravel"},
    {unsqueezeRule, "unsqueeze"},
    {expandRule, "expand expand_as broadcast_to"},
    {repeatRule, "repeat tile"},
    {repeatInterleaveRule, "repeat_interleave"},
    {permuteRule, "permute transpose t movedim numpy_T swapaxes"},
    {selectRule, "select"},
    {sliceRule, "slice narrow"},
    {splitRule, "unbind split chunk split_with_sizes unsafe_chunk unsafe_split tensor_split"},
    {flipRule, "flip roll"},
    {padRule, "pad constant_pad_nd"},
    {putBackRule, "select_scatter slice_scatter"},
    {stackRule, "stack"},
    {catRule, "cat concat concatenate"},
    {linearRule, "linear"},
    {einsumRule, "einsum"},
    {matmulRule, "matmul mm bmm addmm mv dot baddbmm _sparse_mm sparse_mm addmv outer ger inner"},
    {sparseRule, "sparse_coo_tensor _sparse_coo_tensor_unsafe"},
    {coalesceRule, "coalesce _coalesce _coalesced_"},
    {indexSelectRule, "index_select"},
    {embeddingRule, "embedding"},
    {gatherRule, "gather take_along_dim"},
    {indexRule, "index"},
    {scatterRule, "scatter_add scatter_reduce scatter index_add index_reduce index_copy"},
    {indexPutRule, "index_put _index_put_impl"},
    {bincountRule, "bincount"},
};

const std::unordered_map<std::string, Rule>& table()
{
    static const auto built = [] {
        std::unordered_map<std::string, Rule> rules{{"scalar::tensor", numberTensorRule}};
        for (const Family& family : families) {
            std::istringstream names(family.names);
            for (std::string name; names >> name;) rules.emplace("aten::" + name, family.rule);
        }
        return rules;
    }();
    return built;
}

std::set<std::string> words(const char* text)
{
    std::istringstream in(text);
    std::set<std::string> found;
    for (std::string w; in >> w;) found.insert("aten::" + w);
    return found;
}

}  // namespace

Rule ruleFor(const std::string& name)
{
    const auto it = table().find(name);
    return it == table().end() ? nullptr : it->second;
}

bool isView(const std::string& name)
{
    static const auto views = words("view reshape view_as reshape_as select slice unsqueeze squeeze transpose t "
                                    "permute expand expand_as unbind split chunk "
                                    "detach alias flatten unflatten narrow movedim split_with_sizes numpy_T swapaxes "
                                    "unsafe_chunk unsafe_split tensor_split "
                                    "broadcast_to ravel");
    return views.contains(name);
}

bool isFill(const std::string& name)
{
    static const auto fills =
        words("zeros ones full empty new_zeros new_ones new_full new_empty zeros_like ones_like full_like empty_like");
    return fills.contains(name);
}

bool isShapeOnly(const std::string& op, const std::string& argument)
{
    static const auto lendOther = words("expand_as view_as reshape_as type_as to");
    if (argument == "other") return lendOther.contains(op);
    return argument == "self" && isFill(op);
}

bool isAggregation(const std::string& name)
{
    static const auto names =
        words("scatter_add scatter_reduce scatter index_add index_reduce bincount _sparse_mm sparse_mm segment_reduce");
    return names.contains(name);
}

}  // namespace hopscope::analysis
