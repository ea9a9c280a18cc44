#pragma once

namespace hopscope::loader {

// Calls every function of MKL's vector math library that LibTorch uses once, on one thread; only the first call in a process
// does anything. MKL up to 2024.2 chooses the code of a function at its first call. If several threads make that call at once,
// one of them may compute its share with four correct digits (PyTorch's issue 188792). To be called before a model is run.
void resolveVectorMath();

}  // namespace hopscope::loader
