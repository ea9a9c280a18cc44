#include "support/qt_suites.h"

#include <QApplication>
#include <cstdio>
#include <map>
#include <string>

namespace hopscope::suites {

namespace {

std::map<std::string, Run>& all()
{
    static std::map<std::string, Run> runs;
    return runs;
}

int list()
{
    std::puts("test_window NAME ARGUMENTS... runs one of these, most of which take the arguments of Qt Test:");
    for (const auto& [name, run] : all()) std::printf("  %s\n", name.c_str());
    return 0;
}

}  // namespace

bool add(const char* name, Run run) { return all().emplace(name, run).second; }

// What runs goes by its own name, not by that of the program, and so do its settings.
int main(int count, char** arguments)
{
    if (count < 2) return list();
    const auto found = all().find(arguments[1]);
    if (found == all().end()) {
        std::fprintf(stderr, "test_window has nothing that is called %s; without arguments it lists what it has\n",
                     arguments[1]);
        return 2;
    }
    int rest = count - 1;
    const QApplication application(rest, arguments + 1);
    return found->second(QApplication::arguments());
}

}  // namespace hopscope::suites

int main(int count, char** arguments) { return hopscope::suites::main(count, arguments); }
