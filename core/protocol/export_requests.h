#pragma once

// Requests that concern exports, with their answers.

#include "protocol/method.h"
#include "schema/verification.h"

namespace hopscope::protocol {

struct ExportedText {
    std::string name{}, text{};
};
template <std::same_as<ExportedText> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("name", &T::name, ""), base::field("text", &T::text, ""));
}

struct ExportPreview {
    std::vector<ExportedText> files{};
};
template <std::same_as<ExportPreview> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("files", &T::files,
                                           "`{name, text}`; `text` is empty for binary files, and for files whose "
                                           "content is known only after the verification"));
}

struct ExportRecord {
    std::string folder{}, tool{};
    base::Strategy strategy = base::Strategy::Optimal;
    std::int64_t stages = 0;
    std::vector<std::string> inputs{};
    std::map<std::string, std::string> hashes{};
    std::optional<schema::Verification> verification{};
    std::optional<std::vector<std::string>> notes{};
};
template <std::same_as<ExportRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("folder", &T::folder, ""), field("tool", &T::tool, "that wrote it"),
                           field("strategy", &T::strategy, ""), field("stages", &T::stages, "their number"),
                           field("inputs", &T::inputs, "names"), field("hashes", &T::hashes, "of schema.json"),
                           field("verification", &T::verification, "of schema.json"),
                           field("notes", &T::notes, "of `export/write`: sentences", base::Presence::WhenSet));
}

struct ExportVerdict {
    std::optional<schema::Verification> verification{};
    std::vector<std::string> notes{};
};
template <std::same_as<ExportVerdict> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("verification", &T::verification, "as `verify --json` prints"),
                           base::field("notes", &T::notes, "sentences"));
}

struct WriteExport {
    ModelFiles files;
    JsonObject plan{};
    std::string folder{};
    base::Settings settings{};
};
template <std::same_as<WriteExport> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::embedded;
    return base::described("", embedded(&T::files), field("plan", &T::plan, "a [plan](format-plan.md)"),
                           field("folder", &T::folder, "that it makes"),
                           embedded(&T::settings, "and the [settings](settings.md) of an export"));
}

struct ReadExport {
    std::string folder;
};
template <std::same_as<ReadExport> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("folder", &T::folder, "of the export"));
}

struct CheckExport {
    ModelFiles files;
    std::string folder{};
    base::Settings settings{};
};
template <std::same_as<CheckExport> T>
constexpr auto fieldsOf(const T*)
{
    using base::embedded;
    const auto folder = base::field("folder", &T::folder, "of the export");
    return base::described("", embedded(&T::files), folder,
                           embedded(&T::settings, "and the [settings](settings.md) of an export"));
}

using PreviewExport = Method<"export/preview", OfPlan, ExportPreview, "the files of an export of this plan">;

using ExportQueries = std::variant<
    PreviewExport, Method<"export/write", WriteExport, ExportRecord, "exports as `hopscope-engine export` does">,
    Method<"export/read", ReadExport, ExportRecord, "describes an export">,
    Method<"export/check", CheckExport, ExportVerdict, "whether an export is still valid for these files">>;

}  // namespace hopscope::protocol
