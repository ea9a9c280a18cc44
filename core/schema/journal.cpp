#include "schema/journal.h"

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

constexpr const char* format = "hopscope-journal";

std::string writeJournal(const JournalDocument& journal) { return json::write(documentOf(journal, format), true); }

base::Result<JournalDocument> readJournal(const std::string& text, const std::string& file)
{
    return parseDocument<JournalDocument>(text, format, file);
}

}  // namespace hopscope::schema
