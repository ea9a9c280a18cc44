#pragma once

// Finds where numbers go wrong, on request: where the staged run and the model part, or the model and another one; what
// makes NaN; what the selected operator computes for some nodes. The operators that are found can be selected, and are.

#include <QComboBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>

#include "jobs/engine_queries.h"
#include "panels/parts.h"
#include "study/finding_table.h"
#include "study/growth_plot.h"
#include "study/study.h"

namespace hopscope::study {

enum class Hunt { Staged, Against, NonFinite, Rows, Messages };

class Debugger : public panels::Panel {
    Q_OBJECT
public:
    Debugger(const panels::Context& context, QWidget* parent);
    ~Debugger() override;  // gives what is under way up
    void setTheme(const style::Theme& theme) override { m_plot->setTheme(theme); }

    void prepare(Hunt hunt);             // chooses what to look for
    void setOther(const QString& file);  // the model to compare with
    void setNodes(const QString& list);  // whose rows or messages are shown: "0, 17"
    void start();
    // The last comparison of this model; none: there has been none.
    [[nodiscard]] const std::optional<schema::DivergenceRecord>& divergence() const { return m_divergence; }
    [[nodiscard]] bool busy() const { return m_request != 0; }

signals:
    void otherModelWanted();  // to be chosen; setOther() takes it
    void compared(const schema::DivergenceRecord& found);
    void finished();  // with findings, or with the reason why there are none

private:
    void setupChoice(QBoxLayout& layout);
    QWidget* setupOptions();
    void setupProgress(QBoxLayout& layout);
    QWidget* setupFindings();
    void connectParts();
    [[nodiscard]] Hunt hunt() const;
    [[nodiscard]] std::int64_t ask();
    [[nodiscard]] std::optional<schema::ToleranceRecord> tolerance() const;
    [[nodiscard]] std::vector<std::int64_t> nodes() const;
    [[nodiscard]] const protocol::OpRecord* selectedOp() const;
    [[nodiscard]] QString missing() const;  // why it cannot start; empty: it can
    [[nodiscard]] QString whatItDoes() const;
    template <class Report>
    void answered(std::int64_t number, const base::Result<Report>& found);
    void show(const schema::DivergenceRecord& found);
    void show(const schema::NonFiniteReport& found);
    void show(const schema::WatchReport& found);
    void showTable(FindingTable table);
    void revealFirst(const std::string& op);
    void cancel();
    void forget();
    void refresh();
    void showProgress(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total);
    void follow(const models::Target& target);

    panels::Context m_context;
    QComboBox* m_what;
    QLineEdit *m_other, *m_absolute, *m_relative, *m_nodes;
    QPushButton *m_browse, *m_start, *m_cancel;
    QWidget *m_otherPart, *m_tolerancePart, *m_nodesPart, *m_found;
    QLabel *m_state, *m_tableTitle;
    panels::ElidedLabel* m_selected;
    QProgressBar* m_progress;
    panels::LinkLabel* m_sentences;
    FindingModel m_findings;
    QTableView* m_table;
    GrowthPlot* m_plot;
    std::int64_t m_request = 0;  // 0: none under way
    std::int64_t m_number = 0;   // of questions: answers to those that were given up are dropped
    std::optional<schema::DivergenceRecord> m_divergence;
    QString m_problem;
};

}  // namespace hopscope::study
