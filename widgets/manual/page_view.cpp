#include "manual/page_view.h"

#include <QDesktopServices>
#include <QImageReader>
#include <QPointer>
#include <QScrollBar>
#include <QTextFrame>
#include <algorithm>

#include "manual/page_style.h"

namespace hopscope::manual {

namespace {

constexpr int columnWidth = 780, leastMargin = 22;

}  // namespace

PageView::PageView(QWidget* parent) : QTextBrowser(parent), m_theme(style::loadTheme(style::Mode::Light))
{
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    connect(this, &QTextBrowser::anchorClicked, this, &PageView::follow);
}

void PageView::open(const Place& place)
{
    if (canGo(0)) m_way[m_at].scrolled = verticalScrollBar()->value();
    m_way.resize(m_at + 1);
    m_way.append({.place = exists(place.page) ? place : Place{contents().first().page, {}}});
    m_at = m_way.size() - 1;
    showVisit(m_way.last());
}

bool PageView::canGo(int steps) const { return m_at + steps >= 0 && m_at + steps < m_way.size(); }

void PageView::go(int steps)
{
    if (!canGo(steps)) return;
    m_way[m_at].scrolled = verticalScrollBar()->value();
    m_at += steps;
    showVisit(m_way[m_at]);
    verticalScrollBar()->setValue(m_way[m_at].scrolled);
}

void PageView::follow(const QUrl& link)
{
    const auto place = resolved(m_place.page, link.toString());
    if (place) open(*place);
    else QDesktopServices::openUrl(link);
}

void PageView::showVisit(const Visit& visit)
{
    m_place = visit.place;
    if (m_read != m_place.page) read(m_place.page);
    verticalScrollBar()->setValue(0);
    if (!m_place.heading.isEmpty()) scrollToAnchor(m_place.heading);
    emit placeChanged(m_place);
}

// A new document, without the pictures of the page before.
void PageView::read(const QString& page)
{
    m_read = page;
    const QPointer<QTextDocument> before = document();  // setDocument deletes the one that the browser made itself
    auto* made = new QTextDocument(this);
    made->setUndoRedoEnabled(false);
    made->setDefaultFont(style::uiFont(10));
    made->setMarkdown(markdown(page), QTextDocument::MarkdownDialectGitHub);
    setLooks(*made, m_theme, [&](const QString& link) { return link.contains(u':') || resolved(page, link); });
    setExtraSelections({});
    setDocument(made);
    if (before) before->deleteLater();
    setMargins();
    mark();
}

void PageView::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    if (m_read.isEmpty()) return;
    const int scrolled = verticalScrollBar()->value();
    read(m_read);
    verticalScrollBar()->setValue(scrolled);
}

// Pictures are scaled to the width of the text, for the resolution of the screen.
QVariant PageView::loadResource(int type, const QUrl& name)
{
    if (type != QTextDocument::ImageResource) return {};
    const QString file = pictureFile(m_read, name.toString(), m_theme.dark);
    QImageReader reader(file);
    const bool drawing = file.endsWith(u".svg");
    const double ratio = devicePixelRatioF();
    const int room = static_cast<int>(std::min(columnWidth, width() - 2 * leastMargin) * ratio);
    QSize size = drawing ? reader.size() * ratio : reader.size();
    if (size.width() > room) size = size.scaled(room, size.height(), Qt::KeepAspectRatio);
    if (drawing) reader.setScaledSize(size);
    QImage picture = reader.read().scaled(size, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
    picture.setDevicePixelRatio(ratio);
    return picture;
}

void PageView::resizeEvent(QResizeEvent* event)
{
    QTextBrowser::resizeEvent(event);
    setMargins();
}

// A column in the middle that is not wider than a line that is easy to read.
void PageView::setMargins()
{
    const int margin = std::max(leastMargin, (viewport()->width() - columnWidth) / 2);
    QTextFrameFormat format = document()->rootFrame()->frameFormat();
    if (format.leftMargin() == margin) return;
    format.setMargin(leastMargin);
    format.setLeftMargin(margin);
    format.setRightMargin(margin);
    document()->rootFrame()->setFrameFormat(format);
}

void PageView::setMarked(const QString& words)
{
    m_marked = words;
    mark();
}

void PageView::mark()
{
    QList<ExtraSelection> found;
    QTextCharFormat format;
    format.setBackground(m_theme.sourceLine);
    for (QTextCursor at(document()); !m_marked.isEmpty();) {
        at = document()->find(m_marked, at);
        if (at.isNull()) break;
        found.append({.cursor = at, .format = format});
    }
    setExtraSelections(found);
}

}  // namespace hopscope::manual
