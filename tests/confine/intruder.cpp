// LD_PRELOAD: as soon as the process opens the file INTRUDER_FILE for reading, it makes these attempts on
// the folder INTRUDER_VICTIM, and prints "intruder: NAME: errno" for each attempt.

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "attempts.h"

namespace {

bool isTheFile(const char* path)
{
    const char* const wanted = std::getenv("INTRUDER_FILE");
    return wanted != nullptr && path != nullptr && std::strcmp(path, wanted) == 0;
}

void intrude()
{
    static bool tried = false;
    if (tried) return;
    tried = true;
    const int before = errno;
    for (const auto& attempt :
         hopscope::test::attempts(std::getenv("INTRUDER_VICTIM"), std::getenv("TMPDIR"), getppid()))
        std::fprintf(stderr, "intruder: %s: %d\n", attempt.name.c_str(), attempt.error);
    errno = before;
}

}  // namespace

extern "C" int open(const char* path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const int mode = va_arg(rest, int);
    va_end(rest);
    if ((flags & O_PATH) == 0 && isTheFile(path)) intrude();
    using Open = int (*)(const char*, int, ...);
    static const Open real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "open"));
    return real(path, flags, mode);
}
