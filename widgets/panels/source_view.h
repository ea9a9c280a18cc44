#pragma once

// Shows source text with line numbers and one marked line.

#include <QPlainTextEdit>

#include "style/theme.h"

namespace hopscope::panels {

class SourceView : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit SourceView(QWidget* parent = nullptr);

    void setSource(const QString& text, int firstLine, int line);  // line 0: no line is marked
    void setTheme(const style::Theme& theme);
    [[nodiscard]] int markedLine() const { return m_line; }
    [[nodiscard]] QString numberOf(int block) const { return QString::number(m_firstLine + block); }

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void mark();
    void paintNumbers();
    [[nodiscard]] int marginWidth() const;

    QWidget* m_margin;
    style::Theme m_theme;
    int m_firstLine = 1, m_line = 0;
};

}  // namespace hopscope::panels
