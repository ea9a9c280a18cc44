#include "graph/dataset.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "graph/formats.h"

namespace hopscope::graph {

namespace {

using base::ErrorCode;
using base::fail;
using base::TensorMap;
namespace fs = std::filesystem;

std::string useForms() { return "use " + dataForms(); }

// "%2F" -> "/"; anything that is no escape stays.
std::string percentDecoded(const std::string& text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned code = 0;
        const char* const digits = text.data() + i + 1;
        const bool escape =
            text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2;
        result += escape ? static_cast<char>(code) : text[i];
        if (escape) i += 2;
    }
    return result;
}

base::Status add(TensorMap& data, const std::string& name, base::TensorView view)
{
    const auto found = data.find(name);
    if (found != data.end())
        return fail(ErrorCode::Usage,
                    "the data key '" + name + "' is given twice, by " + found->second.origin + " and " + view.origin,
                    "remove one of them");
    data.emplace(name, std::move(view));
    return {};
}

// The format of a file; an error if it has none.
base::Result<const Format*> formatAt(const std::string& path)
{
    const auto file = mapFile(path);
    if (!file) return base::forward(file);
    if (const Format* const format = formatOf(*file)) return format;
    const Refusal refusal = refusalOf(*file);
    return fail(ErrorCode::Input, path + " " + refusal.what, refusal.hint, path);
}

base::Status addArray(TensorMap& data, const std::string& name, const std::string& path)
{
    const auto format = formatAt(path);
    if (!format) return base::forward(format);
    if ((*format)->holds == Holds::Tensors)
        return fail(ErrorCode::Usage,
                    path + " is a ." + (*format)->suffix + " file, whose tensors have names of their own",
                    "use it without '" + name + "='");
    auto read = (*format)->read(path);
    if (!read) return base::forward(read);
    return add(data, name, std::move(read->begin()->second));
}

base::Status addFile(TensorMap& data, const std::string& path)
{
    const auto format = formatAt(path);
    if (!format) return base::forward(format);
    if ((*format)->holds == Holds::Array)
        return fail(ErrorCode::Usage, path + " is a ." + (*format)->suffix + " file, which needs a name",
                    "write NAME=" + path);
    auto tensors = (*format)->read(path);
    if (!tensors) return base::forward(tensors);
    for (auto& [name, view] : *tensors)
        if (auto added = add(data, name, std::move(view)); !added) return added;
    return {};
}

base::Result<std::vector<fs::path>> arraysIn(const std::string& folder)
{
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (const Format* const format = formatNamed(it->path().extension().string());
            format && format->holds == Holds::Array)
            files.push_back(it->path());
    if (error) return fail(ErrorCode::Input, "cannot read the folder " + folder + ": " + error.message(), {}, folder);
    if (files.empty())
        return fail(ErrorCode::Input, "the folder " + folder + " has no " + listSuffixes(Holds::Array) + " file",
                    useForms(), folder);
    std::sort(files.begin(), files.end());
    return files;
}

base::Status addFolder(TensorMap& data, const std::string& folder)
{
    const auto files = arraysIn(folder);
    if (!files) return base::forward(files);
    for (const fs::path& file : *files)
        if (auto added = addArray(data, percentDecoded(file.stem().string()), file.string()); !added) return added;
    return {};
}

base::Status addArgument(TensorMap& data, const std::string& argument)
{
    std::error_code ignored;
    if (fs::is_directory(argument, ignored)) return addFolder(data, argument);
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || fs::exists(argument, ignored)) return addFile(data, argument);
    const std::string name = argument.substr(0, equals), path = argument.substr(equals + 1);
    if (name.empty() || path.empty())
        return fail(ErrorCode::Usage, "'" + argument + "' is not a valid data argument", useForms());
    return addArray(data, name, path);
}

}  // namespace

base::Result<TensorMap> readData(const std::vector<std::string>& arguments)
{
    TensorMap data;
    for (const std::string& argument : arguments)
        if (auto added = addArgument(data, argument); !added) return base::forward(added);
    return data;
}

}  // namespace hopscope::graph
