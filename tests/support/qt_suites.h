#pragma once

// All tests that use Qt, and what measures the window and takes its pictures, are one program, test_window: it is linked once.
// They register here under a name, the first argument says which of them runs, and the rest is for that one.

#include <QStringList>
#include <QTest>

namespace hopscope::suites {

using Run = int (*)(const QStringList& arguments);  // the name comes first; gives the exit status

bool add(const char* name, Run run);

template <class Suite>
int run(const QStringList& arguments)
{
    QCoreApplication::setAttribute(Qt::AA_Use96Dpi);
    Suite suite;
    return QTest::qExec(&suite, arguments);
}

}  // namespace hopscope::suites

// Conditions have a minute instead of the five seconds of QTest: machines may be slow and busy with other tests.
#undef QTRY_VERIFY
#define QTRY_VERIFY(condition) QTRY_VERIFY_WITH_TIMEOUT(condition, 60'000)
#undef QTRY_VERIFY2
#define QTRY_VERIFY2(condition, message) QTRY_VERIFY2_WITH_TIMEOUT(condition, message, 60'000)
#undef QTRY_COMPARE
#define QTRY_COMPARE(found, expected) QTRY_COMPARE_WITH_TIMEOUT(found, expected, 60'000)

// Something that runs while there is a QApplication; the arguments are those of QApplication as well.
#define HOPSCOPE_QT_PROGRAM(name, run)                                                                                 \
    [[maybe_unused]] static const bool added_##name = hopscope::suites::add(#name, run);

// In place of QTEST_MAIN. The name is that of hopscope_qt_test.
#define HOPSCOPE_QT_SUITE(name, Class) HOPSCOPE_QT_PROGRAM(name, hopscope::suites::run<Class>)
