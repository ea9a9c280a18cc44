#pragma once

// Widgets over the graph or below it: legend, minimap and search field. Their owners set their contents; they keep no
// state of their own.

#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QWidget>

#include "graphview/scene/camera.h"
#include "graphview/scene/colours.h"

namespace hopscope::graphview {

// An opaque panel with rounded corners.
class Card : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;
    void setTheme(const style::Theme& theme);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    style::Theme m_theme;
};

// Explains the colours, in as many rows as they need, and then as many of the signs as fit.
class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget* parent = nullptr);
    // Tells which signs occur in the picture.
    struct Signs {
        bool stores = false, again = false, pins = false;
        bool breakpoints = false, inside = false;  // of nodes; inside folded boxes and bands
    };
    void display(const Colouring& colouring, const style::Theme& theme, Signs signs);
    void clear();
    [[nodiscard]] QSize sizeHint() const override { return {400, heightForWidth(400)}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {60, rowHeight}; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] int leastRow() const;  // the width of all colours in one row; 0 if there are none

    static constexpr int rowHeight = 26;

    [[nodiscard]] QString wordsAt(QPoint at) const;  // the title of the colours, or the name of a sign; empty: none

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    struct PlacedSign;
    [[nodiscard]] std::vector<PlacedSign> placedSigns() const;
    [[nodiscard]] std::vector<QRect> chips(int width) const;  // the rectangles of the colours
    void paintEntries(QPainter& painter, const std::vector<QRect>& places);
    void paintSigns(QPainter& painter);

    Colouring m_colouring;
    style::Theme m_theme;
    Signs m_signs;
};

class Minimap : public QWidget {
    Q_OBJECT
public:
    explicit Minimap(QWidget* parent = nullptr);
    void display(ScenePtr scene, const Colouring& colouring, const style::Theme& theme);
    void follow(const QRectF& seen);  // the visible area, in scene coordinates

signals:
    void jumped(QPointF scene);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    [[nodiscard]] Camera camera() const;

    ScenePtr m_scene;
    style::Theme m_theme;
    QImage m_picture;
    QRectF m_seen;
};

class SearchBar : public Card {
    Q_OBJECT
public:
    explicit SearchBar(QWidget* parent = nullptr);
    void open();
    void setResult(int position, int count);  // 1-based; 0 of 0: nothing found
    [[nodiscard]] QString query() const { return m_field->text(); }

signals:
    void queryChanged(const QString& query);
    void stepped(int direction);  // +1, -1
    void closed();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void setupWidgets();
    QToolButton* addButton(const char* name, const QString& text, const QString& tip);

    QLineEdit* m_field;
    QLabel* m_count;
};

}  // namespace hopscope::graphview
