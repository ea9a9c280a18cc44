#include "executor/exchange.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "analysis/naming/value_names.h"
#include "graph/file.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t parcelBytes = 128 << 20;

RowRuns runsIn(const std::string& file)
{
    const graph::MappedFile mapped = unwrap(graph::mapFile(file));
    const auto size = static_cast<std::size_t>(mapped.size);
    if (size % sizeof(RowRun) != 0)
        raise(base::ErrorCode::Input, file + ": is not a list of rows, pairs of first and count in 64 bits", {}, file);
    RowRuns runs(size / sizeof(RowRun));
    std::memcpy(runs.data(), mapped.data, size);
    std::int64_t end = 0;
    for (const RowRun& run : runs) {
        if (run.first < end || run.count < 1 || run.count > std::numeric_limits<std::int64_t>::max() - run.first)
            raise(base::ErrorCode::Input, file + ": its runs of rows do not ascend", {}, file);
        end = run.first + run.count;
    }
    return runs;
}

std::int64_t sizeOf(const RowRuns& runs)
{
    std::int64_t count = 0;
    for (const RowRun& run : runs) count += run.count;
    return count;
}

// Their numbers, one after the other.
at::Tensor numbersOf(const RowRuns& runs)
{
    at::Tensor rows = at::empty({sizeOf(runs)}, at::TensorOptions().dtype(at::kLong));
    auto* to = rows.mutable_data_ptr<std::int64_t>();
    for (const RowRun& run : runs)
        for (std::int64_t i = 0; i < run.count; ++i) *to++ = run.first + i;
    return rows;
}

void writeWhole(const std::string& path, const void* bytes, std::size_t size)
{
    graph::NewFile file = unwrap(graph::NewFile::create(path, static_cast<std::int64_t>(size)));
    unwrap(file.write(0, bytes, size));
    unwrap(file.publish(graph::Flush::No));
}

WantedRows parcelOf(const HaloRows& halo, const RowRuns& runs, const std::string& list)
{
    writeWhole(list, runs.data(), runs.size() * sizeof(RowRun));
    const std::int64_t rows = sizeOf(runs);
    return {.value = halo.value,
            .stage = halo.stage,
            .from = halo.from,
            .rows = rows,
            .bytes = rows * halo.rowBytes,
            .list = list};
}

std::vector<std::int64_t> shapeOfRows(const Store& store, std::int64_t rows)
{
    std::vector<std::int64_t> shape = store.tensor().sizes().vec();
    shape[static_cast<std::size_t>(store.rowDim())] = rows;
    return shape;
}

}  // namespace

Exchange::Exchange(Session& session, const StagePrograms& programs, const OwnedRanges& ranges, int owner)
    : m_session(session),
      m_programs(programs),
      m_ranges(ranges),
      m_owner(owner)
{}

const std::vector<WantedRows>& Exchange::wanted()
{
    if (m_looked) return m_wanted;
    m_looked = true;
    for (const HaloRows& halo : Halo(m_session, m_programs, m_ranges).of(m_owner)) cut(halo, "wanted", m_wanted);
    for (const WantedRows& parcel : m_wanted) m_missing.insert(parcel.list);
    return m_wanted;
}

const std::vector<WantedRows>& Exchange::own()
{
    if (m_own) return *m_own;
    m_own.emplace();
    for (const HaloRows& rows : Halo(m_session, m_programs, m_ranges).ownedBy(m_owner)) cut(rows, "own", *m_own);
    return *m_own;
}

// Adds its parcels, whose lists are called after their `kind`.
void Exchange::cut(const HaloRows& halo, const std::string& kind, Parcels& parcels)
{
    const std::int64_t most = std::max(parcelBytes / std::max(halo.rowBytes, std::int64_t{1}), std::int64_t{1});
    RowRuns runs;
    std::int64_t rows = 0;
    const auto close = [&] {
        const std::string name = kind + "-" + std::to_string(m_owner) + "-" + std::to_string(parcels.size());
        parcels.push_back(parcelOf(halo, std::exchange(runs, {}), m_session.options.folder + "/" + name));
        rows = 0;
    };
    for (RowRun left : halo.runs)
        while (left.count > 0) {
            const std::int64_t taken = std::min(left.count, most - rows);
            runs.push_back({left.first, taken});
            rows += taken;
            left = {left.first + taken, left.count - taken};
            if (rows == most) close();
        }
    if (rows > 0) close();
}

Store& Exchange::storeOf(const RowParcel& parcel)
{
    const auto it = m_session.stores.find(parcel.value);
    if (it == m_session.stores.end())
        raise(base::ErrorCode::Usage, "no store of value " + std::to_string(parcel.value.index) + " is open here",
              "rows/wanted names those that are exchanged");
    return *it->second;
}

RowParcel Exchange::exportRows(RowParcel parcel)
{
    const Store& store = storeOf(parcel);
    const RowRuns runs = runsIn(parcel.list);
    for (const RowRun& run : runs)
        if (!store.has(run.first, run.count))
            raise(base::ErrorCode::Usage,
                  "rows " + std::to_string(run.first) + " to " + std::to_string(run.first + run.count) + " of " +
                      analysis::nameOfValue(m_session.analysis, parcel.value) + " have not been computed here",
                  "take them from their owner when it has finished the stage");
    const at::Tensor numbers = numbersOf(runs);
    const at::Tensor rows = store.tensor().index_select(store.rowDim(), numbers);
    writeWhole(parcel.file, rows.const_data_ptr(), rows.nbytes());
    parcel.rows = numbers.numel();
    parcel.bytes = static_cast<std::int64_t>(rows.nbytes());
    parcel.digest = graph::digestOf(rows.const_data_ptr(), rows.nbytes()).hex();
    return parcel;
}

RowParcel Exchange::importRows(RowParcel parcel)
{
    Store& store = storeOf(parcel);
    const at::Tensor numbers = numbersOf(runsIn(parcel.list));
    const graph::MappedFile file = unwrap(graph::mapFile(parcel.file));
    const auto size = static_cast<std::size_t>(file.size);
    const bool other = !parcel.digest.empty() && graph::digestOf(file.data, size).hex() != parcel.digest;
    if (file.size != numbers.numel() * store.rowBytes() || other)
        raise(base::ErrorCode::Input, parcel.file + ": these are not the rows that were handed over",
              "was the file damaged on its way?", parcel.file);
    store.import(numbers, at::from_blob(const_cast<std::byte*>(file.data), shapeOfRows(store, numbers.numel()),
                                        store.tensor().options()));
    parcel.rows = numbers.numel();
    parcel.bytes = file.size;
    m_missing.erase(parcel.list);
    return parcel;
}

bool Exchange::complete(plan::StageId stage)
{
    return std::ranges::none_of(
        wanted(), [&](const WantedRows& rows) { return rows.stage == stage && m_missing.contains(rows.list); });
}

}  // namespace hopscope::executor
