#pragma once

// The panels that are lists: problems of the model, and messages of the engine and the window.

#include <QIdentityProxyModel>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTableView>

#include "models/problem_model.h"
#include "panels/panels.h"

namespace hopscope::panels {

// Adds an icon per severity, in the colours of the theme.
class ProblemIcons : public QIdentityProxyModel {
    Q_OBJECT
public:
    void setTheme(const style::Theme& theme) { m_theme = theme; }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

private:
    style::Theme m_theme;
};

class Problems : public Panel {
    Q_OBJECT
public:
    Problems(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void jump(const QModelIndex& index);

    Context m_context;
    models::ProblemModel m_model;
    ProblemIcons m_icons;
    QTableView* m_table;
    QLabel* m_empty;
};

class Log : public Panel {
    Q_OBJECT
public:
    static constexpr int lineLimit = 5000, longestLine = 2000;

    Log(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

private:
    void setupConnections();
    void append(const QString& line);
    void watchRun();
    void appendNotes();

    Context m_context;
    QPlainTextEdit* m_text;
    QMetaObject::Connection m_notes;
    qsizetype m_shownNotes = 0;
};

}  // namespace hopscope::panels
