// Prints the full name of every operator of the table, one a line; with the argument `jumps`, of those with that trait.

#include <cstdio>
#include <cstring>

#include "operators/operators.h"

int main(int argc, char** argv)
{
    const bool jumps = argc > 1 && std::strcmp(argv[1], "jumps") == 0;
    for (const hopscope::operators::Operator& op : hopscope::operators::table())
        if (!jumps || op.traits.jumps) std::printf("%s\n", hopscope::operators::fullName(op).c_str());
}
