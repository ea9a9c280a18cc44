#include "engine_main.h"

int main(int count, char** arguments) { return hopscope::engine::engineMain(count, arguments); }
