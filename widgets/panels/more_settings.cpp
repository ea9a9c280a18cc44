#include "panels/more_settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QToolButton>
#include <array>

#include "base/units.h"
#include "models/labels.h"
#include "panels/parts.h"

namespace hopscope::panels {

namespace {

using base::Setting;
using base::Settings;
using models::text;
using Changed = std::function<void()>;
using Editor = MoreSettings::Editor;

constexpr int leastWidth = 580, usualHeight = 560;

// Settings of the plan panel and of the run controls.
constexpr std::array elsewhere{"strategy", "objective", "stages", "device", "memory", "batch", "verify"};

bool isOfForm(const char* name)
{
    return std::ranges::none_of(elsewhere, [&](const char* other) { return std::string_view(name) == other; });
}

Editor choices(const QStringList& names, QWidget* parent, const Changed& changed)
{
    auto* box = new QComboBox(parent);
    box->addItems(names);
    QObject::connect(box, &QComboBox::activated, box, changed);
    return {.widget = box,
            .show = [box](const QString& value) { box->setCurrentText(value); },
            .text = [box] { return box->currentText(); }};
}

Editor flag(const QString& label, QWidget* parent, const Changed& changed)
{
    auto* box = new QCheckBox(label, parent);
    QObject::connect(box, &QCheckBox::clicked, box, changed);
    return {.widget = box,
            .show = [box](const QString& value) { box->setChecked(value == u"yes"); },
            .text = [box] { return box->isChecked() ? QStringLiteral("yes") : QStringLiteral("no"); }};
}

Editor line(const QString& unset, QWidget* parent, const Changed& changed)
{
    auto* field = new QLineEdit(parent);
    field->setPlaceholderText(unset);
    QObject::connect(field, &QLineEdit::editingFinished, field, changed);
    return {.widget = field,
            .show = [field](const QString& value) { field->setText(value); },
            .text = [field] { return field->text().trimmed(); }};
}

Editor folder(QWidget* parent, const Changed& changed)
{
    auto* both = new QWidget(parent);
    auto* row = new QHBoxLayout(both);
    row->setContentsMargins(0, 0, 0, 0);
    Editor inner = line(MoreSettings::tr("none"), both, changed);
    auto* browse = new QToolButton(both);
    browse->setText(QStringLiteral("..."));
    browse->setAccessibleName(MoreSettings::tr("Choose a folder"));
    row->addWidget(inner.widget);
    row->addWidget(browse);
    QObject::connect(browse, &QToolButton::clicked, both, [inner, both, changed] {
        const QString chosen = QFileDialog::getExistingDirectory(both, MoreSettings::tr("Folder"), inner.text());
        if (chosen.isEmpty()) return;
        inner.show(chosen);
        changed();
    });
    inner.widget = both;
    return inner;
}

// A check box for each pattern; all and none have words of their own.
Editor patterns(QWidget* parent, const Changed& changed)
{
    auto* all = new QWidget(parent);
    auto* row = new QHBoxLayout(all);
    row->setContentsMargins(0, 0, 0, 0);
    std::vector<QCheckBox*> boxes;
    for (const auto& each : namesOf(base::Fuse{})) {
        boxes.push_back(new QCheckBox(QLatin1String(each.name), all));
        row->addWidget(boxes.back());
        QObject::connect(boxes.back(), &QCheckBox::clicked, all, changed);
    }
    row->addStretch(1);
    return {.widget = all,
            .show =
                [boxes](const QString& value) {
                    const QStringList names = value.split(u',');
                    for (QCheckBox* box : boxes) box->setChecked(value == u"all" || names.contains(box->text()));
                },
            .text =
                [boxes] {
                    QStringList names;
                    for (const QCheckBox* box : boxes)
                        if (box->isChecked()) names << box->text();
                    return names.isEmpty() ? QStringLiteral("none") : names.join(u',');
                }};
}

template <class M>
std::string shown(const Setting<M>& setting, const Settings& settings)
{
    if constexpr (std::same_as<M, std::optional<std::int64_t>>)
        if (setting.quantity == base::Quantity::Bytes && settings.*setting.member)
            return base::exactSize(*(settings.*setting.member));
    return base::settingText(settings.*setting.member);
}

}  // namespace

int changedSettings(const Settings& settings)
{
    int count = 0;
    base::forEachField<Settings>([&](const auto& setting) {
        if (isOfForm(setting.name) && settings.*setting.member != Settings().*setting.member) ++count;
    });
    return count;
}

MoreSettings::MoreSettings(const Context& context, QWidget* parent) : QDialog(parent), m_context(context)
{
    setObjectName(QStringLiteral("moreSettings"));
    setWindowTitle(tr("More settings"));
    auto* layout = new QVBoxLayout(this);
    m_form = new QWidget(this);
    m_rows = new QFormLayout(m_form);
    m_rows->setHorizontalSpacing(16);
    m_rows->setVerticalSpacing(14);
    m_rows->setLabelAlignment(Qt::AlignLeft | Qt::AlignTop);
    layout->addWidget(scrolled(m_form, this));
    setupRows();
    setupButtons(*layout);
    connect(&m_context.document, &models::Document::settingsChanged, this, &MoreSettings::refresh);
    connect(&m_context.workbench, &jobs::Workbench::runStateChanged, this, &MoreSettings::refresh);
    resize(std::max(leastWidth, sizeHint().width()), usualHeight);
    refresh();
}

void MoreSettings::setupRows()
{
    base::forEachField<Settings>([&](const auto& setting) {
        if (isOfForm(setting.name)) addRow(setting);
    });
}

template <class M>
Editor MoreSettings::editorFor(const Setting<M>& setting, const Changed& changed)
{
    if constexpr (std::is_enum_v<M>) {
        QStringList names;
        for (const auto& each : namesOf(M{})) names << QLatin1String(each.name);
        return choices(names, m_form, changed);
    } else if constexpr (std::same_as<M, bool>) {
        return flag(tr("Yes"), m_form, changed);
    } else if constexpr (std::same_as<M, std::string>) {
        return folder(m_form, changed);
    } else if constexpr (std::same_as<M, base::FuseSetting>) {
        return patterns(m_form, changed);
    } else {
        const bool limit = setting.quantity == base::Quantity::Bytes || setting.quantity == base::Quantity::Seconds;
        return line(limit ? tr("no limit") : tr("auto"), m_form, changed);
    }
}

template <class M>
void MoreSettings::addRow(const Setting<M>& setting)
{
    const std::size_t index = m_all.size();
    const Editor editor = editorFor(setting, [this, index] { apply(m_all[index]); });
    QLabel* const problem = addToForm(setting.name, tr(setting.label), tr(setting.meaning), editor.widget);
    m_all.push_back({.editor = editor,
                     .problem = problem,
                     .text = [setting](const Settings& settings) { return shown(setting, settings); },
                     .read = [setting](const std::string& value,
                                       Settings& into) { return base::readSetting(setting, value, into); }});
}

// Adds the editor, with a hidden label for a refusal and the help below it.
QLabel* MoreSettings::addToForm(const char* name, const QString& label, const QString& help, QWidget* editor)
{
    editor->setObjectName(QLatin1String(name));
    editor->setAccessibleName(label);
    editor->setAccessibleDescription(help);
    QLabel* const about = wrapped(QLatin1String(name) + QStringLiteral("Help"), m_form);
    about->setText(help);
    about->setProperty("muted", true);
    QLabel* const problem = wrapped(QLatin1String(name) + QStringLiteral("Problem"), m_form);
    problem->setProperty("tone", "bad");
    problem->hide();
    auto* field = new QWidget(m_form);
    auto* column = new QVBoxLayout(field);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    for (QWidget* const part : {editor, static_cast<QWidget*>(problem), static_cast<QWidget*>(about)})
        column->addWidget(part);
    auto* title = new QLabel(label, m_form);
    title->setBuddy(editor);
    m_rows->addRow(title, field);
    return problem;
}

void MoreSettings::setupButtons(QBoxLayout& layout)
{
    auto* row = new QHBoxLayout;
    const auto add = [&](const char* name, const QString& label) {
        auto* button = new QPushButton(label, this);
        button->setObjectName(QLatin1String(name));
        button->setAccessibleName(label);
        button->setAutoDefault(false);
        row->addWidget(button);
        return button;
    };
    m_reset = add("resetSettings", tr("Reset"));
    m_reset->setToolTip(tr("Set all of these settings to their defaults"));
    row->addStretch(1);
    connect(m_reset, &QPushButton::clicked, this, &MoreSettings::reset);
    connect(add("closeSettings", tr("Close")), &QPushButton::clicked, this, &QDialog::close);
    layout.addLayout(row);
}

void MoreSettings::apply(const Row& row)
{
    models::Settings settings = m_context.document.settings();
    const base::Status read = row.read(row.editor.text().toStdString(), settings);
    row.problem->setText(read ? QString() : text(read.error().message));
    row.problem->setVisible(!read);
    if (read && settings != m_context.document.settings()) m_context.workbench.setRunSettings(settings);
}

void MoreSettings::reset()
{
    models::Settings settings = m_context.document.settings();
    base::forEachField<Settings>([&](const auto& setting) {
        if (isOfForm(setting.name)) settings.*setting.member = Settings().*setting.member;
    });
    m_context.workbench.setRunSettings(settings);
    for (const Row& row : m_all) row.problem->hide();
    refresh();
}

// A refused text stays until the user corrects it.
void MoreSettings::refresh()
{
    const Settings& settings = m_context.document.settings();
    for (const Row& row : m_all) {
        if (row.problem->isHidden()) row.editor.show(text(row.text(settings)));
        row.editor.widget->setEnabled(!m_context.workbench.running());
    }
    m_reset->setEnabled(!m_context.workbench.running() && changedSettings(settings) > 0);
}

void showMoreSettings(const Context& context, QWidget* parent)
{
    auto* dialog = new MoreSettings(context, parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

}  // namespace hopscope::panels
