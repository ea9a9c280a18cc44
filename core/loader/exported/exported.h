#pragma once

// Converts an archive of torch.export.save (.pt2) to a TorchScript module in memory, which all later steps read. The
// file's JSON and the bytes of its tensors are read here; LibTorch's readers are not used, pickles are not read, and
// nothing in the file is executed. For the LibTorch modules only.

#include <torch/csrc/jit/api/module.h>

#include <span>
#include <string>

#include "base/result.h"
#include "loader/archive/archive.h"
#include "loader/loader.h"

namespace hopscope::loader {

struct ExportedModule {
    torch::jit::Module module;  // one function, forward, whose nodes have scopes (scopes.h)
    ModelLimits limits;
};

// Reads an archive of the kind Exported. Fails with Input (damaged) or Unsupported, naming the member, node or
// operator. LibTorch's exceptions pass through.
base::Result<ExportedModule> readExported(std::span<const std::byte> file, const Archive& archive,
                                          const std::string& path);

}  // namespace hopscope::loader
