#include "schema/tensor.h"

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

namespace {

constexpr const char* format = "hopscope-tensor";

}  // namespace

json::Value tensorValue(const TensorSummary& record)
{
    json::Value document = startDocument(format);
    json::writeInto(document, record);
    return document;
}

std::string writeTensor(const TensorSummary& record) { return json::write(tensorValue(record), true); }

base::Result<TensorSummary> tensorFrom(const json::Value& document, const std::string& name)
{
    return readDocument<TensorSummary>(document, format, name);
}

}  // namespace hopscope::schema
