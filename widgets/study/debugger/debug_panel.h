#pragma once

// Looks for numerical errors on request: the first operator at which the staged run differs from the model, or the model
// from another one, or the origin of NaN and infinity. Selects that operator: of the origins, the first that reaches an
// output. Also shows the results of the selected operator, or the messages that it aggregates, for some nodes.

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

#include "jobs/engine_queries.h"
#include "panels/parts.h"
#include "study/common/inquiry.h"
#include "study/debugger/finding_table.h"
#include "study/debugger/growth_plot.h"
#include "study/study.h"

namespace hopscope::study {

enum class Hunt { Staged, Against, NonFinite, Rows, Messages };

class Debugger : public panels::Panel {
    Q_OBJECT
public:
    Debugger(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override { m_plot->setTheme(theme); }

    void prepare(Hunt hunt);             // chooses what to look for
    void setOther(const QString& file);  // the model to compare with
    void setNodes(const QString& list);  // the nodes whose rows or messages are shown: "0, 17"
    void start();
    // Returns the last comparison of this model; none if there has been none.
    [[nodiscard]] const std::optional<schema::DivergenceRecord>& divergence() const { return m_divergence; }
    [[nodiscard]] bool busy() const { return m_inquiry->busy(); }

signals:
    void otherModelWanted();  // the user is to choose a file for setOther()
    void compared(const schema::DivergenceRecord& found);
    void finished();  // with findings, or with the reason why there are none

private:
    void setupChoice(QBoxLayout& layout);
    QWidget* setupOptions();
    QWidget* setupFindings();
    void connectParts();
    [[nodiscard]] Hunt hunt() const;
    [[nodiscard]] std::int64_t ask();
    [[nodiscard]] std::optional<schema::ToleranceRecord> tolerance() const;
    [[nodiscard]] const protocol::OpRecord* selectedOp() const;
    [[nodiscard]] QString missing() const;  // why it cannot start; empty if it can
    [[nodiscard]] QString whatItDoes() const;
    void show(const schema::DivergenceRecord& found);
    void show(const schema::NonFiniteReport& found);
    void show(const schema::WatchReport& found);
    void showTable(FindingTable table);
    void revealFirst(ir::OpId op);
    void forget();
    void refresh();
    void follow(const models::Target& target);

    panels::Context m_context;
    QComboBox* m_what;
    QLineEdit *m_other, *m_absolute, *m_relative, *m_nodes;
    QPushButton *m_browse, *m_start;
    QWidget *m_otherPart, *m_tolerancePart, *m_nodesPart, *m_found;
    QLabel* m_tableTitle;
    panels::ElidedLabel* m_selected;
    Inquiry* m_inquiry;
    panels::LinkLabel* m_sentences;
    FindingModel m_findings;
    QTableView* m_table;
    GrowthPlot* m_plot;
    std::optional<schema::DivergenceRecord> m_divergence;
};

}  // namespace hopscope::study
