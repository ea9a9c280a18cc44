#include <doctest/doctest.h>

#include "base/text.h"
#include "cli/console.h"
#include "cli/table.h"

using namespace hopscope;
using engine::Align;
using engine::Table;

TEST_CASE("a table lines up what a reader sees, not bytes")
{
    Table table({Align::Left, Align::Right, Align::Left});
    table.add({"a \u2192 b", "1", "x"});
    table.add({"longer", "1,000", ""});
    CHECK(table.render(2) == "  a \u2192 b       1  x\n  longer  1,000\n");
}

TEST_CASE("colour codes take no room")
{
    const engine::Style style{true};
    CHECK(base::shownWidth(style.bold("four")) == 4);
    CHECK(engine::Style{false}.bold("four") == "four");
}

TEST_CASE("columns that are always empty vanish")
{
    Table table({Align::Left, Align::Left, Align::Left});
    table.add({"a", "", "c"});
    CHECK(table.render(0) == "a  c\n");
}

TEST_CASE("progress shows share, rate and time left once there is something to tell")
{
    CHECK(engine::progressText({"reading", 5, 0}, 0, 3) == "reading");
    CHECK(engine::progressText({"stage 1", 10, 100}, 0, 0.05) == "stage 1  10 %");
    CHECK(engine::progressText({"stage 1", 50, 100}, 0, 5) == "stage 1  50 %  10/s  5.00 s left");
    CHECK(engine::progressText({"stage 1", 100, 100}, 0, 5) == "stage 1  100 %  20/s");
    CHECK(engine::progressText({"stage 1", 60, 100}, 50, 5) == "stage 1  60 %  2/s  20.0 s left");
}
