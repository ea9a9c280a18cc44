#pragma once

// The measured time of operators in a run, from its report.

#include <QtGlobal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/report.h"

namespace hopscope::models {

class OperatorTimes {
public:
    // The total for some operators. A pass that computed several of them counts as a whole, and once.
    struct Sum {
        double seconds = 0;
        qint64 bytes = 0;                 // size of the largest result in a batch
        std::vector<std::string> others;  // operators outside that were computed in the same passes, by id
    };

    // `report` must outlive this object.
    explicit OperatorTimes(const schema::Report& report);

    // The sum for operators by id ("op12"); nullopt if none of them was measured, as on a GPU and in older reports.
    [[nodiscard]] std::optional<Sum> of(const std::vector<std::string>& operators) const;

private:
    std::vector<const schema::OperatorTimeRecord*> m_passes;
    std::map<std::string, std::vector<std::size_t>> m_passesOf;  // by operator, ascending
};

}  // namespace hopscope::models
