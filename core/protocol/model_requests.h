#pragma once

// Requests that concern models and files, with their answers.

#include "protocol/method.h"
#include "schema/receptive_field.h"

namespace hopscope::protocol {

// Describes the answer to model/open. It is neither written nor read as a struct: the engine moves the large document
// into its answer, and the client reads it on a different thread.
struct OpenedModel {
    std::int64_t document = 0;
    JsonObject inspect{};
};
template <std::same_as<OpenedModel> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "", field("document", &T::document, "its number, for the requests below"),
        field("inspect", &T::inspect, "as `inspect --json` prints ([inspections](format-inspect.md))"));
}

enum class SourceLabel : std::uint8_t { Embedded, Local, TorchScript, None };
constexpr auto namesOf(SourceLabel)
{
    return std::to_array<base::Named<SourceLabel>>({{SourceLabel::Embedded, "embedded"},
                                                    {SourceLabel::Local, "local"},
                                                    {SourceLabel::TorchScript, "torchscript"},
                                                    {SourceLabel::None, "none"}});
}

struct SourceLines {
    SourceLabel label = SourceLabel::None;
    std::string file{};
    int line = 0, firstLine = 0;
    std::string text{}, schema{};
};
template <std::same_as<SourceLines> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "",
        field("label", &T::label,
              "`embedded`: in the archive; `local`: the file named by the archive, found on the engine's disk; "
              "`torchscript`: the archive's code, which `file` and `line` then refer to"),
        field("file", &T::file, ""), field("line", &T::line, "of the operator; always within the text"),
        field("first_line", &T::firstLine, "of the text"), field("text", &T::text, "at most 400 lines"),
        field("schema", &T::schema,
              "of the operator in LibTorch: `aten::relu(Tensor self) -> Tensor`; empty for scalar arithmetic"));
}

struct FolderEntry {
    std::string name{};
    bool directory = false;
    std::int64_t size = 0;
};
template <std::same_as<FolderEntry> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("name", &T::name, ""), field("directory", &T::directory, ""),
                           field("size", &T::size, "bytes", base::Quantity::Bytes));
}

struct FolderListing {
    std::string path{}, parent{};
    std::vector<FolderEntry> entries{};
};
template <std::same_as<FolderListing> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "", field("path", &T::path, "absolute"), field("parent", &T::parent, ""),
        field("entries", &T::entries, "`{name, directory, size}`, at most 10,000, folders first, by name"));
}

struct OpenModel {
    ModelFiles files;
    std::vector<std::string> writes{};
    base::Settings settings{};
};
template <std::same_as<OpenModel> T>
constexpr auto fieldsOf(const T*)
{
    using base::embedded;
    const auto writes =
        base::field("writes", &T::writes, "files and folders that its runs will write to", base::Presence::Later);
    return base::described("", embedded(&T::files), writes,
                           embedded(&T::settings, "and the [settings](settings.md) `reassociate` and `cache`"));
}

struct TrustModel : OfDocument {
    bool folder = false;
};
template <std::same_as<TrustModel> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfDocument>(
        base::field("folder", &T::folder, "true: to all files in its folder", base::Presence::Later));
}

struct ShowSource : OfDocument {
    std::optional<std::string> op{}, module{};
};
template <std::same_as<ShowSource> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfDocument>(
        field("op", &T::op, "an operator", Presence::WhenSet),
        field("module", &T::module, "without `op`: the first operator below this path", Presence::WhenSet));
}

struct FindReceptiveField : OfDocument {
    std::string table{};
    std::optional<std::int64_t> node{};
    std::int64_t seed = 1;
    bool average = true;
};
template <std::same_as<FindReceptiveField> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfDocument>(
        field("table", &T::table, "of the node; not needed if outputs have rows of one table only", Presence::WhenSet,
              base::Null::IsDefault),
        field("node", &T::node, "absent: it is drawn with `seed`", Presence::WhenSet),
        field("seed", &T::seed, "1 by default", Presence::Later),
        field("average", &T::average,
              "false omits the averages over all nodes, which take most of the time on large graphs", Presence::Later));
}

struct ListFolder {
    std::string path;
};
template <std::same_as<ListFolder> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("path", &T::path, "empty: the working directory"));
}

using CloseModel = Method<"model/close", OfDocument, Nothing, "frees the document; refused during a run">;

using ModelQueries =
    std::variant<Method<"model/open", OpenModel, OpenedModel, "opens a model with its data">,
                 Method<"model/trust", TrustModel, Nothing, "the user agrees to the file as it was opened">, CloseModel,
                 Method<"model/source", ShowSource, SourceLines, "the source around an operator">,
                 Method<"model/receptiveField", FindReceptiveField, schema::ReceptiveField,
                        "the [receptive field](format-receptive-field.md) of a node">,
                 Method<"fs/list", ListFolder, FolderListing, "lists a folder of the engine's machine">>;

}  // namespace hopscope::protocol
