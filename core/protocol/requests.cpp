#include "protocol/requests.h"

#include <set>
#include <type_traits>

#include "base/units.h"
#include "protocol/forms.h"
#include "schema/described_document.h"

namespace hopscope::protocol {

namespace {

using json::Reader;
using Names = std::set<std::string, std::less<>>;

constexpr std::size_t mostPins = 10'000;

template <base::Described T>
void addNames(Names& names)
{
    base::forEachField<T>([&]<class M>(const base::Field<T, M>& field) {
        if constexpr (base::Described<M>)
            if (field.embedded()) return addNames<M>(names);
        names.insert(field.name);
    });
}

template <base::Described T>
void refuseUnknown(const Reader& object)
{
    Names names;
    addNames<T>(names);
    object.only(names);
}

template <class... Each>
std::optional<std::variant<Each...>> readOneOf(const std::string& method, const Reader& params,
                                               const std::variant<Each...>*)
{
    std::optional<std::variant<Each...>> found;
    const auto readIf = [&]<class T>(const T*) {
        if (method != T::method) return;
        refuseUnknown<T>(params);
        found = json::readAs<T>(params);
    };
    (readIf(static_cast<const Each*>(nullptr)), ...);
    return found;
}

template <class... Each>
std::string methodOfOne(const std::variant<Each...>& query)
{
    return std::visit([]<class T>(const T&) -> std::string { return T::method; }, query);
}

template <class... Each>
json::Value written(const std::variant<Each...>& query)
{
    return std::visit([](const auto& each) { return json::written(each); }, query);
}

}  // namespace

// ---- conditions beyond types

static void checkRead(const Breakpoint& breakpoint, const Reader& item)
{
    refuseUnknown<Breakpoint>(item);
    if (breakpoint.outside && breakpoint.outside->size() != 2)
        item.child("outside").refuse("must be two numbers, the least and the largest");
}

static void checkRead(const ShowSource& query, const Reader& params)
{
    if (!query.op && !query.module) params.refuse("needs 'op' or 'module'");
}

static void checkRead(const PlanQuery& query, const Reader& params)
{
    if (query.pins.size() > mostPins)
        params.child("pins").refuse("holds more than " + base::formatCount(static_cast<double>(mostPins)) + " pins");
}

static void checkRead(const SeeTensor& query, const Reader& params)
{
    if (!query.rows) return;
    const std::vector<std::int64_t>& rows = *query.rows;
    if (rows.size() != 2 || rows[0] < 0 || rows[0] >= rows[1])
        params.child("rows").refuse(
            "must be [first, end] with 0 <= first < end, where end is the number after the last row");
}

static void checkRead(const ReadRows& query, const Reader& params)
{
    if (query.begin < 0) params.child("begin").refuse("must not be negative");
    if (query.end < query.begin) params.child("end").refuse("must not be before begin");
}

static void checkRead(const SaveTensor& query, const Reader& params)
{
    if (!query.file.ends_with(".npy")) params.child("file").refuse("must end with .npy");
}

static void checkRead(const OpenRun& query, const Reader& params)
{
    if (!query.settings.cache.empty())
        params.child("cache").refuse("is not for workers: they keep nothing for later runs");
}

static void checkRead(const CompareModels& query, const Reader& params)
{
    if (query.against.empty()) params.child("against").refuse("must name a model");
}

static void checkRead(const StartRun& query, const Reader& params)
{
    const bool resume = query.settings.resume, keepsStores = query.settings.verify != base::VerifyMode::None;
    if (resume && query.output.empty())
        params.child("resume").refuse("needs 'output', the folder that keeps the journal");
    if (resume && query.breakpoints) params.child("resume").refuse("is not for runs that stop at operators");
    if (!query.transient.empty() && (!query.last || keepsStores || resume))
        params.child("transient").refuse("needs 'last', 'verify' with the value none, and no 'resume'");
}

// ----

std::optional<Query> readQuery(const std::string& method, const Reader& params)
{
    return readOneOf(method, params, static_cast<const Query*>(nullptr));
}

std::optional<WorkerQuery> readWorkerQuery(const std::string& method, const Reader& params)
{
    return readOneOf(method, params, static_cast<const WorkerQuery*>(nullptr));
}

std::optional<RunQuery> readRunQuery(const std::string& method, const Reader& params)
{
    return readOneOf(method, params, static_cast<const RunQuery*>(nullptr));
}

std::string methodOf(const Query& query) { return methodOfOne(query); }
std::string methodOf(const RunQuery& query) { return methodOfOne(query); }
json::Value paramsOf(const Query& query) { return written(query); }
json::Value paramsOf(const RunQuery& query) { return written(query); }

std::int64_t runOf(const RunQuery& query)
{
    return std::visit([](const OfRun& each) { return each.run; }, query);
}

json::Value answerValue(const Answer& answer) { return written(answer); }

template <class T>
base::Result<T> readAnswer(const json::Value& answer)
{
    return schema::readMessage<T>(answer, "the engine's answer");
}

template base::Result<SourceLines> readAnswer(const json::Value&);
template base::Result<FolderListing> readAnswer(const json::Value&);
template base::Result<ExportPreview> readAnswer(const json::Value&);
template base::Result<ExportRecord> readAnswer(const json::Value&);
template base::Result<ExportVerdict> readAnswer(const json::Value&);
template base::Result<StartedRun> readAnswer(const json::Value&);

}  // namespace hopscope::protocol
