#include "schema/plan_answers.h"

#include <algorithm>

#include "schema/described_document.h"
#include "schema/name_check.h"
#include "schema/plan_forms.h"

namespace hopscope::schema {

namespace {

template <base::Described T>
T readWithNames(const json::Reader& reader, const ModelNames& model)
{
    T result = json::readAs<T>(reader);
    if (reader.ok()) json::forEachForm(result, reader, NameCheck(model));
    return result;
}

}  // namespace

static void checkRead(const RepairRecord& repair, const json::Reader& item)
{
    if (!repair.drop && !repair.stages) item.refuse("neither drops a pin nor takes a number of stages");
}

const Decision* Explanation::decisionOn(ir::ValueId value) const
{
    const auto found = std::ranges::find(decisions, value, &Decision::value);
    return found == decisions.end() ? nullptr : &*found;
}

json::Value explanationValue(const Explanation& explanation) { return json::written(explanation); }

base::Result<Explanation> readExplanation(const json::Value& answer, const ModelNames& model)
{
    const json::Reader root(answer, "explanation");
    auto explanation = readWithNames<Explanation>(root, model);
    if (!root.ok()) return base::forward(root.status());
    return explanation;
}

json::Value predictionValue(const Prediction& prediction) { return json::written(prediction); }

Prediction readPrediction(const json::Reader& answer, const ModelNames& model)
{
    return readWithNames<Prediction>(answer, model);
}

json::Value repairsValue(const Repairs& repairs) { return json::written(repairs); }

base::Result<Repairs> readRepairs(const json::Value& answer) { return readMessage<Repairs>(answer, "repairs"); }

}  // namespace hopscope::schema
