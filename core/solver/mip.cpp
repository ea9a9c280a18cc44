#include "solver/mip.h"

namespace hopscope::solver {

int Problem::addColumn(double columnCost, double low, double high, bool isInteger)
{
    cost.push_back(columnCost);
    lower.push_back(low);
    upper.push_back(high);
    integer.push_back(isInteger ? 1 : 0);
    return columns() - 1;
}

void Problem::term(int column, double value)
{
    termColumn.push_back(column);
    termValue.push_back(value);
}

void Problem::closeRow(double low, double high)
{
    rowLower.push_back(low);
    rowUpper.push_back(high);
    rowStart.push_back(static_cast<std::int32_t>(termColumn.size()));
}

}  // namespace hopscope::solver
