#include "schema/dtypes.h"

namespace hopscope::schema {

base::DType readDType(const json::Reader& reader)
{
    const auto name = reader.as<std::string>();
    for (int i = 0; i <= static_cast<int>(base::DType::Complex128); ++i)
        if (name == base::dtypeName(static_cast<base::DType>(i))) return static_cast<base::DType>(i);
    if (reader.ok()) reader.refuse("is not a dtype");
    return base::DType::Float32;
}

}  // namespace hopscope::schema
