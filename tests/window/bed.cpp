#include "bed.h"

#include <QElapsedTimer>

#include "base/rules.h"
#include "jobs/player.h"
#include "models/run_log.h"

namespace hopscope::bed {

namespace {

QtMessageHandler earlier = nullptr;

void judge(QtMsgType type, const QMessageLogContext& context, const QString& text)
{
    const bool platform = text.contains(u"propagateSizeHints") || text.contains(u"does not support raise()") ||
                          text.contains(u"XDG_RUNTIME_DIR") || text.contains(u"plugin does not support") ||
                          (text.contains(u"Destroyed while process") && text.contains(u"hopscope-layout"));
    if (platform) return;
    if (type == QtWarningMsg || type == QtCriticalMsg) QTest::qFail(qPrintable(text), __FILE__, __LINE__);
    if (earlier) earlier(type, context, text);
}

}  // namespace

void failOnWarnings()
{
    static const bool installed = [] {
        earlier = qInstallMessageHandler(judge);
        return true;
    }();
    Q_UNUSED(installed);
}

QString sample(const QString& name) { return QStringLiteral(HOPSCOPE_SAMPLES "/") + name; }

window::WindowSetup playedSetup()
{
    window::WindowSetup setup;
    setup.settings.theme = style::Mode::Light;
    setup.engineCommand = player::command();
    setup.layoutCommand = {QStringLiteral(HOPSCOPE_PROGRAMS "/hopscope-layout")};
    setup.samples = QStringLiteral(HOPSCOPE_SAMPLES);
    setup.room = QRect(0, 0, 1920, 1200);  // the screen of the offscreen platform is smaller than anybody's
    return setup;
}

window::WindowSetup realSetup()
{
    window::WindowSetup setup = playedSetup();
    const QByteArray other = qgetenv("HOPSCOPE_ENGINE");
    const QString program =
        other.isEmpty() ? QStringLiteral(HOPSCOPE_PROGRAMS "/hopscope-engine") : QString::fromUtf8(other);
    setup.engineCommand = {program, QStringLiteral("serve")};
    return setup;
}

Bed::Bed(window::WindowSetup setup, bool recovery)
{
    failOnWarnings();
    if (recovery) setup.recoveryFolder = folder.filePath(QStringLiteral("recovery"));
    window = std::make_unique<window::MainWindow>(std::move(setup));
    window->start();
    window->show();
    if (QTest::qWaitForWindowExposed(window.get(), 60'000))
        window->activateWindow();  // without a window manager nobody else does
    if (!QTest::qWaitForWindowActive(window.get())) qInfo("the window is not active: keys may not reach it");
}

bool Bed::open(const QString& model, const QStringList& data)
{
    window->openFile({model, data, {}});
    return waitFor([&] {
        const models::Document& document = window->document();
        const bool planned =
            document.model() && (!document.model()->splittable || document.reference(base::rules.back()));
        return planned && document.modelPath() == model && !window->workbench().busy() && window->graph().layoutReady();
    });
}

bool Bed::setBatches(bool gpu) { return player::setBatches(window->workbench(), window->document(), gpu); }

bool Bed::run()
{
    const std::size_t before = window->document().runs().size();
    window->workbench().startRun();
    return waitFor([&] { return window->document().runs().size() > before; }, 60'000);
}

bool waitFor(const std::function<bool()>& condition, int milliseconds)
{
    return QTest::qWaitFor(condition, milliseconds);
}

QString leastWidths(window::MainWindow& window)
{
    QStringList widths;
    for (QDockWidget* dock : window.docks().all())
        if (dock->isVisible())
            widths << QStringLiteral("%1 %2").arg(dock->objectName()).arg(dock->minimumSizeHint().width());
    return widths.join(QStringLiteral(", "));
}

QStringList storedIds(const models::Document& document)
{
    QStringList ids;
    for (const protocol::PlanCheckpoint& checkpoint : document.plan()->checkpoints)
        if (!checkpoint.output) ids.append(QString::fromStdString(document.model()->values.at(checkpoint.value).id));
    return ids;
}

}  // namespace hopscope::bed
