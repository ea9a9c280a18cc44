#pragma once

// Provides the parts of the whole graph that a run needs: inputs, weights, table sizes, key columns, adjacencies, and
// the values of the prologue. They are computed on demand; large arrays are in scratch memory. Several threads may
// request them at the same time. References remain valid for the lifetime of the object, except those to hub pieces,
// which arrangeNodes() drops.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executor/calls/call.h"
#include "executor/failure.h"
#include "executor/structure/adjacencies.h"
#include "executor/structure/same_values.h"
#include "executor/structure/use_order.h"
#include "loader/loader.h"

namespace hopscope::executor {

// Returns the values that define tables: selectors, indices and columns of keys. Those that do not exist are invalid.
std::vector<ir::ValueId> definingValues(const analysis::Analysis& analysis);

class Structure {
public:
    Structure(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
              const std::string& scratchFolder, int threads, std::stop_token stop);

    // From now on, this token stops the computation of tables and values.
    void stopBy(std::stop_token stop) { m_stop = std::move(stop); }
    // From now on, adjacencies, columns along them and orders of nodes are cached in this folder if they are slow to
    // compute and their table is large. The folder must exist. Only the first call has an effect.
    void cacheIn(const std::string& folder) { m_adjacencies.cacheIn(folder); }
    // Returns the cache; nullptr before cacheIn().
    StructureCache* cache() { return m_adjacencies.cache(); }
    const graph::Scratch& scratch() const { return m_scratch; }
    const NumberEvaluator& numbers() const { return m_numbers; }
    const SameValues& same() const { return m_same; }

    UseOrders useOrders{*this};

    std::int64_t size(ir::SpaceId space);
    SizeOf sizes()
    {
        return [this](ir::SpaceId s) { return size(s); };
    }
    const Column& column(ir::SpaceId space, ir::KeyId key);
    // Returns, for each row of a Filter or Perm table, the row of its parent.
    const Column& parentRows(ir::SpaceId space);
    // Returns the adjacency whose targets are in the order of the positions of their type (arrangeNodes).
    const graph::Adjacency& adjacency(ir::SpaceId space, ir::KeyId key);
    // Returns the hub pieces of this adjacency, which are determined only once.
    const std::vector<kernels::HubPiece>& hubPieces(ir::SpaceId space, ir::KeyId key);
    const OwnedColumn& ownedColumn(ir::SpaceId space, ir::KeyId owner, ir::KeyId key, Numbers numbers = Numbers::Input);
    // Returns the bytes that figures count for a row number in an OwnedColumn, whether the column is copied or in
    // place: 4 if these suffice, otherwise 8.
    std::int64_t numberBytes(ir::SpaceId space, ir::KeyId key);
    // From now on, columns of inputs that are in the order of an adjacency are not copied. This saves memory, but
    // readers must accept 64 bits.
    void readColumnsInPlace() { m_adjacencies.readColumnsInPlace(); }

    // From now on, batches take the nodes of the type in this order: order[p] is the node at position p. Adjacencies,
    // columns, and values in the order of an adjacency are arranged accordingly; everything else remains in the order
    // of the input. Call it at most once for each type, before any stage.
    void arrangeNodes(ir::SpaceId type, graph::NodeOrder order);
    // Return the node at each position, and the position of each node; null unless arrangeNodes() was called for the
    // type.
    [[nodiscard]] const std::int64_t* nodeAt(ir::SpaceId type) const { return m_adjacencies.nodeAt(type); }
    [[nodiscard]] const std::int64_t* placeOf(ir::SpaceId type) const { return m_adjacencies.placeOf(type); }

    // Returns a structure-only value in the order of an adjacency (owned_rows.h), for an Owned class of its table.
    at::Tensor ownedValue(ir::ValueId value, const ir::RowClass& rows);
    // Returns whether the whole value is already available.
    [[nodiscard]] bool has(ir::ValueId value);
    // Returns a whole value on the CPU: an input, parameter, constant or structure-only value. Raises Internal for any
    // other value before evaluateFeatures(), and for a forgotten input.
    at::Tensor value(ir::ValueId wanted);
    // From now on, value() also evaluates values that depend on features, as the unsplit model does.
    void evaluateFeatures() { m_features = true; }
    // Declares that only `values` will be requested as a whole, and only `owned` in the order of an adjacency. Other
    // computed values are freed after their last consumer has been evaluated, except single numbers and the values that
    // define tables.
    void keep(const std::unordered_set<ir::ValueId>& values, const std::unordered_set<ir::ValueId>& owned = {});
    // Frees computed values with rows, except those that keep() retains. Call it when all values computed from those
    // that it frees exist.
    void dropOthers();
    // Drops the input: from now on, requests for it, or for values that are still to be computed from its elements,
    // raise Internal.
    void forgetInput(ir::ValueId input);
    // Returns the bytes of the tensors computed here, as counted by the allocator, without spilled tensors.
    [[nodiscard]] std::int64_t heldBytes() const;
    // Checks that guards have the same values on the real inputs as on the sample. Also checks that the largest indices
    // agree with the sizes of tables, and that edges are sorted if the model relies on it. Raises Input.
    void checkGuards();

private:
    void bindInputs(const loader::Walk& walk, const base::TensorMap& inputs);
    void bindLeaves(const loader::Walk& walk);
    void takeSizes(ir::ValueId id, const at::Tensor& tensor);
    void takeSize(ir::SpaceId table, std::int64_t rows, const std::string& name);
    std::int64_t countRows(ir::SpaceId space);
    std::int64_t largestKey(ir::SpaceId target);
    void evaluate(const ir::Op& op, ir::ValueId wanted);
    std::optional<at::Tensor> degrees(const ir::Op& op);
    void countConsumers(ir::ValueId id, std::unordered_set<ir::OpId>& seen);
    void release(const ir::Op& op, ir::ValueId wanted);
    at::Tensor dummy(ir::ValueId id);
    void checkStop() const;

    const analysis::Analysis& m_analysis;
    graph::Scratch m_scratch;
    int m_threads;
    std::stop_token m_stop;
    SameValues m_same;  // only the first of equal values is evaluated and kept
    NumberEvaluator m_numbers;
    Caller m_caller;
    std::map<ir::SpaceId, std::int64_t> m_sizes;
    KeyColumns m_columns;
    Adjacencies m_adjacencies;
    std::unordered_map<ir::ValueId, at::Tensor> m_values;
    std::map<std::pair<ir::ValueId, ir::RowClass>, at::Tensor> m_ownedValues;
    std::unordered_map<ir::ValueId, int> m_consumers;
    std::unordered_set<ir::ValueId> m_kept;
    bool m_features = false;
    bool m_numbersFound = false;
    std::recursive_mutex m_mutex;  // making one value requests others
};

}  // namespace hopscope::executor
