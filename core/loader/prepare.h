#pragma once

namespace hopscope::loader {

// Performs the work that LibTorch postpones until it loads and runs its first model, so that processes forked
// afterwards need not do it. LibTorch then registers TorchScript's own operators, and compiles built-in
// functions and those for older files and for gradients. Starts no thread and opens no file.
void prepareLibTorch();

}  // namespace hopscope::loader
