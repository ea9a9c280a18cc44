#pragma once

// Private to executor: hands rows of stores to other processes and takes theirs over, for a process with an Ownership.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/halo.h"

namespace hopscope::executor {

class Exchange {
public:
    Exchange(Session& session, const StagePrograms& programs, const OwnedRanges& ranges, int owner);

    // What this process needs of others, in parcels of at most 128 MB, whose lists are files in the folder of the run.
    // Looked for at the first call, see Halo.
    const std::vector<WantedRows>& wanted();
    // The rows that this process computes itself, likewise.
    const std::vector<WantedRows>& own();
    // Writes the rows to the file. Raises Usage if this process has not computed them.
    RowParcel exportRows(RowParcel parcel);
    // Raises Input if the file is not what was handed over; without a digest, if it has another size.
    RowParcel importRows(RowParcel parcel);
    // Whether all is here that this process needs of a stage.
    bool complete(plan::StageId stage);

private:
    using Parcels = std::vector<WantedRows>;
    void cut(const HaloRows& halo, const std::string& kind, Parcels& parcels);
    Store& storeOf(const RowParcel& parcel);

    Session& m_session;
    const StagePrograms& m_programs;
    const OwnedRanges& m_ranges;
    int m_owner;
    bool m_looked = false;
    Parcels m_wanted;
    std::optional<Parcels> m_own;
    std::set<std::string> m_missing;  // lists
};

}  // namespace hopscope::executor
