#pragma once

namespace hopscope::loader {

// Performs the work that LibTorch postpones until it loads and runs its first model: it registers what TorchScript adds
// to the operators, and compiles its own functions, those for older files and those for gradients, which takes a fifth
// of a start. Processes that are forked afterwards need not do it. Starts no thread and opens no file.
void prepareLibTorch();

}  // namespace hopscope::loader
