#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include "panels/fixture.h"
#include "panels/more_settings.h"
#include "support/other_settings.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::panels;

class TestMoreSettings : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { style::applyTheme(style::loadTheme(style::Mode::Light)); }
    void init() { failOnWarnings(); }

    void everySettingHasAnEditorInTheWindow();
    void everyEditorOfTheFormReachesTheDocument();
    void whatIsWrongIsSaidAndNotTakenOver();
    void resetGivesTheDefaultsBack();
};

namespace {

void type(QLineEdit& field, const std::string& text)
{
    field.setFocus();
    field.selectAll();
    QTest::keyClicks(&field, QString::fromStdString(text));
    QTest::keyClick(&field, Qt::Key_Return);
}

void click(QCheckBox& box) { QTest::mouseClick(&box, Qt::LeftButton, {}, {8, box.height() / 2}); }

// By the events of a user.
void enter(QWidget& editor, const std::string& text)
{
    const QStringList words = QString::fromStdString(text).split(u',');
    if (auto* box = qobject_cast<QComboBox*>(&editor)) {
        box->setFocus();
        QTest::keyClick(box, Qt::Key_End);
        emit box->activated(box->currentIndex());
    } else if (auto* flag = qobject_cast<QCheckBox*>(&editor)) {
        click(*flag);
    } else if (auto* field = qobject_cast<QLineEdit*>(&editor)) {
        type(*field, text);
    } else if (auto* inner = editor.findChild<QLineEdit*>()) {
        type(*inner, text);
    } else {
        for (QCheckBox* each : editor.findChildren<QCheckBox*>())
            if (each->isChecked() != words.contains(each->text())) click(*each);
    }
}

}  // namespace

void TestMoreSettings::everySettingHasAnEditorInTheWindow()
{
    OpenFixture fixture;
    const auto run = fixture.show(makeRunPanel, {1400, 320}), plan = fixture.show(makePlanPanel, {600, 800});
    const MoreSettings form(fixture.context, nullptr);
    int inForm = 0;
    base::forEachField<base::Settings>([&](const auto& setting) {
        int found = 0;
        for (const QWidget* place : std::initializer_list<const QWidget*>{run.get(), plan.get(), &form})
            found += place->findChild<QWidget*>(QLatin1String(setting.name)) != nullptr ? 1 : 0;
        const bool inPlan = setting.ofSearch && std::string_view(setting.name) != "deadline";
        QVERIFY2(found == 1 || inPlan, setting.name);
        inForm += form.findChild<QWidget*>(QLatin1String(setting.name)) != nullptr ? 1 : 0;
    });
    QVERIFY(inForm >= 10);
}

void TestMoreSettings::everyEditorOfTheFormReachesTheDocument()
{
    OpenFixture fixture;
    MoreSettings form(fixture.context, nullptr);
    form.show();
    QVERIFY(QTest::qWaitForWindowExposed(&form, 60'000));
    int count = 0;
    base::forEachField<base::Settings>([&](const auto& setting) {
        auto* editor = form.findChild<QWidget*>(QLatin1String(setting.name));
        if (editor == nullptr) return;
        const base::Settings other = test::withOther(setting);
        enter(*editor, base::settingText(other.*setting.member));
        QVERIFY2(fixture.document.settings().*setting.member == other.*setting.member, setting.name);
        QCOMPARE(changedSettings(fixture.document.settings()), ++count);
    });
    QVERIFY(count >= 10);
}

void TestMoreSettings::whatIsWrongIsSaidAndNotTakenOver()
{
    OpenFixture fixture;
    MoreSettings form(fixture.context, nullptr);
    form.show();
    auto* threads = part<QLineEdit>(form, "threads");
    auto* problem = part<QLabel>(form, "threadsProblem");
    type(*threads, "5000");
    QVERIFY(problem->isVisible());
    QVERIFY(problem->text().contains(QStringLiteral("1 to 4096")));
    QVERIFY(!fixture.document.settings().threads);
    QCOMPARE(threads->text(), QStringLiteral("5000"));
    type(*threads, "2");
    QVERIFY(!problem->isVisible());
    QCOMPARE(fixture.document.settings().threads, std::optional(2));
    auto* memory = part<QLineEdit>(form, "host_memory");
    type(*memory, "3Gi");
    QCOMPARE(memory->text(), QStringLiteral("3Gi"));
}

void TestMoreSettings::resetGivesTheDefaultsBack()
{
    OpenFixture fixture;
    models::Settings settings = fixture.document.settings();
    settings.batch = 8;
    settings.store = base::StoreType::Float16;
    fixture.document.setSettings(settings);
    const auto run = fixture.show(makeRunPanel, {1400, 320});
    QCOMPARE(part<QToolButton>(*run, "more")->text(), QStringLiteral("More (1)…"));
    MoreSettings form(fixture.context, nullptr);
    form.show();
    auto* reset = part<QPushButton>(form, "resetSettings");
    QTest::mouseClick(reset, Qt::LeftButton);
    QCOMPARE(fixture.document.settings().store, base::StoreType::Exact);
    QCOMPARE(fixture.document.settings().batch, std::optional<std::int64_t>(8));
    QVERIFY(!reset->isEnabled());
    QCOMPARE(part<QToolButton>(*run, "more")->text(), QStringLiteral("More…"));
}

HOPSCOPE_QT_SUITE(more_settings, TestMoreSettings)
#include "test_more_settings.moc"
