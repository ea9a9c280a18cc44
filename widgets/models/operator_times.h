#pragma once

// The measured times of operators in a run, taken from its report.

#include <QtGlobal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/report.h"

namespace hopscope::models {

class OperatorTimes {
public:
    // The total for some operators. A pass that computed several of them counts once, and as a whole.
    struct Sum {
        double seconds = 0;
        qint64 bytes = 0;                 // size of the largest result of a pass in a batch
        std::vector<std::string> others;  // ids of operators not asked for that the same passes computed
    };

    // `report` must outlive this object.
    explicit OperatorTimes(const schema::Report& report);

    // Returns the sum for operators by id ("op12"); nullopt if none of them was measured, as on a GPU and in older
    // reports.
    [[nodiscard]] std::optional<Sum> of(const std::vector<std::string>& operators) const;

private:
    std::vector<const schema::OperatorTimeRecord*> m_passes;
    std::map<std::string, std::vector<std::size_t>> m_passesOf;  // by operator, ascending
};

}  // namespace hopscope::models
