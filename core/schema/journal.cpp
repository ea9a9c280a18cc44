#include "schema/journal.h"

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

namespace {

constexpr const char* format = "hopscope-journal";

}  // namespace

std::string writeJournal(const JournalDocument& journal)
{
    json::Value document = startDocument(format);
    json::writeInto(document, journal);
    return json::write(document, true);
}

base::Result<JournalDocument> readJournal(const std::string& text, const std::string& file)
{
    const base::Result<json::Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    return readDocument<JournalDocument>(*document, format, file);
}

}  // namespace hopscope::schema
