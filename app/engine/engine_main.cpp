#include "engine_main.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include "cli/access.h"
#include "cli/asking.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/last_resort.h"
#include "graph/given_files.h"
#include "server/confined.h"
#include "server/model_process_main.h"

namespace hopscope::engine {

namespace {

bool verifies(const Command& command)
{
    if (const auto* run = std::get_if<RunCommand>(&command)) return run->settings.verify != verify::Mode::None;
    return std::holds_alternative<VerifyCommand>(command) || std::holds_alternative<ExportCommand>(command);
}

base::Result<int> runCommand(const Command& command, Session& session)
{
    return std::visit([&](const auto& chosen) { return execute(chosen, session); }, command);
}

// The last resort: an exception that reaches this boundary still ends in one line and the right exit code.
base::Result<int> guarded(const Command& command, Session& session)
{
    try {
        return runCommand(command, session);
    } catch (const std::bad_alloc&) {
        return base::fail(base::ErrorCode::Resources, "out of memory",
                          "a smaller --memory or --batch may help, if the command has them");
    } catch (const std::exception& error) {
        return base::fail(base::ErrorCode::Internal, std::string("unexpected error: ") + error.what(),
                          "please report this");
    }
}

// A command fails if its output could not be written.
int exitCode(int code, const Console& console)
{
    if (console.lost() == 0) return code;
    std::fprintf(stderr, "error: standard output cannot be written: %s\n", std::strerror(console.lost()));
    return code == 0 ? static_cast<int>(base::ErrorCode::Resources) : code;
}

// The outputs of a command, opened under an Interrupt of their own; after it, signals are held.
base::Result<Outputs> opened(const Command& command, std::optional<SignalsHeld>& held)
{
    std::optional<Interrupt> early;
    early.emplace();
    const std::stop_token stop = early->token();
    base::Result<Outputs> outputs = openOutputs(command, stop);
    held.emplace();
    early.reset();
    if (outputs && stop.stop_requested()) return base::fail(base::ErrorCode::Cancelled, "cancelled");
    return outputs;
}

// Must be called while the process has a single thread.
base::Result<Outputs> confined(const Command& command, bool sandbox, std::optional<SignalsHeld>& held)
{
    if (std::holds_alternative<ServeCommand>(command) || std::holds_alternative<WorkerCommand>(command))
        beginModelProcesses();
    if (!readsFiles(command)) return Outputs();
    askToTrust(command);
    base::Result<Outputs> outputs = opened(command, held);
    if (!outputs) return outputs;
    beginConfined(sandbox ? std::optional(accessOf(command, *outputs)) : std::nullopt, verifies(command));
    return outputs;
}

// Closes the outputs and removes scratch files at its end, while signals do not yet end the process at once.
base::Result<int> carriedOut(const Invocation& invocation, Outputs outputs, Console& console, std::stop_token stop)
{
    Session session{console, std::move(stop), outputs, invocation.sandbox};
    return guarded(invocation.command, session);
}

// A program that names itself in HOPSCOPE_PARENT ends this process when it ends in any way.
void endWithParent()
{
    const char* const parent = std::getenv("HOPSCOPE_PARENT");
    if (parent == nullptr || std::atol(parent) != ::getppid()) return;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (std::atol(parent) != ::getppid()) ::raise(SIGTERM);
}

// Adds the option of a command; the window and Python, which get the same error, have other ways.
base::Error forTerminal(base::Error error, const Console& console)
{
    if (error.code == base::ErrorCode::Untrusted && !console.json())
        error.hint += "; or agree for this command only with --trust";
    return error;
}

}  // namespace

int engineMain(int count, char** arguments)
{
    const base::Result<Invocation> invocation = parseArguments(count, arguments);
    Console console(invocation ? invocation->json : wantsJson(count, arguments), invocation && invocation->quiet,
                    invocation && invocation->verbose);
    const auto fails = [&](const base::Error& error) {
        console.error(error);
        return exitCode(static_cast<int>(error.code), console);
    };
    if (!invocation) return fails(invocation.error());
    endByLine(console);
    endWithParent();
    std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of the shell is an error of its own, as on a full disk
    graph::explainCutFiles();
    std::optional<SignalsHeld> held;
    base::Result<Outputs> outputs = confined(invocation->command, invocation->sandbox, held);
    if (!outputs) return fails(outputs.error());
    // The child of a verification is stopped by its parent, not by signals of its own.
    std::optional<Interrupt> interrupt;
    if (!std::holds_alternative<OracleCommand>(invocation->command)) interrupt.emplace();
    held.reset();
    allowScratch();
    const std::stop_token stop = interrupt ? interrupt->token() : std::stop_token();
    const base::Result<int> code = carriedOut(*invocation, std::move(*outputs), console, stop);
    if (!code) console.error(forTerminal(code.error(), console));
    return exitCode(code ? *code : static_cast<int>(code.error().code), console);
}

}  // namespace hopscope::engine
