#pragma once

// The journal of a run in its output folder: the conditions that it was started under, its plan and its finished
// chunks. docs/reference/format-journal.md describes the files.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/journal.h"
#include "pipeline/options.h"
#include "pipeline/output_folder.h"
#include "pipeline/prepare.h"
#include "schema/journal.h"

namespace hopscope::pipeline {

// The conditions that must be the same for a resumed run to give the same bits, by name, as readable values or hashes.
using Conditions = std::map<std::string, std::string>;

// The conditions of a run with these options in this process, on a CPU. Expects hashInputs. Linear in the files for
// pins and plan.
base::Result<Conditions> conditionsOf(const Prepared& prepared, const PlanSource& plan, const base::Settings& settings);

class RunJournal : public executor::Journal {
public:
    // Reads the records of an earlier process, if there are any. Fails with Input if its conditions were different (the
    // message names them), or if the journal is damaged. `folder` must outlive the journal. The journal makes it keep
    // the files as soon as they are useful to a later process.
    static base::Result<std::unique_ptr<RunJournal>> open(OutputFolder& folder, const Conditions& conditions);
    ~RunJournal() override;
    RunJournal(const RunJournal&) = delete;
    RunJournal& operator=(const RunJournal&) = delete;

    // Whether an earlier process has started this run; if so, the file of its plan, and whether it walked the model
    // with the whole graph.
    [[nodiscard]] bool goesOn() const { return m_begun.has_value(); }
    [[nodiscard]] std::string planFile() const;
    [[nodiscard]] bool walkedWhole() const { return m_begun && m_begun->walked == schema::Walked::Data; }
    // Once one of these files has changed, nothing more is recorded. `files` must outlive the journal.
    void expectSame(const graph::GivenFiles& files) { m_files = &files; }
    // Saves the plan of a new run. `whole`: as walkedWhole().
    base::Status savePlan(const std::string& text, bool whole);

    [[nodiscard]] std::optional<std::int64_t> batchBytes() const override;
    base::Result<std::vector<executor::Chunk>> begin(std::int64_t batchBytes,
                                                     const std::vector<plan::LoopCut>& cuts) override;
    base::Status append(const executor::Chunk& chunk) override;
    base::Status sync(std::int64_t end) override;

protected:
    // `chunks`: the name of the file with its records.
    RunJournal(OutputFolder& folder, const Conditions& conditions, std::string chunks);
    [[nodiscard]] OutputFolder& folder() const { return m_folder; }
    [[nodiscard]] std::string file(const std::string& name) const;
    [[nodiscard]] bool hasBegun() const;  // run.json is there
    // Fails if the conditions of this process differ.
    base::Status readBegun();
    // "the unfinished run in this folder cannot be resumed".
    [[nodiscard]] virtual std::string whatCannot() const;
    base::Status readChunks();
    // The end of the file of records.
    base::Result<std::int64_t> write(const std::string& line);
    [[nodiscard]] base::Status inputsAreSame() const { return m_files ? m_files->unchanged() : base::Status(); }
    [[nodiscard]] std::int64_t foundEnd() const { return static_cast<std::int64_t>(m_end); }

private:
    base::Status openChunks();
    [[nodiscard]] base::Status refuse(const std::string& what) const;

    OutputFolder& m_folder;
    const graph::GivenFiles* m_files = nullptr;
    schema::JournalDocument m_now;
    std::optional<schema::JournalDocument> m_begun;
    std::vector<executor::Chunk> m_found;
    std::size_t m_end = 0;  // end of the last complete record in the file of chunks
    std::string m_name;
    int m_chunks = -1;
    std::mutex m_mutex;
    std::int64_t m_length = 0;  // of the file of records; guarded by m_mutex
};

}  // namespace hopscope::pipeline
