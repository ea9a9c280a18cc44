#include "engine_main.h"

#include <exception>
#include <new>
#include <optional>

#include "base/proc.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "graph/file.h"

namespace hopscope::engine {

namespace {

constexpr std::int64_t shareForScratch = 4;  // the fourth part of what is free may hold structure and the prologue

base::Result<int> runCommand(const Command& command, Session& session)
{
    return std::visit([&](const auto& chosen) { return execute(chosen, session); }, command);
}

// The last resort: an exception that passes its boundary still ends in one line and the right exit code.
base::Result<int> guarded(const Command& command, Session& session)
{
    try {
        return runCommand(command, session);
    } catch (const std::bad_alloc&) {
        return base::fail(base::ErrorCode::Resources, "out of memory", "a smaller --memory or --batch may help");
    } catch (const std::exception& error) {
        return base::fail(base::ErrorCode::Internal, std::string("unexpected error: ") + error.what(),
                          "please report this");
    }
}

}  // namespace

int engineMain(int count, char** arguments)
{
    const base::Result<Invocation> invocation = parseArguments(count, arguments);
    Console console(invocation ? invocation->json : wantsJson(count, arguments), invocation && invocation->quiet);
    if (!invocation) {
        console.error(invocation.error());
        return static_cast<int>(invocation.error().code);
    }
    // The child of a verification is stopped by its parent, not by signals of its own.
    std::optional<Interrupt> interrupt;
    if (!std::holds_alternative<OracleCommand>(invocation->command)) interrupt.emplace();
    graph::allowAnonymousScratch(base::availableMemory() / shareForScratch);
    Session session{console, interrupt ? interrupt->token() : std::stop_token()};
    const base::Result<int> code = guarded(invocation->command, session);
    if (code) return *code;
    console.error(code.error());
    return static_cast<int>(code.error().code);
}

}  // namespace hopscope::engine
