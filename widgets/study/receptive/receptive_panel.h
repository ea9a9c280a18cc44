#pragma once

// Shows the receptive field of a node as a picture, a table and sentences, compares node-wise with layer-wise inference,
// and lists the rows and edges of a hop by their numbers in the data. The panel queries the engine only while it is
// visible, or for look().

#include <QComboBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>

#include "jobs/engine_queries.h"
#include "panels/parts.h"
#include "study/receptive/explosion_plot.h"
#include "study/receptive/field_flow.h"
#include "study/receptive/field_model.h"
#include "study/study.h"

namespace hopscope::study {

class Receptive : public panels::Panel {
    Q_OBJECT
public:
    Receptive(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

    void look(qint64 node);  // shows the field of the node
    [[nodiscard]] bool busy() const { return m_request != 0 || m_average != 0; }
    [[nodiscard]] const std::shared_ptr<const schema::ReceptiveField>& field() const { return m_field; }  // may be null

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    using FieldPtr = std::shared_ptr<const schema::ReceptiveField>;

    QLayout* makeChoice();
    QWidget* makeContent();
    QWidget* makeExplosion(QWidget* parent);
    void connectParts();
    void modelChanged();
    void engineBack();
    void ask(const jobs::FieldQuestion& question);
    void askForNode();
    void askForRandom();
    void answered(const base::Result<schema::ReceptiveField>& field);
    void averaged(const base::Result<schema::ReceptiveField>& field);
    void askForAverage();
    void cancel();
    void show(FieldPtr field);
    void showLevel(int level);
    [[nodiscard]] bool mayAsk() const;
    [[nodiscard]] QString stateLine() const;

    panels::Context m_context;
    QSpinBox* m_node;
    QComboBox* m_table;
    QPushButton* m_random;
    QLabel *m_state, *m_meaning, *m_levelTitle;
    QWidget *m_found, *m_explosion;
    FieldFlow* m_flow;
    FieldModel m_rows;
    QTableView* m_rounds;
    QPlainTextEdit* m_numbers;
    ExplosionPlot* m_plot;
    QLabel* m_averages;
    FieldPtr m_field;  // includes averages once they are known
    schema::FieldExplosion m_known;
    std::int64_t m_request = 0, m_average = 0;  // 0: none is running
    std::int64_t m_number = 0;                  // of the latest query; answers to earlier ones are dropped
    qint64 m_seed = 1;
    const void* m_model = nullptr;  // the model of the last query
    QString m_problem;
};

}  // namespace hopscope::study
