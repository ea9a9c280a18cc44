#include "executor/run/on_gpus.h"

#include "executor/loop/batch_order.h"

namespace hopscope::executor {

namespace {

constexpr double shareOfTables = 0.25;  // of a GPU's memory: more leave no room for segments that are used in part

}  // namespace

double loadResidents(Session& session, const LoopProgram& program, double budget, plan::Bytes& copied)
{
    DeviceContext& device = session.device;
    double tables = 0;
    for (const ir::ValueId v : session.plan.resident)
        tables += static_cast<double>(wholeBytes(session.analysis, v, session.structure.sizes()));
    for (const plan::CachedTable& c : session.plan.cached)
        if (session.choice.divides(c.value))
            tables += c.share * static_cast<double>(wholeBytes(session.analysis, c.value, session.structure.sizes()));
    const bool much = device.gpu() && tables > shareOfTables * budget;
    if (much) {
        device.synchronize();
        device.emptyCache();
    }
    copied += session.residents.load(program);
    const MemoryStats held = device.memory();
    return much ? static_cast<double>(held.reserved - held.current) : 0;
}

namespace {

// Scattered rows are not.
bool isSent(const Session& gpu, const Written& w)
{
    return !gpu.peers.empty() && w.rows.kind == ir::RowKind::Batch && !gpu.options.shuffleSeed;
}

// Completes the rows that loops have kept on each GPU, or drops them: those that later loops read then come from the
// stores.
void exchange(Gpus& gpus, const LoopProgram& program, const std::vector<Ranges>& dealt)
{
    gpus.each([&](Session& gpu, std::size_t i) {
        for (const Written& w : program.writes)
            if (gpu.choice.holds(w.value) && isSent(gpu, w)) gpu.residents.send(w.value, dealt[i]);
        gpu.device.synchronize();
    });
    gpus.each([&](Session& gpu, std::size_t) {
        for (const Written& w : program.writes)
            if (!isSent(gpu, w)) gpu.residents.dropStore(w.value);
    });
}

// The rounding errors of stores that exist only on the GPUs.
void addRounding(Session& session, Gpus& gpus)
{
    std::vector<std::unordered_map<ir::ValueId, Rounding>> rounded(gpus.count());
    gpus.each([&](Session& gpu, std::size_t i) {
        if (i > 0) rounded[i] = std::exchange(gpu.roundedHere, {});
    });
    for (const auto& values : rounded)
        for (const auto& [value, lost] : values) session.roundedHere[value].add(lost);
}

}  // namespace

plan::Bytes runOnGpus(Session& session, Gpus& gpus, const LoopProgram& program, LoopBooks& books,
                      const LoopShare& share, double budget)
{
    books.takeOver(share.kept);
    const Ranges all = share.left.value_or(Ranges{{0, session.structure.size(program.loop->destination)}});
    const std::vector<Ranges> dealt = dealTiles(session, program, all, gpus.count());
    std::vector<double> unused(gpus.count());
    std::vector<plan::Bytes> copied(gpus.count());
    gpus.each([&](Session& gpu, std::size_t i) { unused[i] = loadResidents(gpu, program, budget, copied[i]); });
    if (!session.peers.empty()) gpus.each([](Session& gpu, std::size_t) { gpu.residents.sendLoaded(); });
    BatchOrder order(session, books, all);
    gpus.each([&](Session& gpu, std::size_t i) { runOnGpu(gpu, program, order, dealt[i], budget - unused[i]); });
    exchange(gpus, program, dealt);
    addRounding(session, gpus);
    books.close();
    plan::Bytes sum;
    for (const plan::Bytes& bytes : copied) sum += bytes;
    return sum;
}

void writeWhatIsNotSent(Gpus& gpus, const StagePrograms& programs)
{
    gpus.each([&](Session& gpu, std::size_t) {
        for (const auto& loops : programs)
            for (const LoopProgram& program : loops)
                for (const Written& w : program.writes)
                    if (!isSent(gpu, w)) gpu.choice.alsoWrite(w.value);
    });
}

void shareWhole(Session& session, Gpus& gpus, ir::ValueId value)
{
    const at::Tensor host = session.device.fetch(session.whole(value));
    gpus.each([&](Session& gpu, std::size_t number) {
        if (number > 0) gpu.adopt(value, host);
    });
}

std::optional<double> takeOverlap(Session& session, Gpus* gpus)
{
    std::vector<Overlap> overlaps(session.gpus);
    const auto take = [&](Session& gpu, std::size_t number) { overlaps[number] = std::exchange(gpu.overlap, {}); };
    gpus ? gpus->each(take) : take(session, 0);
    std::erase_if(overlaps, [](const Overlap& overlap) { return overlap.empty(); });
    if (overlaps.empty()) return std::nullopt;
    double sum = 0;
    for (const Overlap& overlap : overlaps) sum += overlap.share();
    return sum / static_cast<double>(overlaps.size());
}

}  // namespace hopscope::executor
