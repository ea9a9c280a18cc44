#pragma once

// Keeps the journal of a run in its output folder: the conditions under which it was started, its plan and its finished
// chunks. docs/reference/format-journal.md describes the files.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/journal.h"
#include "pipeline/files/output_folder.h"
#include "pipeline/opening/prepare.h"
#include "pipeline/options.h"
#include "schema/journal.h"

namespace hopscope::pipeline {

// The conditions of a run, by name, as readable values or hashes. A run is only resumed under the same conditions, so
// that it computes the same bits.
using Conditions = std::map<std::string, std::string>;

// Returns the conditions of a run with these options in this process. Call hashInputs() first. `device` is that of the
// plan. Linear in the sizes of this program and of the files with pins and plan.
base::Result<Conditions> conditionsOf(const Prepared& prepared, const PlanSource& plan, const base::Settings& settings,
                                      const std::string& device);

class RunJournal : public executor::Journal {
public:
    // Opens the journal and reads the records of an earlier process, if there are any. Makes `folder` keep the journal
    // as soon as it is useful to a later process. `folder` must outlive the journal. Fails with Input if the conditions
    // of that process were different, which the message names, or if the journal is damaged.
    static base::Result<std::unique_ptr<RunJournal>> open(OutputFolder& folder, const Conditions& conditions);
    ~RunJournal() override;
    RunJournal(const RunJournal&) = delete;
    RunJournal& operator=(const RunJournal&) = delete;

    // Whether this process resumes the run of an earlier one. planFile() is then the file of that run's plan;
    // walkedWhole() states whether the earlier process walked the model with the whole graph.
    [[nodiscard]] bool goesOn() const { return m_begun.has_value(); }
    [[nodiscard]] std::string planFile() const;
    [[nodiscard]] bool walkedWhole() const { return m_begun && m_begun->walked == schema::Walked::Data; }
    // append() fails once one of these files has changed. `files` must outlive the journal.
    void expectSame(const graph::GivenFiles& files) { m_files = &files; }
    // Saves the plan of a new run. `whole`: see walkedWhole().
    base::Status savePlan(const std::string& text, bool whole);

    [[nodiscard]] std::optional<std::int64_t> batchBytes() const override;
    base::Result<std::vector<executor::Chunk>> begin(std::int64_t batchBytes,
                                                     const std::vector<plan::LoopCut>& cuts) override;
    base::Status append(const executor::Chunk& chunk) override;
    base::Status sync(std::int64_t end) override;

protected:
    // `chunks` is the name of the file of records.
    RunJournal(OutputFolder& folder, const Conditions& conditions, std::string chunks);
    [[nodiscard]] OutputFolder& folder() const { return m_folder; }
    [[nodiscard]] std::string file(const std::string& name) const;
    [[nodiscard]] bool hasBegun() const;  // whether run.json exists
    // Reads run.json. Fails with Input if the file or the plan is damaged, or if the conditions of this process differ.
    base::Status readBegun();
    // Returns the beginning of a message: "the unfinished run in this folder cannot be resumed".
    [[nodiscard]] virtual std::string whatCannot() const;
    base::Status readChunks();
    // Appends a line to the file of records, and returns the new end of the file.
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
    std::size_t m_end = 0;  // the end of the last complete line in the file of records
    std::string m_name;
    int m_chunks = -1;
    std::mutex m_mutex;
    std::int64_t m_length = 0;  // the length of the file of records; guarded by m_mutex
};

}  // namespace hopscope::pipeline
