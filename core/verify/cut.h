#pragma once

// Restricts the inputs to a neighbourhood. The result is the induced subgraph, with rows in ascending order, edges in
// input order and renumbered node ids.

#include <string>
#include <vector>

#include "base/result.h"
#include "verify/neighbourhood.h"

namespace hopscope::verify {

// Writes inputs that are restricted to neighbourhoods.
class Cutter {
public:
    // `used`: the data keys to write. `folder`: for scratch files. Arguments passed by reference must outlive the
    // object.
    Cutter(const analysis::Analysis& analysis, const Structure& structure, const analysis::InputSchema& schema,
           const base::TensorMap& inputs, std::vector<std::string> used, std::string folder);

    // Writes the inputs restricted to `rows` to a .safetensors file. Linear in the sizes of the tables and of the file.
    base::Status write(const Neighbourhood& rows, const std::string& path);
    // Returns the number of a row in the inputs that write() has written last.
    [[nodiscard]] std::int64_t position(ir::SpaceId table, std::int64_t row) const;

private:
    struct Table {
        std::shared_ptr<std::byte> rowBytes, positionBytes;
        std::int64_t* rows = nullptr;       // the rows of the neighbourhood, ascending
        std::int64_t* positions = nullptr;  // by row
        std::int64_t count = 0;
    };
    base::Status list(const Neighbourhood& rows);
    base::Status listTable(ir::SpaceId table, const Neighbourhood& rows);
    [[nodiscard]] std::vector<ir::SpaceId> dims(const std::string& input) const;
    [[nodiscard]] std::vector<std::int64_t> shape(const std::string& input) const;
    void copy(const std::string& input, std::byte* out) const;
    void copySlices(const base::TensorView& view, const std::vector<ir::SpaceId>& labels, std::size_t dim,
                    const std::byte* from, std::byte*& out) const;
    void copyOffsets(const Link& link, std::byte* out) const;
    void copyIds(const Link& link, std::byte* out) const;
    bool copySize(const std::string& input, std::byte* out) const;

    const analysis::Analysis& m_analysis;
    const Structure& m_structure;
    const analysis::InputSchema& m_schema;
    const base::TensorMap& m_inputs;
    std::vector<std::string> m_used;
    std::string m_folder;
    std::map<ir::SpaceId, Table> m_tables;
};

}  // namespace hopscope::verify
