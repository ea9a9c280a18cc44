#pragma once

namespace hopscope::loader {

// Calls every function of MKL's vector math library that LibTorch uses once, on one thread. Only the first call in a
// process does anything. MKL up to 2024.2 selects the code of a function at its first call; if several threads make
// this call at once, one of them may compute its share with only four correct digits (PyTorch's issue 188792). Call
// this before a model is run.
void resolveVectorMath();

}  // namespace hopscope::loader
