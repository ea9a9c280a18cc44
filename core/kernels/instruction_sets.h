#pragma once

// The instruction sets for which foreach_target.h of Highway compiles a kernel: include this before it.
// Processors from before 2013, which have SSSE3 or SSE4 but not AVX2, are not worth another copy: they run the code for
// SSE2. Sanitizers take minutes for all copies, and find the same faults in a single one.

#if defined(__SANITIZE_THREAD__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3)
#elif defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#endif
