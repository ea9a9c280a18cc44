#pragma once

// Describes the selected operator, value, module or stage by facts, or the model if nothing is selected. For an operator
// or a value, also shows the reason for its depth, the reasons for or against a cut, the source, the inputs and the
// users. For a stage, also lists the values that it reads and writes.

#include <QBoxLayout>
#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QTimer>

#include "panels/panels.h"
#include "panels/parts.h"
#include "panels/reasons.h"
#include "panels/source_view.h"

namespace hopscope::panels {

class Inspector : public Panel {
    Q_OBJECT
public:
    Inspector(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

signals:
    void tensorWanted(hopscope::protocol::ValueId value);  // the user asks to see its numbers

private:
    void setupHeader(QBoxLayout& layout);
    void setupReasons(QBoxLayout& layout);
    void setupActions(QBoxLayout& layout);
    void setupNeighbours(QBoxLayout& layout);
    void setupConnections();

    void refresh();  // for the selection
    void showNothing();
    void showOp(protocol::OpId op);
    void showModule(const QString& path);
    void showStage(protocol::StageId stage);
    void showFacts(const std::vector<Fact>& facts);
    void showDepth(protocol::OpId op);
    void showCut(protocol::OpId op);
    void showNeighbours(protocol::OpId op);
    void setSections(bool op, bool lists);
    void askCut();
    void answerCut(const base::Result<protocol::PlanRecord>& answer);
    void askSource();
    void showSource(const base::Result<protocol::SourceLines>& answer);
    void applyPin(base::PinKind kind);
    void showPinMenu();
    void showDecision();
    [[nodiscard]] bool wasDecided() const;
    [[nodiscard]] protocol::OpId selectedOp() const;

    Context m_context;
    QLabel *m_title, *m_path, *m_schema;
    QWidget* m_facts;
    QGridLayout* m_factRows;
    QLabel *m_depthHeading, *m_depthText, *m_cutHeading, *m_cutText, *m_decision, *m_sourceLabel;
    QWidget *m_depth, *m_cut, *m_sourceBox, *m_neighbours;
    LinkLabel *m_hops, *m_producers, *m_consumers;
    QLabel *m_producersHeading, *m_consumersHeading;
    QPushButton *m_store, *m_forbid, *m_more, *m_release, *m_tensor;
    SourceView* m_source;
    CutQuestion m_question;
    QTimer m_ask;  // the engine is queried once the selection has stopped changing
    protocol::OpId m_asked;
};

}  // namespace hopscope::panels
