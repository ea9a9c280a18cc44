// Prints the full name of every operator of the table, one a line.

#include <cstdio>

#include "operators/operators.h"

int main()
{
    for (const hopscope::operators::Operator& op : hopscope::operators::table())
        std::printf("%s\n", hopscope::operators::fullName(op).c_str());
}
