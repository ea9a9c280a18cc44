#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <cstdio>

#include "automation.h"
#include "base/text.h"
#include "command_line.h"
#include "main_window.h"
#include "termination.h"

namespace {

using namespace hopscope;
using namespace hopscope::window;

constexpr int usageExit = 2;
constexpr int signalExit = 128;  // plus the number of the signal, as in shells

void say(FILE* stream, const QString& text) { std::fprintf(stream, "%s\n", qPrintable(text)); }

// The offscreen platform prints unsupported features for every panel, which is noise to a user who exports a picture.
void passMessage(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    if (!message.startsWith(u"This plugin does not support")) say(stderr, qFormatLogMessage(type, context, message));
}

// The program in the folder of this one, else the one on the path.
QString programBeside(const QString& name)
{
    const QString beside = QCoreApplication::applicationDirPath() + u'/' + name;
    if (QFileInfo(beside).isExecutable()) return beside;
    const QString found = QStandardPaths::findExecutable(name);
    return found.isEmpty() ? beside : found;
}

// A folder that was unpacked anywhere brings fonts for systems that have none. Fontconfig reads its file instead of the system's,
// which that file includes.
void offerFonts()
{
    const QDir programs = QFileInfo(QFile::symLinkTarget(QStringLiteral("/proc/self/exe"))).dir();
    const QString file = programs.filePath(QStringLiteral("../share/hopscope/fonts/fonts.conf"));
    if (QFileInfo::exists(file) && !qEnvironmentVariableIsSet("FONTCONFIG_FILE"))
        qputenv("FONTCONFIG_FILE", QFile::encodeName(QDir::cleanPath(file)));
}

WindowSetup makeSetup(const CommandLine& line)
{
    WindowSetup setup;
    setup.unattended = line.unattended();
    if (!setup.unattended) setup.settings = loadSettings();
    setup.theme = line.theme;
    if (setup.unattended && !line.theme) setup.theme = style::Mode::Light;
    if (!line.perspective.isEmpty()) setup.settings.perspective = line.perspective;
    setup.engine = line.engine;
    setup.engineCommand = line.engine.isEmpty()
                              ? QStringList{programBeside(QStringLiteral("hopscope-engine")), QStringLiteral("serve")}
                              : splitCommand(line.engine);
    setup.layoutCommand = {programBeside(QStringLiteral("hopscope-layout"))};
    setup.samples = samplesFolder(QCoreApplication::applicationDirPath());
    if (!setup.unattended || line.recover)
        setup.recoveryFolder =
            QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation) + QStringLiteral("/recovery");
    return setup;
}

void describeApplication()
{
    QApplication::setApplicationName(QStringLiteral("hopscope"));
    QApplication::setApplicationDisplayName(QStringLiteral("Hopscope"));
    QApplication::setOrganizationName(QStringLiteral("hopscope"));
    QApplication::setApplicationVersion(QStringLiteral(HOPSCOPE_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("org.hopscope.Hopscope"));
}

int showWindow(const CommandLine& line)
{
    MainWindow window(makeSetup(line));
    if (!line.unattended())
        QObject::connect(&window, &MainWindow::settingsChanged, &window,
                         [](const WindowSettings& settings) { saveSettings(settings); });
    if (line.size) window.resize(*line.size);
    Automation automation(window, line);
    QObject::connect(&automation, &Automation::done, &window, [](int exitCode, const QString& problem) {
        const QString sentence = QString::fromStdString(base::oneLine(problem.toStdString()));
        if (!sentence.isEmpty()) say(stderr, QStringLiteral("hopscope: %1").arg(sentence));
        QApplication::exit(exitCode);
    });
    const Termination termination;
    QObject::connect(&termination, &Termination::asked, &window, [&window](int signal) {
        window.keeper().leaveCopy();
        QApplication::exit(signalExit + signal);
    });
    window.start();
    window.show();
    automation.start();
    return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv)
{
    QStringList arguments;
    for (int i = 0; i < argc; ++i) arguments.append(QString::fromLocal8Bit(argv[i]));
    describeApplication();
    const auto line = parseCommandLine(arguments);
    if (!line) {
        say(stderr, QStringLiteral("hopscope: %1").arg(QString::fromStdString(base::describe(line.error()))));
        return usageExit;
    }
    // Pictures need no display and look the same everywhere without one.
    if (line->unattended() && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    if (line->help || line->version) qputenv("QT_QPA_PLATFORM", "offscreen");
    if (line->unattended()) qInstallMessageHandler(passMessage);
    offerFonts();
    const QApplication application(argc, argv);
    if (line->help) say(stdout, usage());
    else if (line->version) say(stdout, QStringLiteral("hopscope " HOPSCOPE_VERSION));
    else return showWindow(*line);
    return 0;
}
