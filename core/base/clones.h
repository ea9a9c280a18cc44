#pragma once

// HOPSCOPE_CLONES("avx2"): compiles a function for these instruction sets, too; the best one that the processor has is taken
// when the program starts. For loops over integers: floating-point numbers could be contracted to other bits. Sanitizers do
// not work in what chooses, and then there is the plain function only.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HOPSCOPE_CLONES(...) __attribute__((target_clones(__VA_ARGS__, "default")))
#else
#define HOPSCOPE_CLONES(...)
#endif
