#include <doctest/doctest.h>

#include "schema/every_member.h"
#include "schema/journal.h"

using namespace hopscope;

TEST_CASE("a journal has the bytes that it had, and refuses what its schema does not allow")
{
    const auto read = [](const std::string& text) { return schema::readJournal(text, "run.json"); };
    const std::string text = described::golden("journal.json");
    const base::Result<schema::JournalDocument> journal = read(text);
    REQUIRE_MESSAGE(journal, base::describe(journal.error()));
    const described::Schema schema("journal-1.schema.json");
    described::checkBytes(schema::writeJournal(*journal), "journal.json", schema);
    for (const char* const place : {"/batch_bytes", "/cuts/0/loop", "/cuts/0/tile"}) {
        const auto refused = read(fixture::with(text, place, 0));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message == "run.json: field " + std::string(place) + " must be at least 1");
    }
    described::checkEveryMember(text, schema, read);
}
