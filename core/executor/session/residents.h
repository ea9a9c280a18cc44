#pragma once

// Private to executor: manages the tables and index arrays that are resident on a GPU, as chosen by the plan. Batches
// read and write their rows there without copying. Only the thread that runs the plan may use this, except for `holds`,
// `inOrder` and `skips`, which any thread may call.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "executor/program/loop_program.h"
#include "executor/rows/block.h"
#include "executor/rows/ranges.h"
#include "executor/structure.h"

namespace hopscope::executor {

// A tensor on the device that a loop uses.
struct ResidentPart {
    enum Kind : std::uint8_t {
        Table,    // all rows of `value` in order
        Owned,    // `value`, a table of edges, in the order of the adjacency of `rows`
        Columns,  // the rows that `key` of `space` refers to, for the rows of `rows`, in the order of its adjacency
        Offsets,  // the first row of each destination in `rows`
        Store,    // the store of `value`, which the loop writes
        Pieces,   // the parts of rows with many edges, of the adjacency of `rows`, as bytes
        Cached,   // the rows of `value` that are gathered most, which come first in Places
        Places,   // the place of each row of `space` by its use
    } kind = Table;
    ir::ValueId value{};
    ir::RowClass rows{};
    ir::SpaceId space{};
    ir::KeyId key{};
    auto operator<=>(const ResidentPart&) const = default;
};

// A part that is not on the device yet, with its size and the data to be copied (none for a store).
struct ResidentLoad {
    ResidentPart part;
    std::int64_t bytes = 0;
    plan::Bytes copied;
};

// How the kernels of a loop gather rows of a table: not at all, along the columns of adjacencies alone, or otherwise.
enum class Gathers : std::uint8_t { No, AlongColumns, Otherwise };

// Returns whether kernels can read a table that a plan divides: an input, or a store that is no output and has the type of
// its value. In a `steady` run, with tiles of fixed size (Session::steady), none: its batches must not depend on the memory
// of the host.
bool canDivide(const analysis::Analysis& analysis, ir::ValueId value, base::StoreType store, bool steady);

// The parts that are resident, according to the plan.
class ResidentChoice {
public:
    using Held = std::function<bool(const ResidentPart&)>;

    // On a CPU, nothing is resident. If `journal`, stores are files as well, and no table is divided. `same` must outlive
    // the object.
    ResidentChoice(const analysis::Analysis& analysis, const plan::Plan& plan, const SameValues& same, bool gpu,
                   bool journal = false);

    [[nodiscard]] bool holds(ir::ValueId value) const { return m_values.contains(value); }
    // From now on, the store of a value is a file as well, or memory of the host.
    void alsoWrite(ir::ValueId value) { m_outputs.insert(value); }
    // Returns whether the store of a value exists only on the device.
    [[nodiscard]] bool onlyHere(ir::ValueId value) const
    {
        return holds(value) && !m_journal && !m_outputs.contains(value);
    }
    // Returns whether kernels gather a table's rows from the device and from pinned memory of the host.
    [[nodiscard]] bool divides(ir::ValueId value) const { return m_divided.contains(value); }
    // From now on, the table has no rows on the device.
    void leave(ir::ValueId value) { m_divided.erase(value); }
    // Returns the number of rows of such a table on the device.
    std::int64_t cachedRows(ir::ValueId value, Structure& structure) const;
    // Returns the columns along which the plan gathers rows of the table, whose use decides where they lie.
    [[nodiscard]] const GatherColumns& gathersOf(ir::SpaceId table) const;
    [[nodiscard]] Gathers gathers(const LoopProgram& program, ir::ValueId table) const;
    // Returns the bytes of rows that the kernels of a loop read from the host: for all destinations, or for a part.
    std::int64_t hostReads(const LoopProgram& program, Structure& structure,
                           const std::optional<Ranges>& part = std::nullopt) const;
    // Returns whether an instruction needs no data from the host if destinations are in ascending order.
    [[nodiscard]] bool skips(const Instruction& i) const;
    // Returns whether rows of a table of edges are in the order of an adjacency if they are on the device.
    [[nodiscard]] bool inOrder(const Instruction& i) const
    {
        return i.rows.kind == ir::RowKind::Owned && (m_structure || i.inOrder);
    }
    // Returns the part with its rows filled in; equal values share the part of the first one.
    [[nodiscard]] ResidentPart known(ResidentPart part) const;
    // Returns the parts that a loop uses, without duplicates, in order of first use.
    [[nodiscard]] std::vector<ResidentPart> parts(const LoopProgram& program) const;
    // Returns the bytes of the part on the device.
    std::int64_t bytes(const ResidentPart& part, Structure& structure) const;
    // Returns the parts of a loop that are not `held` yet. The store of an earlier loop is a table for later ones.
    std::vector<ResidentLoad> added(const LoopProgram& program, const Held& held, Structure& structure) const;
    // Returns whether a stage after `stage` uses the part.
    [[nodiscard]] bool usedAfter(const ResidentPart& part, std::size_t stage,
                                 const std::vector<std::vector<LoopProgram>>& programs) const;

    // Returns whether a stage after `stage` gathers rows of the table, or copies those of its batches.
    [[nodiscard]] bool readAfter(ir::ValueId table, std::size_t stage,
                                 const std::vector<std::vector<LoopProgram>>& programs) const;

private:
    std::set<ir::ValueId> m_values, m_outputs;
    std::map<ir::ValueId, double> m_divided;  // the share of the rows that lie on the device
    std::map<ir::SpaceId, GatherColumns> m_gathers;
    bool m_structure = false, m_journal = false;
    const analysis::Analysis& m_analysis;
    const SameValues& m_same;
};

// A table as kernels read it: rows on the device, the place of each row by its use, and all rows in pinned memory.
struct DividedTable {
    at::Tensor cached, places, host;
};

class Session;
class TableUpload;

class Residents {
public:
    Residents(Session& session, ResidentChoice& choice) : m_session(session), m_choice(choice) {}

    [[nodiscard]] const ResidentChoice& choice() const { return m_choice; }
    // Prepares a table that the plan divides: copies an input to pinned memory, or takes such memory for a store. If the
    // system grants none, the table has no rows on the device, and a note says so. Nor has it if canDivide() is false. Call it
    // before loops are compiled.
    void pin(ir::ValueId value);
    // Returns all rows of a table that the plan divides, in pinned memory. Any thread may call this.
    [[nodiscard]] at::Tensor pinnedRows(ir::ValueId value) const;
    // Returns the pinned memory of a store, Store::bytesAhead longer than its rows; undefined if it has none.
    [[nodiscard]] at::Tensor pinned(ir::ValueId value) const;
    // Loads the parts that a loop uses. Call it before its batches. Returns the bytes copied, of rows and of structure.
    // If the session has peers, each GPU copies an equal share of each part, which it sends to the others with
    // sendLoaded() when all have loaded.
    plan::Bytes load(const LoopProgram& program);
    void sendLoaded();
    // Sends rows of a store to the same store on the other GPUs, and does not wait.
    void send(ir::ValueId value, const std::vector<Destinations>& rows);
    // Frees the parts that no stage after `stage` uses.
    void drop(std::size_t stage, const std::vector<std::vector<LoopProgram>>& programs);
    // Frees a store, some of whose rows another process or GPU has written to the host's store.
    void dropStore(ir::ValueId value) { m_parts.erase({ResidentPart::Store, value}); }

    const at::Tensor& part(const ResidentPart& part) const;
    // Returns the part Table or Store of a value. In a dry run, a table without data has a single row, and gathers use
    // row 0.
    const at::Tensor& table(ir::ValueId value);
    // Returns a table that the plan divides. In a dry run, it has a single row and no places.
    DividedTable divided(ir::ValueId value);

private:
    struct Slice {
        std::int64_t first = 0, end = 0;  // bytes
    };
    [[nodiscard]] Slice sliceOf(std::int64_t bytes) const;
    at::Tensor copied(const ResidentPart& part, const at::Tensor& host, TableUpload& upload);
    at::Tensor make(const ResidentPart& part, TableUpload& upload);
    at::Tensor onHost(const ResidentPart& part);
    [[nodiscard]] bool resumes(const ResidentPart& part) const;
    at::Tensor ownedRows(const ResidentPart& part);
    at::Tensor columns(const ResidentPart& part);
    at::Tensor offsets(const ResidentPart& part);
    at::Tensor pieces(const ResidentPart& part);
    at::Tensor places(const ResidentPart& part);
    at::Tensor cached(const ResidentPart& part, TableUpload& upload);
    at::Tensor pinnedFor(ir::ValueId value);
    at::Tensor standIn(ir::ValueId value);
    at::Tensor rowsOf(ir::ValueId value);

    Session& m_session;
    ResidentChoice& m_choice;
    std::map<ResidentPart, at::Tensor> m_parts;
    std::vector<std::pair<ResidentPart, Slice>> m_loaded;  // to be sent
    std::map<ir::ValueId, at::Tensor> m_pinned;            // inputs: their rows; stores: bytes
};

}  // namespace hopscope::executor
