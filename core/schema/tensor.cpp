#include "schema/tensor.h"

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

constexpr const char* format = "hopscope-tensor";

json::Value tensorValue(const TensorSummary& record) { return documentOf(record, format); }

std::string writeTensor(const TensorSummary& record) { return json::write(tensorValue(record), true); }

base::Result<TensorSummary> tensorFrom(const json::Value& document, const std::string& name)
{
    return readDocument<TensorSummary>(document, format, name);
}

}  // namespace hopscope::schema
