#pragma once

// Writes and reads the steps by which plans are derived (plan/walkthrough.h).

#include "base/result.h"
#include "plan/walkthrough.h"
#include "schema/model_names.h"
#include "json/json.h"

namespace hopscope::schema {

json::Value walkthroughsValue(const plan::Walkthroughs& all);
// Reads the document. Fails with Input and a JSON pointer, also if it names operators or values that the model does not
// have.
base::Result<plan::Walkthroughs> walkthroughsFrom(const json::Value& document, const std::string& name,
                                                  const ModelNames& model);

}  // namespace hopscope::schema
