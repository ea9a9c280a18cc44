#pragma once

// The steps of plans (plan/walkthrough.h) as a document.

#include "base/result.h"
#include "plan/walkthrough.h"
#include "schema/model_names.h"
#include "json/json.h"

namespace hopscope::schema {

json::Value walkthroughsValue(const plan::Walkthroughs& all);
// Fails with Input and a JSON pointer, also on operators and values that the model does not have.
base::Result<plan::Walkthroughs> walkthroughsFrom(const json::Value& document, const std::string& name,
                                                  const ModelNames& model);

}  // namespace hopscope::schema
