#include "about.h"

#include <QApplication>
#include <QMessageBox>

namespace hopscope::window {

void showAbout(QWidget* window)
{
    auto* box = new QMessageBox(window);
    box->setObjectName(QStringLiteral("about"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setWindowTitle(QCoreApplication::translate("About", "About Hopscope"));
    box->setIconPixmap(window->windowIcon().pixmap(64, 64));
    box->setText(
        QCoreApplication::translate(
            "About",
            "<b>Hopscope %1</b><p>Inspect where a graph neural network can be cut, move the cuts, and run it layer by "
            "layer for all nodes.</p>")
            .arg(QApplication::applicationVersion()));
    box->setInformativeText(
        QCoreApplication::translate(
            "About",
            "This window is free software under the GNU General Public License, version 3 or later; the engine "
            "is under the Apache License 2.0. Made with Qt %1, QCustomPlot and Graphviz.")
            .arg(QString::fromLatin1(qVersion())));
    box->show();
}

}  // namespace hopscope::window
