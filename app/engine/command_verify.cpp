#include <cstdlib>
#include <filesystem>

#include "commands.h"
#include "describe.h"
#include "execute.h"
#include "observers.h"
#include "records.h"

namespace hopscope::engine {

namespace {

// A folder of its own under the system's place for temporary files, removed with everything in it.
class ScratchFolder {
public:
    static base::Result<std::unique_ptr<ScratchFolder>> create()
    {
        std::error_code problem;
        std::string path = (std::filesystem::temp_directory_path(problem) / "hopscope-verify-XXXXXX").string();
        if (mkdtemp(path.data()) == nullptr)
            return base::fail(base::ErrorCode::Resources, path + ": cannot be made",
                              "set TMPDIR to a folder with space");
        return std::unique_ptr<ScratchFolder>(new ScratchFolder(path));
    }
    ~ScratchFolder()
    {
        std::error_code problem;
        std::filesystem::remove_all(m_path, problem);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    explicit ScratchFolder(std::string path) : m_path(std::move(path)) {}
    std::string m_path;
};

std::string verdictText(const Execution& execution, Console& console)
{
    const schema::Verification verdict = toRecord(*execution.verdict);
    if (!console.json()) return describeVerdict(verdict, console.style());
    return schema::writeVerification(verdict,
                                     execution.check ? std::optional(toRecord(*execution.check)) : std::nullopt);
}

}  // namespace

base::Result<int> execute(const VerifyCommand& command, Session& session)
{
    base::Result<Prepared> prepared = prepare(command.model, false, session);
    if (!prepared) return base::forward(prepared);
    hashInputs(*prepared, session);
    for (const std::string& note : prepared->notes) session.console.note(note);
    const base::Result<std::unique_ptr<ScratchFolder>> scratch = ScratchFolder::create();
    if (!scratch) return base::forward(scratch);
    ProgressObserver progress(session.console);
    const ExecutionRequest request{command.plan, command.device, command.mode, (*scratch)->path()};
    const base::Result<Execution> execution = execute(*prepared, request, progress, session);
    if (!execution) return base::forward(execution);
    session.console.print(verdictText(*execution, session.console));
    return exitCodeOf(execution->verdict);
}

}  // namespace hopscope::engine
