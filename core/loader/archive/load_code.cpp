#include "loader/archive/load_code.h"

#include <algorithm>
#include <string_view>

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

tl::unexpected<base::Error> refusedAt(const std::string& name, const Record& record, std::string_view text,
                                      std::size_t at, const std::string& what, const std::string& hint)
{
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::string place = record.name + ":" + std::to_string(line);
    return fail(ErrorCode::Unsupported, name + " " + what, hint, name + ":" + place);
}

base::Status checkCode(const std::string& name, const Record& record, const std::string& code)
{
    for (const std::string_view method : {"__setstate__", "__getstate__"})
        if (const std::size_t at = code.find(method); at != std::string::npos)
            return refusedAt(name, record, code, at,
                             "has a method " + std::string(method) +
                                 ", which PyTorch would run while it reads the file",
                             "remove the method from the class, or trace the model: torch.jit.trace(model, inputs)");
    return {};
}

// A pickle may break the name of a class into two lines at any dot.
base::Status checkClasses(const std::string& name, const Record& record, std::string text)
{
    std::ranges::replace(text, '\n', '.');
    if (text.find("torch.classes") == std::string::npos) return {};
    return fail(ErrorCode::Unsupported, name + " holds objects of a custom C++ class (" + record.name + ")",
                "export the model without it", name + ":" + record.name);
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
