#include "start_page.h"

#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QResizeEvent>
#include <QVBoxLayout>

#include "graph/formats.h"
#include "panels/parts.h"
#include "study/lessons/lesson.h"
#include "style/icon.h"
#include "two_line_button.h"

namespace hopscope::window {

namespace {

constexpr int cardWidth = 430, gap = 22;
constexpr int shownRecent = 8;

QLabel* label(const QString& text, const char* property, QWidget* parent)
{
    auto* result = new QLabel(text, parent);
    result->setProperty(property, true);
    result->setWordWrap(true);
    return result;
}

QFrame* card(const QString& name, const QString& title, QWidget* parent)
{
    auto* frame = new QFrame(parent);
    frame->setObjectName(name);
    frame->setProperty("card", true);
    frame->setFixedWidth(cardWidth);
    auto* column = new QVBoxLayout(frame);
    column->setContentsMargins(18, 16, 18, 18);
    column->setSpacing(4);
    column->addWidget(label(title, "heading", frame));
    column->addSpacing(6);
    return frame;
}

void clearFrom(QVBoxLayout* column, int first)
{
    while (column->count() > first) {
        QLayoutItem* item = column->takeAt(first);
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
}

}  // namespace

StartPage::StartPage(const QVector<Sample>& samples, QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("startPage"));
    setAttribute(Qt::WA_StyledBackground);
    setupWidgets(samples);
}

void StartPage::setupWidgets(const QVector<Sample>& samples)
{
    auto* content = new QWidget(this);
    m_cards = new QBoxLayout(QBoxLayout::LeftToRight);
    m_cards->setSpacing(gap);
    m_cards->addWidget(samplesCard(samples), 0, Qt::AlignTop);
    m_cards->addWidget(recentCard(), 0, Qt::AlignTop);
    m_headline = headline();
    auto* column = new QVBoxLayout(content);
    column->addStretch(2);
    auto* top = new QHBoxLayout;  // with an alignment it would get the height for its full width
    top->addStretch(1);
    top->addWidget(m_headline);
    top->addStretch(1);
    column->addLayout(top);
    column->addSpacing(26);
    auto* middle = new QHBoxLayout;
    middle->addStretch(1);
    middle->addLayout(m_cards);
    middle->addStretch(1);
    column->addLayout(middle);
    column->addStretch(3);
    QScrollArea* scroll = panels::fillWith(this, content);
    scroll->setObjectName(QStringLiteral("startScroll"));
    scroll->setAccessibleName(tr("Start page"));
}

// In a narrow window the cards are stacked.
void StartPage::resizeEvent(QResizeEvent* event)
{
    constexpr int both = 2 * cardWidth + gap, margins = 40;
    const bool narrow = event->size().width() < both + margins;
    m_cards->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    m_headline->setFixedWidth(narrow ? cardWidth : both);
}

QWidget* StartPage::headline()
{
    auto* box = new QWidget(this);
    auto* picture = new QLabel(box);
    picture->setPixmap(style::applicationIcon().pixmap(72, 72));
    auto* name = label(tr("Hopscope"), "heading", box);
    name->setFont(style::uiFont(23));
    auto* what = label(
        tr("Inspect where a graph neural network can be cut, move the cuts, and run it layer by layer for all nodes."),
        "muted", box);
    auto* open = new QPushButton(tr("Open a model…"), box);
    open->setObjectName(QStringLiteral("startOpen"));
    open->setAccessibleName(tr("Open a model"));
    open->setProperty("primary", true);
    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    auto* words = new QVBoxLayout;
    words->addWidget(name);
    words->addWidget(what);
    auto* row = new QHBoxLayout(box);
    row->setSpacing(18);
    row->addWidget(picture);
    row->addLayout(words, 1);
    auto* buttons = new QVBoxLayout;
    buttons->addWidget(open);
    buttons->addWidget(lessonsButton(box));
    row->addLayout(buttons);
    return box;
}

QWidget* StartPage::lessonsButton(QWidget* parent)
{
    auto* button = new QPushButton(tr("Lessons") + QStringLiteral(" \u25be"), parent);
    button->setObjectName(QStringLiteral("startLessons"));
    button->setAccessibleName(tr("Lessons"));
    button->setToolTip(tr("Guided tours of layer-wise inference on the samples"));
    auto* menu = new QMenu(button);
    menu->setObjectName(QStringLiteral("menu.lessons"));
    for (const study::Lesson& lesson : study::bundledLessons())
        connect(menu->addAction(tr("%1 (%2 minutes)").arg(lesson.title).arg(lesson.minutes)), &QAction::triggered, this,
                [this, id = lesson.id] { emit lessonChosen(id); });
    button->setMenu(menu);
    return button;
}

QWidget* StartPage::samplesCard(const QVector<Sample>& samples)
{
    QFrame* frame = card(QStringLiteral("samplesCard"), tr("Samples"), this);
    for (const Sample& sample : samples) {
        auto* button = new TwoLineButton(sample.title, sample.text, frame);
        button->setObjectName(QStringLiteral("sample.%1").arg(sample.title));
        connect(button, &QPushButton::clicked, this, [this, sample] { emit sampleChosen(sample); });
        frame->layout()->addWidget(button);
    }
    if (samples.isEmpty()) frame->layout()->addWidget(label(tr("The samples are not installed."), "muted", frame));
    return frame;
}

QWidget* StartPage::recentCard()
{
    QFrame* frame = card(QStringLiteral("recentCard"), tr("Recent"), this);
    m_recent = new QVBoxLayout;
    m_recent->setSpacing(4);
    static_cast<QVBoxLayout*>(frame->layout())->addLayout(m_recent);
    static_cast<QVBoxLayout*>(frame->layout())->addSpacing(10);
    frame->layout()->addWidget(
        label(tr("Or drop a model (.pt, .pt2) with its data, or a session (.hopscope), anywhere on this page. "
                 "hopscope.save writes models from Python, as do torch.jit.save and torch.export.save; data are the "
                 "arguments of "
                 "forward, as %1 files.")
                  .arg(QString::fromStdString(graph::listSuffixes())),
              "muted", frame));
    setRecent({});
    return frame;
}

void StartPage::setRecent(const QVector<RecentFile>& recent)
{
    clearFrom(m_recent, 0);
    for (const RecentFile& entry : recent.first(std::min<qsizetype>(recent.size(), shownRecent))) {
        const QFileInfo info(entry.file);
        auto* button = new TwoLineButton(info.fileName(), info.path(), this);
        button->setObjectName(QStringLiteral("recent.%1").arg(info.fileName()));
        button->setToolTip(entry.file);
        connect(button, &QPushButton::clicked, this, [this, entry] { emit recentChosen(entry); });
        m_recent->addWidget(button);
    }
    if (recent.isEmpty()) m_recent->addWidget(label(tr("No recent files."), "muted", this));
}

}  // namespace hopscope::window
