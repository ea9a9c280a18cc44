#pragma once

// The table of problems: diagnostics and notes of the model, and the reason why the last change was refused.

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

struct ProblemRow {
    enum class Severity { Error, Warning, Note };
    Severity severity = Severity::Note;
    QString code, message, hint, place;
    protocol::OpId op;
};

// Returns the refusal first, then diagnostics, then notes. Errors are the refusal, and the diagnostic that prevents
// splitting the model.
std::vector<ProblemRow> problemRows(const protocol::ModelRecord* model, const QString& refusal);

// Returns the diagnostic that prevents splitting the model, which owns it; null if the model can be split.
const protocol::LintRecord* blockingLint(const protocol::ModelRecord& model);

// Returns true if the user has not agreed to run the model's code, so that it is only drawn.
bool isUntrusted(const protocol::ModelRecord& model);

// States briefly why there is no plan: the model has not been run, does not run on the data, or cannot be split.
QString refusalTitle(const protocol::ModelRecord& model);

enum class ProblemColumn { Message, Place, Count };

class ProblemModel : public TableModel<ProblemRow, ProblemColumn> {
    Q_OBJECT
public:
    static constexpr int SeverityRole = Qt::UserRole + 40;  // int of ProblemRow::Severity
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const ProblemRow& row, ProblemColumn column, int role) const override;
    [[nodiscard]] QVariant header(ProblemColumn column, int role) const override;
    [[nodiscard]] bool isNumber(ProblemColumn) const override { return false; }
};

}  // namespace hopscope::models
