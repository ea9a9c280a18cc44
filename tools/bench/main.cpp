#include "bench/bench.h"

int main(int count, char** arguments) { return hopscope::bench::benchMain(count, arguments); }
