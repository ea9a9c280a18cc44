#include "style/sheet.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

namespace hopscope::style {

namespace {

// Colours are written as @name, which is replaced below.
const char* const frameRules = R"(
QMainWindow, QDialog { background: @window; }
QMainWindow::separator { background: @border; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @accent; }
QMenuBar { background: @raised; border-bottom: 1px solid @border; padding: 2px 6px; }
QMenuBar::item { padding: 5px 11px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: @selection; }
QMenu { background: @panel; border: 1px solid @border; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: @selection; color: @text; }
QMenu::item:disabled { color: @disabled; }
QMenu::separator { height: 1px; background: @border; margin: 5px 6px; }
QStatusBar { background: @raised; border-top: 1px solid @border; color: @textMuted; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @textMuted; padding: 3px 8px; }
QLabel[tone="good"] { color: @good; }
QLabel[tone="warning"] { color: @warning; }
QLabel[tone="bad"] { color: @bad; }
QToolTip { background: @raised; color: @text; border: 1px solid @border; padding: 4px; }
)";

const char* const dockRules = R"(
QDockWidget { background: @panel; font-weight: 600; 
    titlebar-close-icon: url(:/hopscope/icons/close.svg); titlebar-normal-icon: url(:/hopscope/icons/float.svg); }
QDockWidget::close-button, QDockWidget::float-button { border: none; background: transparent; padding: 0; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: @hover; border-radius: 4px; }
QDockWidget::title { background: @panel; padding: 7px 10px; border-bottom: 1px solid @border; text-align: left; }
hopscope--panels--Panel { background: @panel; font-weight: 400; }
QTabBar { background: @panel; qproperty-drawBase: 0; }
QTabBar::tab { background: @panel; color: @textMuted; padding: 7px 9px 6px 9px; border: none;
               border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; font-weight: 600; }
QTabBar::tab:hover:!selected { color: @text; background: @hover; }
QTabBar::tab:focus { color: @accent; }
QTabWidget::pane { border: none; border-top: 1px solid @border; background: @panel; }
QSplitter::handle { background: @border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
)";

const char* const inputRules = R"(
QPushButton { background: @panel; border: 1px solid @border; border-radius: 6px; padding: 5px 13px; color: @text; }
QPushButton:hover { background: @hover; border-color: @nodeBorder; }
QPushButton:pressed { background: @selection; }
QPushButton:disabled { color: @disabled; background: @raised; }
QPushButton:focus { border: 1px solid @accent; }
QPushButton[primary="true"] { background: @accent; color: @accentText; border: 1px solid @accent; font-weight: 600; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[choice="true"] { text-align: left; padding: 7px 12px; }
QPushButton[primary="true"]:disabled { background: @raised; color: @disabled; border-color: @border; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 4px 7px; }
QToolButton:hover { background: @hover; border-color: @border; }
QToolButton:checked { background: @selection; border-color: @accent; }
QToolButton:focus { border: 1px solid @accent; }
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox { background: @panel; color: @text;
    border: 1px solid @border; border-radius: 6px; padding: 4px 7px; selection-background-color: @selection;
    selection-color: @text; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QComboBox:focus { border: 1px solid @accent; }
QComboBox { background: @panel; color: @text; border: 1px solid @border; border-radius: 6px; padding: 4px 8px; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/hopscope/icons/down.svg); width: 12px; height: 12px; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { border: none;
    background: transparent; width: 16px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(:/hopscope/icons/up.svg); width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url(:/hopscope/icons/down.svg); width: 10px; height: 10px; }
QComboBox:disabled, QLineEdit:disabled, QSpinBox:disabled { color: @disabled; background: @raised; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @border; selection-background-color: @selection; }
QCheckBox, QRadioButton { spacing: 7px; }
)";

const char* const viewRules = R"(
QTreeView, QTableView, QListView { background: @panel; alternate-background-color: @raised; border: none; outline: 0;
    gridline-color: @border; selection-background-color: @selection; selection-color: @text; }
QTreeView:focus, QTableView:focus, QListView:focus, QScrollArea:focus { border: 1px solid @accent; }
QTreeView::item, QListView::item { background: transparent; padding: 3px 2px; }
QTableView::item { background: transparent; padding: 2px 6px; }
QTreeView::item:hover, QListView::item:hover, QTableView::item:hover { background: @hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected { background: @selection; color: @text; }
QHeaderView::section { background: @panel; color: @textMuted; border: none; border-bottom: 1px solid @border;
    padding: 5px 6px; font-weight: 600; }
QTableView QHeaderView::section:horizontal { padding-left: 10px; }
QTableCornerButton::section { background: @panel; border: none; }
QProgressBar { background: @hover; border: none; border-radius: 4px; max-height: 8px; text-align: center; }
QProgressBar::chunk { background: @accent; border-radius: 4px; }
QLabel[muted="true"] { color: @textMuted; }
QLabel[heading="true"] { font-weight: 600; }
QScrollArea, QScrollArea > QWidget > QWidget { border: none; background: transparent; }
)";

const char* const scrollRules = R"(
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: @edgeMuted; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 26px; }
QScrollBar::handle:horizontal { min-width: 26px; }
QScrollBar::handle:hover { background: @nodeBorder; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
)";

// The window's own parts, by object name.
const char* const windowRules = R"(
QWidget#perspectives { background: transparent; }
QWidget#perspectives QPushButton { border-radius: 10px; padding: 3px 16px; min-width: 66px; }
QWidget#perspectives QPushButton:checked { background: @accent; color: @accentText; border-color: @accent;
    font-weight: 600; }
QWidget#perspectives QPushButton:checked:focus { border: 2px solid @text; padding: 2px 15px; }
QToolButton#perspectiveList { border: 1px solid @border; border-radius: 10px; padding: 3px 12px; background: @panel; }
QToolButton#perspectiveList::menu-indicator { image: none; }
QToolButton#qt_menubar_ext_button { padding: 0; }
QWidget#startPage { background: @window; }
QFrame#startCard, QFrame[card="true"] { background: @panel; border: 1px solid @border; border-radius: 10px; }
QFrame#lessonPane { background: @panel; border: none; border-right: 1px solid @border; border-left: 4px solid @accent; }
QFrame#banner { background: @sourceLine; border-bottom: 1px solid @border; }
QFrame#banner QLabel { color: @text; }
QFrame#refusalCard { background: @panel; border: none; border-bottom: 1px solid @border; border-left: 4px solid @bad; }
QFrame#refusalCard[untrusted="true"] { border-left: 4px solid @accent; }
hopscope--window--TwoLineButton { qproperty-detailColour: "@textMuted"; }
QDialog#palette { background: @panel; border: 1px solid @nodeBorder; }
QWidget#manualTools { background: @raised; border-bottom: 1px solid @border; }
QTextBrowser#manualPage { border: none; border-radius: 0; padding: 0; }
QTreeWidget#manualContents { background: @window; padding: 6px 4px; }
)";

// Longer names come first: one may be a prefix of another.
std::vector<NamedColour> tokens()
{
    std::vector<NamedColour> tokens(std::begin(namedColours), std::end(namedColours));
    tokens.push_back({"disabled", &Theme::nodeBorder});
    std::ranges::sort(tokens, std::greater(),
                      [](const NamedColour& each) { return std::string_view(each.name).size(); });
    return tokens;
}

}  // namespace

QString styleSheet(const Theme& theme)
{
    QString sheet;
    for (const char* part : {frameRules, dockRules, inputRules, viewRules, scrollRules, windowRules})
        sheet += QString::fromLatin1(part);
    for (const NamedColour& each : tokens())
        sheet.replace(QLatin1Char('@') + QLatin1String(each.name), (theme.*each.colour).name());
    return sheet;
}

}  // namespace hopscope::style
