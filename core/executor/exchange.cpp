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

// Their numbers, one after the other.
at::Tensor numbersOf(const RowRuns& runs)
{
    std::int64_t count = 0;
    for (const RowRun& run : runs) count += run.count;
    at::Tensor rows = at::empty({count}, at::TensorOptions().dtype(at::kLong));
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
    for (const HaloRows& halo : Halo(m_session, m_programs, m_ranges).of(m_owner)) write(halo);
    return m_wanted;
}

void Exchange::write(const HaloRows& halo)
{
    const std::int64_t most = std::max(parcelBytes / std::max(halo.rowBytes, std::int64_t{1}), std::int64_t{1});
    RowRuns runs;
    std::int64_t rows = 0;
    for (RowRun left : halo.runs)
        while (left.count > 0) {
            const std::int64_t taken = std::min(left.count, most - rows);
            runs.push_back({left.first, taken});
            rows += taken;
            left = {left.first + taken, left.count - taken};
            if (rows < most) continue;
            write(halo, runs, std::exchange(rows, 0));
            runs.clear();
        }
    if (rows > 0) write(halo, runs, rows);
}

void Exchange::write(const HaloRows& halo, const RowRuns& runs, std::int64_t rows)
{
    const std::string list =
        m_session.options.folder + "/wanted-" + std::to_string(m_owner) + "-" + std::to_string(m_wanted.size());
    writeWhole(list, runs.data(), runs.size() * sizeof(RowRun));
    m_wanted.push_back({.value = halo.value,
                        .stage = halo.stage,
                        .from = halo.from,
                        .rows = rows,
                        .bytes = rows * halo.rowBytes,
                        .list = list});
    m_missing.insert(list);
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
    if (file.size != numbers.numel() * store.rowBytes() || graph::digestOf(file.data, size).hex() != parcel.digest)
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
