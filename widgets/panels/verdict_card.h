#pragma once

// Shows the result of verifying a run: one clear line, and a table of the differences.

#include <QFrame>
#include <QTableView>

#include "models/document.h"
#include "models/table_model.h"
#include "protocol/model.h"
#include "schema/report.h"
#include "style/theme.h"

class QLabel;

namespace hopscope::panels {

struct ShownVerdict {
    std::optional<schema::Verdict> kind;  // none: the run was not verified
    QString headline;                     // "Equal: 2,708 of 2,708 rows, largest difference 3e-07"
    QString detail;                       // how the results were compared, and the tolerance
    bool finite = true;                   // false: some results are NaN or infinite
    [[nodiscard]] bool good() const { return kind == schema::Verdict::Equal && finite; }
    bool operator==(const ShownVerdict&) const = default;
};

ShownVerdict verdictOf(const schema::Report& report);
// Returns "good", "warning" or "bad", as the style sheet colours it; empty if the run was not verified and no result is
// known to be NaN or infinite.
QString toneOf(const ShownVerdict& verdict);
QColor colourOf(const ShownVerdict& verdict, const style::Theme& theme);

struct DifferenceRow {
    QString name;
    bool checkpoint = false;
    std::int64_t rows = 0, different = 0, notFinite = 0;
    double absolute = 0, relative = 0;
};
enum class DifferenceColumn { Name, Rows, Different, Absolute, Relative, NotFinite, Count };

class DifferenceModel : public models::TableModel<DifferenceRow, DifferenceColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const DifferenceRow& row, DifferenceColumn column, int role) const override;
    [[nodiscard]] QVariant header(DifferenceColumn column, int role) const override;
    [[nodiscard]] bool isNumber(DifferenceColumn column) const override { return column != DifferenceColumn::Name; }
};

class VerdictCard : public QFrame {
    Q_OBJECT
public:
    explicit VerdictCard(QWidget* parent = nullptr);
    // Shows a run, or none if `run` is null because no run has finished. The model names the stored values if it is the
    // one that was run.
    void setRun(const models::FinishedRun* run, const protocol::ModelRecord* model = nullptr);
    void setTheme(const style::Theme& theme);
    [[nodiscard]] const ShownVerdict& verdict() const { return m_verdict; }

private:
    void colour();

    QLabel *m_headline, *m_detail;
    QTableView* m_table;
    DifferenceModel m_model;
    ShownVerdict m_verdict;
    style::Theme m_theme;
};

}  // namespace hopscope::panels
