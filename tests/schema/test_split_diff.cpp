#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/naming/value_names.h"
#include "schema/fixture.h"
#include "schema/split_diff.h"

using namespace hopscope;

namespace {

bool says(const std::vector<std::string>& found, const std::string& words)
{
    return std::ranges::any_of(found, [&](const auto& sentence) { return sentence.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("a split does the same as itself") { CHECK(schema::differences(fixture::split(), fixture::split()).empty()); }

TEST_CASE("each difference of two splits has a sentence")
{
    schema::Split other = fixture::split();
    other.hashes["model"] = "another";
    other.tensors[0].shape[1] = std::int64_t{99};
    other.checkpoints.pop_back();
    other.stages[1].inputs.pop_back();
    other.verification.reset();
    const std::vector<std::string> found = schema::differences(fixture::split(), other);
    CHECK(says(found, "the model files differ"));
    CHECK(says(found, "99"));
    CHECK(says(found, "only there"));
    CHECK(says(found, "stage 2"));
    CHECK(says(found, "produces out"));  // outputs by their names
    CHECK_FALSE(says(found, "stage 1:"));
    CHECK(says(schema::differences(other, fixture::split()), "only here"));
}

TEST_CASE(
    "values of splits are called by their names for people, and by their ids only where one document has no names")
{
    const schema::Split whole = fixture::split();
    schema::Split other = whole;
    const ir::ValueId gone = other.checkpoints.front().value;
    other.checkpoints.erase(other.checkpoints.begin());
    const analysis::ValueNames names(fixture::analysis());
    CHECK(says(schema::differences(whole, other), "value " + names[gone] + ": only there"));
    for (schema::TensorSpec& spec : other.tensors) spec.label.clear();
    const std::vector<std::string> found = schema::differences(whole, other);
    CHECK(found == std::vector<std::string>{"value " + ir::valueName(gone) + ": only there (stored by stage 1)"});
}
