#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/observers.h"
#include "pipeline/execute.h"
#include "pipeline/records.h"

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
            return base::fail(base::ErrorCode::Resources, path + ": cannot be created",
                              "set TMPDIR to a folder with free space");
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

std::string verdictText(const pipeline::Execution& execution, Console& console)
{
    const schema::Verification verdict = pipeline::toRecord(*execution.verdict);
    if (!console.json()) return describeVerdict(verdict, console.style());
    return schema::writeVerification(verdict, execution.check ? std::optional(pipeline::toRecord(*execution.check))
                                                              : std::nullopt);
}

}  // namespace

base::Result<int> execute(const VerifyCommand& command, Session& session)
{
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(command.model, false, session.console);
    if (!prepared) return base::forward(prepared);
    pipeline::hashInputs(*prepared, session.console);
    pipeline::tellNotes(*prepared, session.console);
    const base::Result<std::unique_ptr<ScratchFolder>> scratch = ScratchFolder::create();
    if (!scratch) return base::forward(scratch);
    ProgressObserver progress(session.console);
    const pipeline::ExecutionRequest request{command.plan, command.device, command.mode, (*scratch)->path()};
    const base::Result<pipeline::Execution> execution =
        pipeline::execute(*prepared, request, progress, session.console, session.stop);
    if (!execution) return base::forward(execution);
    session.console.print(verdictText(*execution, session.console));
    return pipeline::exitCodeOf(execution->verdict);
}

}  // namespace hopscope::engine
