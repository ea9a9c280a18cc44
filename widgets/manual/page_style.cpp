#include "manual/page_style.h"

#include <QTextBlock>
#include <QTextCursor>
#include <QTextFragment>
#include <QTextList>
#include <QTextTable>

#include "manual/pages.h"

namespace hopscope::manual {

namespace {

using Leads = std::function<bool(const QString&)>;

bool isCode(const QTextBlock& block) { return block.blockFormat().hasProperty(QTextFormat::BlockCodeFence); }

class Looks {
public:
    Looks(QTextDocument& document, const style::Theme& theme, const Leads& leads)
        : m_document(document),
          m_theme(theme),
          m_leads(leads),
          m_mono(style::monoFont())
    {}

    void apply()
    {
        QTextCursor all(&m_document);
        all.beginEditBlock();
        for (QTextTable* table : tables()) joinFirstCell(*table);
        for (QTextBlock block = m_document.begin(); block.isValid(); block = block.next()) setBlock(block);
        for (QTextTable* table : tables()) setTable(*table);
        frameCode();
        all.endEditBlock();
    }

private:
    [[nodiscard]] QVector<QTextTable*> tables() const
    {
        QVector<QTextTable*> found;
        for (QTextFrame* frame : m_document.rootFrame()->childFrames())
            if (auto* table = qobject_cast<QTextTable*>(frame)) found.append(table);
        return found;
    }

    // The reader of Markdown puts an empty line into the first cell of a table that follows code.
    void joinFirstCell(const QTextTable& table)
    {
        QTextCursor cursor = table.cellAt(0, 0).firstCursorPosition();
        if (cursor.block().length() == 1 && cursor.position() < table.cellAt(0, 0).lastPosition()) cursor.deleteChar();
    }

    void setBlock(const QTextBlock& block)
    {
        const int level = block.blockFormat().headingLevel();
        const bool cell = QTextCursor(block).currentTable() != nullptr;
        QTextBlockFormat format;
        format.setTopMargin(level == 0 ? 0 : level == 1 ? 4 : level == 2 ? 20 : 14);
        format.setBottomMargin(cell || isCode(block) ? 0 : level > 0 ? 6 : block.textList() != nullptr ? 5 : 10);
        format.setLineHeight(level > 0 ? 115 : isCode(block) ? 125 : 135, QTextBlockFormat::ProportionalHeight);
        if (isCode(block)) format.setNonBreakableLines(false);  // no page is wider than the window
        QTextCursor(block).mergeBlockFormat(format);
        setFragments(block);
        if (level > 0) setHeading(block);
    }

    void setHeading(const QTextBlock& block)
    {
        QTextCharFormat format;  // the sizes are those of the reader of Markdown
        format.setFontWeight(QFont::DemiBold);
        select(block.position(), block.length() - 1).mergeCharFormat(format);
        QTextCharFormat named;
        named.setAnchor(true);
        named.setAnchorNames({anchorOf(block.text())});
        select(block.position(), 1).mergeCharFormat(named);
    }

    // Formats change the fragments, so they are collected first.
    void setFragments(const QTextBlock& block)
    {
        QVector<QTextFragment> fragments;
        for (auto at = block.begin(); !at.atEnd(); ++at) fragments.append(at.fragment());
        for (const QTextFragment& fragment : fragments) {
            const QTextCharFormat before = fragment.charFormat();
            QTextCharFormat format;
            if (before.isAnchor()) setLink(format, before.anchorHref());
            if (before.fontFixedPitch() || isCode(block)) setCode(format, !isCode(block));
            if (format.propertyCount() > 0) select(fragment.position(), fragment.length()).mergeCharFormat(format);
        }
    }

    void setLink(QTextCharFormat& format, const QString& target)
    {
        const bool leads = m_leads(target);
        format.setAnchor(leads);
        format.setAnchorHref(leads ? target : QString());
        format.setForeground(leads ? m_theme.accent : m_theme.text);
        format.setFontUnderline(false);
    }

    void setCode(QTextCharFormat& format, bool inLine)
    {
        format.setFontFamilies(m_mono.families());
        format.setFontFixedPitch(true);
        format.setFontPointSize(m_document.defaultFont().pointSizeF() * 0.92);
        if (inLine) format.setBackground(m_theme.raised);
    }

    void setTable(QTextTable& table)
    {
        QTextTableFormat format = table.format();
        format.setBorder(0);
        format.setBorderCollapse(true);
        format.setCellSpacing(0);
        format.setCellPadding(0);
        format.setTopMargin(4);
        format.setBottomMargin(14);
        format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        table.setFormat(format);
        for (int row = 0; row < table.rows(); ++row)
            for (int column = 0; column < table.columns(); ++column) setCell(table.cellAt(row, column), row == 0);
    }

    void setCell(QTextTableCell cell, bool header)
    {
        QTextTableCellFormat format = cell.format().toTableCellFormat();
        format.setBottomBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBottomBorderBrush(header ? m_theme.nodeBorder : m_theme.border);
        format.setBottomBorder(1);
        format.setTopPadding(4);
        format.setBottomPadding(4);
        format.setLeftPadding(6);
        format.setRightPadding(10);
        cell.setFormat(format);
        if (!header) return;
        QTextCharFormat text;
        text.setFontWeight(QFont::DemiBold);
        text.setForeground(m_theme.textMuted);
        select(cell.firstPosition(), cell.lastPosition() - cell.firstPosition()).mergeCharFormat(text);
    }

    // Lines of code that follow each other get a common frame; from the end, as frames move what follows them.
    void frameCode()
    {
        QVector<std::pair<int, int>> parts;
        for (QTextBlock block = m_document.begin(); block.isValid(); block = block.next()) {
            if (!isCode(block)) continue;
            if (!isCode(block.previous())) parts.append({block.position(), 0});
            parts.last().second = block.position() + block.length() - 1;
        }
        QTextFrameFormat format;
        format.setBackground(m_theme.raised);
        format.setBorder(1);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderBrush(m_theme.border);
        format.setPadding(9);
        format.setTopMargin(2);
        format.setBottomMargin(10);
        for (; !parts.isEmpty(); parts.removeLast()) {
            const auto [begin, end] = parts.last();
            const QTextBlockFormat lines = m_document.findBlock(begin).blockFormat();
            const QTextFrame* frame = select(begin, end - begin).insertFrame(format);
            frame->firstCursorPosition().setBlockFormat(lines);  // a frame does not keep that of its first line
            flatten(frame->firstPosition() - 1);
            flatten(frame->lastPosition() + 1);
        }
    }

    // The empty lines that a frame leaves before and after itself take no room.
    void flatten(int position)
    {
        const QTextBlock block = m_document.findBlock(position);
        if (block.length() > 1) return;
        QTextBlockFormat format;
        format.setLineHeight(1, QTextBlockFormat::FixedHeight);
        QTextCursor(block).setBlockFormat(format);
    }

    QTextCursor select(int position, int length)
    {
        QTextCursor cursor(&m_document);
        cursor.setPosition(position);
        cursor.setPosition(position + length, QTextCursor::KeepAnchor);
        return cursor;
    }

    QTextDocument& m_document;
    const style::Theme& m_theme;
    const Leads& m_leads;
    QFont m_mono;
};

}  // namespace

void setLooks(QTextDocument& document, const style::Theme& theme, const Leads& leads)
{
    Looks(document, theme, leads).apply();
}

}  // namespace hopscope::manual
