#pragma once

// Selects the instruction sets for which Highway's foreach_target.h compiles a kernel. Include this header before it.
// Processors from before 2013, which have SSSE3 or SSE4 but not AVX2, are not worth another copy: they run the code for
// SSE2. Sanitizers would take minutes for all copies, and find the same faults in a single one.

#if defined(__SANITIZE_THREAD__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3)
#elif defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#endif
