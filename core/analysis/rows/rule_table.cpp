// Maps the families of the operator table to their rules.

#include "analysis/rows/rules.h"
#include "operators/operators.h"

namespace hopscope::analysis {

using Family = operators::Rule;

RowRule ruleFor(const std::string& name)
{
    switch (operators::of(name).rule) {
    case Family::None: return nullptr;
    case Family::Arange: return arangeRule;
    case Family::Batched: return batchedRule;
    case Family::Bincount: return bincountRule;
    case Family::Cat: return catRule;
    case Family::Cell: return cellRule;
    case Family::Coalesce: return coalesceRule;
    case Family::Compress: return compressRule;
    case Family::Convolution: return convolutionRule;
    case Family::Copy: return copyRule;
    case Family::Cross: return crossRule;
    case Family::Diagonal: return diagonalRule;
    case Family::Difference: return differenceRule;
    case Family::Dimwise: return dimwiseRule;
    case Family::Einsum: return einsumRule;
    case Family::Embedding: return embeddingRule;
    case Family::Expand: return expandRule;
    case Family::Fill: return fillRule;
    case Family::Flip: return flipRule;
    case Family::Gather: return gatherRule;
    case Family::Groups: return groupsRule;
    case Family::Index: return indexRule;
    case Family::IndexPut: return indexPutRule;
    case Family::IndexSelect: return indexSelectRule;
    case Family::LayerNorm: return layerNormRule;
    case Family::Linear: return linearRule;
    case Family::Matmul: return matmulRule;
    case Family::Nonzero: return nonzeroRule;
    case Family::Norm: return normRule;
    case Family::NumberTensor: return numberTensorRule;
    case Family::OneHot: return oneHotRule;
    case Family::Pad: return padRule;
    case Family::Permute: return permuteRule;
    case Family::Pointwise: return pointwiseRule;
    case Family::PutBack: return putBackRule;
    case Family::Recurrent: return recurrentRule;
    case Family::Reduce: return reduceRule;
    case Family::Repeat: return repeatRule;
    case Family::RepeatInterleave: return repeatInterleaveRule;
    case Family::Reshape: return reshapeRule;
    case Family::Scatter: return scatterRule;
    case Family::Segments: return segmentsRule;
    case Family::Select: return selectRule;
    case Family::Slice: return sliceRule;
    case Family::Sparse: return sparseRule;
    case Family::Split: return splitRule;
    case Family::Stack: return stackRule;
    case Family::Tensordot: return tensordotRule;
    case Family::Uncompress: return uncompressRule;
    case Family::Unfold: return unfoldRule;
    case Family::Unsqueeze: return unsqueezeRule;
    }
    return nullptr;
}

}  // namespace hopscope::analysis
