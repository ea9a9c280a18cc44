#include "schema/error.h"

#include "json/described.h"

namespace hopscope::schema {

json::Value errorValue(const base::Error& error)
{
    return json::written(ErrorRecord{.code = error.code,
                                     .exitCode = static_cast<int>(error.code),
                                     .message = error.message,
                                     .hint = error.hint,
                                     .where = error.where});
}

base::Error errorFrom(const json::Reader& reader)
{
    const auto record = json::readAs<ErrorRecord>(reader);
    return base::makeError(record.code, record.message, record.hint, record.where);
}

std::string writeError(const base::Error& error)
{
    json::Value document = json::Value::object();
    document["error"] = errorValue(error);
    return json::write(document, true);
}

}  // namespace hopscope::schema
