#include "loader/archive/load_code.h"

#include <algorithm>

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

base::Status checkCode(const std::string& name, const Record& record, const std::string& code)
{
    for (const std::string method : {"__setstate__", "__getstate__"}) {
        const std::size_t at = code.find(method);
        if (at == std::string::npos) continue;
        const auto line = 1 + std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        return fail(ErrorCode::Unsupported,
                    name + " has a method " + method + ", which PyTorch would run while it reads or writes the file",
                    "remove the method from the class, or trace the model: torch.jit.trace(model, inputs)",
                    name + ":" + record.name + ":" + std::to_string(line));
    }
    return {};
}

// A pickle may break the name of a class into two lines at any dot.
base::Status checkClasses(const std::string& name, const Record& record, std::string text)
{
    std::ranges::replace(text, '\n', '.');
    if (text.find("torch.classes") == std::string::npos) return {};
    return fail(ErrorCode::Unsupported, name + " holds objects of a custom C++ class (" + record.name + ")",
                "export the model without such objects", name + ":" + record.name);
}

}  // namespace

base::Status checkLoadRunsNothing(std::span<const std::byte> file, const Archive& archive, const std::string& name)
{
    for (const Record& record : archive.records) {
        const bool code = record.name.ends_with(".py"), pickle = record.name.ends_with(".pkl");
        if (!code && !pickle) continue;
        base::Result<std::string> text = readRecord(file, record);
        if (!text) return base::forward(text);
        if (code)
            if (base::Status runs = checkCode(name, record, *text); !runs) return runs;
        if (base::Status made = checkClasses(name, record, std::move(*text)); !made) return made;
    }
    return {};
}

}  // namespace hopscope::loader
