#pragma once

// Shows how the batches of the plan move over the graph, frame by frame. The panel queries the engine for nodes and
// edges only while it is visible, or after prepare().

#include <QComboBox>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>

#include "jobs/engine_queries.h"
#include "panels/parts.h"
#include "study/animation/animation_view.h"
#include "study/study.h"

namespace hopscope::study {

class AnimationPanel : public panels::Panel {
    Q_OBJECT
public:
    AnimationPanel(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override { m_view->setTheme(theme); }
    void setReducedMotion(bool reduced) { m_view->setReducedMotion(reduced); }

    void prepare();  // queries the engine as if the panel were visible
    // Writes the animation in the format of the suffix (animation_export.h). Returns an empty string, or the reason for
    // a failure.
    [[nodiscard]] QString save(const QString& file) const;
    [[nodiscard]] bool busy() const { return m_request != 0; }
    [[nodiscard]] const ShowPtr& show() const { return m_show; }  // null: nothing to show
    [[nodiscard]] AnimationView& view() { return *m_view; }

signals:
    void exportWanted();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QWidget* makeChoice();
    QWidget* makeButtons();
    QWidget* pairOf(QLabel* label, QWidget* named);
    QWidget* makeContent();
    QPushButton* button(const char* name, const QString& text, const QString& spoken, const QString& tip);
    void connectParts();
    void connectButtons();
    [[nodiscard]] bool mayAsk() const;
    [[nodiscard]] QString stateLine() const;
    void forget();
    void planChanged();
    void ask(std::optional<qint64> node);
    void answered(const base::Result<schema::GraphPart>& part);
    void remake();
    void showFrame(int frame);
    void showState();

    panels::Context m_context;
    QLabel *m_state, *m_title, *m_caption, *m_partLine;
    QWidget *m_found, *m_nodePart;
    QSpinBox *m_batch, *m_node;
    QPushButton *m_play, *m_first, *m_back, *m_next, *m_last, *m_other, *m_export;
    QComboBox* m_speed;
    QSlider* m_slider;
    AnimationView* m_view;
    std::optional<schema::GraphPart> m_part;
    models::PlanPtr m_asked;  // the plan that the part was requested for
    ShowPtr m_show;
    std::int64_t m_request = 0;  // 0: none is running
    std::int64_t m_number = 0;   // of the latest query; answers to earlier ones are dropped
    qint64 m_seed = 1;
    QString m_problem;
};

}  // namespace hopscope::study
