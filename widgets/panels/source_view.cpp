#include "panels/source_view.h"

#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>

namespace hopscope::panels {

namespace {

constexpr int marginGap = 10;

}  // namespace

SourceView::SourceView(QWidget* parent) : QPlainTextEdit(parent), m_margin(new QWidget(this))
{
    setObjectName(QStringLiteral("source"));
    setAccessibleName(tr("Source around the operator"));
    setReadOnly(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    m_margin->installEventFilter(this);
    connect(this, &QPlainTextEdit::updateRequest, m_margin, [this] { m_margin->update(); });
}

void SourceView::setSource(const QString& text, int firstLine, int line)
{
    m_firstLine = firstLine;
    m_line = line;
    setPlainText(text);
    setViewportMargins(marginWidth(), 0, 0, 0);
    resizeEvent(nullptr);
    mark();
}

void SourceView::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    setFont(style::monoFont());
    setViewportMargins(marginWidth(), 0, 0, 0);
    mark();
}

// Shows the marked line in the upper third, over the whole width.
void SourceView::mark()
{
    const QTextBlock block = document()->findBlockByNumber(m_line - m_firstLine);
    if (m_line <= 0 || !block.isValid()) return setExtraSelections({});
    QTextEdit::ExtraSelection line;
    line.cursor = QTextCursor(block);
    line.format.setBackground(m_theme.sourceLine);
    line.format.setProperty(QTextFormat::FullWidthSelection, true);
    setExtraSelections({line});
    const int lines = viewport()->height() / std::max(1, fontMetrics().lineSpacing());
    verticalScrollBar()->setValue(std::max(0, block.blockNumber() - lines / 3));
}

int SourceView::marginWidth() const
{
    const QString last = numberOf(std::max(0, blockCount() - 1));
    return fontMetrics().horizontalAdvance(last) + 2 * marginGap;
}

void SourceView::resizeEvent(QResizeEvent* event)
{
    if (event != nullptr) QPlainTextEdit::resizeEvent(event);
    const QRect inside = contentsRect();
    m_margin->setGeometry(inside.left(), inside.top(), marginWidth(), inside.height());
    if (event != nullptr) mark();
}

bool SourceView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_margin || event->type() != QEvent::Paint) return QPlainTextEdit::eventFilter(watched, event);
    paintNumbers();
    return true;
}

void SourceView::paintNumbers()
{
    QPainter painter(m_margin);
    painter.setFont(font());
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF place = blockBoundingGeometry(block).translated(contentOffset());
        if (place.top() > m_margin->height()) break;
        const QRectF line(0, place.top(), m_margin->width(), place.height());
        if (m_firstLine + block.blockNumber() == m_line) painter.fillRect(line, m_theme.sourceLine);
        painter.setPen(m_theme.textMuted);
        painter.drawText(line.adjusted(0, 0, -marginGap, 0), Qt::AlignRight | Qt::AlignVCenter,
                         numberOf(block.blockNumber()));
    }
}

}  // namespace hopscope::panels
