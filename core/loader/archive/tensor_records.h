#pragma once

// Compares the tensors that a TorchScript file declares in its pickles with the bytes that it holds for them. LibTorch
// does not: it reads beyond the end of records that are too short, and beyond storages that are too small for the sizes
// and strides of their tensors.

#include "loader/archive/archive.h"

namespace hopscope::loader {

// Fails with Input if a storage has fewer bytes than it declares, a tensor does not fit into its storage, or a pickle
// contains something that LibTorch's own writer does not write. Linear in the size of the pickles, which contain no
// weights.
base::Status checkTensorRecords(std::span<const std::byte> file, const Archive& archive, const std::string& name);

}  // namespace hopscope::loader
