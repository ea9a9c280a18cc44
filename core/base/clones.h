#pragma once

// HOPSCOPE_CLONES("avx2") also compiles a function for the instruction sets that it names; at startup, the program
// chooses the best version that the processor supports. Use it for loops over integers only: contracted floating-point
// operations could give different bits. With AddressSanitizer and ThreadSanitizer, which do not work in the code that
// chooses, and on processors other than x86-64, only the plain version is compiled.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HOPSCOPE_CLONES(...) __attribute__((target_clones(__VA_ARGS__, "default")))
#else
#define HOPSCOPE_CLONES(...)
#endif
