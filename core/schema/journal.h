#pragma once

// The file run.json in the journal of a run (docs/reference/format-journal.md): the conditions under which the run
// started, and the cuts of its loops.

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/names.h"
#include "base/result.h"
#include "plan/loop_cut.h"

namespace hopscope::schema {

// The data on which the model was walked.
enum class Walked : std::uint8_t { Sample, Data };

constexpr auto namesOf(Walked)
{
    return std::to_array<base::Named<Walked>>({{Walked::Sample, "sample"}, {Walked::Data, "data"}});
}

struct JournalDocument {
    std::map<std::string, std::string> conditions;
    Walked walked = Walked::Sample;
    std::string plan;
    std::int64_t batchBytes = 0;
    std::vector<plan::LoopCut> cuts;
};

template <std::same_as<JournalDocument> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "journal", field("conditions", &T::conditions, "by name; all must be the same for a run to go on"),
        field("walk", &T::walked,
              "`data` if a branch of the model required the whole graph for its analysis, else `sample`"),
        field("plan", &T::plan, "XXH3-128 of `plan.json`"),
        field("batch_bytes", &T::batchBytes, "the bytes that a batch of a loop without tiles may take",
              base::Within{1}),
        field("cuts", &T::cuts, "how each loop is cut"));
}

std::string writeJournal(const JournalDocument& journal);
base::Result<JournalDocument> readJournal(const std::string& text, const std::string& file);

}  // namespace hopscope::schema
