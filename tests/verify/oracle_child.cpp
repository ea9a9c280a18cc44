// The oracle's child process as a program of its own: REQUEST.json is its only argument.

#include "verify/verify.h"

int main(int count, char** arguments) { return count == 2 ? hopscope::verify::oracleMain(arguments[1]) : 2; }
