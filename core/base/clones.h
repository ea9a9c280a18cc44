#pragma once

// HOPSCOPE_CLONES("avx2"): also compiles a function for these instruction sets; the program chooses the best one that
// the processor supports when it starts. For loops over integers: contracted floating-point operations could give
// different bits. Sanitizers do not work in the code that chooses, so that they get the plain function only.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HOPSCOPE_CLONES(...) __attribute__((target_clones(__VA_ARGS__, "default")))
#else
#define HOPSCOPE_CLONES(...)
#endif
