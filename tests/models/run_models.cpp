#include "models/run_models.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "graph/file.h"
#include "models/forked.h"
#include "models/run_case.h"

namespace {

using namespace hopscope;

struct Arguments {
    std::string list, device = "cpu";
    std::set<std::string> only;
    int children = 2;
    bool fork = true, brief = false;
};

Arguments parse(int argc, char** argv)
{
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const bool last = i + 1 >= argc;
        if (!std::strcmp(argv[i], "--only") && !last) arguments.only.insert(argv[++i]);
        else if (!std::strcmp(argv[i], "-j") && !last) arguments.children = std::atoi(argv[++i]);
        else if (!std::strcmp(argv[i], "--device") && !last) arguments.device = argv[++i];
        else if (!std::strcmp(argv[i], "--no-fork")) arguments.fork = false;
        else if (!std::strcmp(argv[i], "--brief")) arguments.brief = true;
        else arguments.list = argv[i];
    }
    return arguments;
}

std::vector<models::Case> select(std::vector<models::Case> cases, const Arguments& arguments)
{
    const std::set<std::string>& only = arguments.only;
    if (!only.empty()) std::erase_if(cases, [&](const auto& c) { return !only.count(c.name); });
    for (models::Case& c : cases) c.brief = arguments.brief;
    return cases;
}

struct Totals {
    std::map<std::string, int> verdicts;
    int failed = 0;
};

void printRow(const models::Case& c, const models::Outcome& outcome, double seconds, Totals& totals)
{
    std::printf("%-44s %-14s %6.2f s  %s\n", c.name.c_str(), outcome.verdict.c_str(), seconds, outcome.detail.c_str());
    std::fflush(stdout);
    ++totals.verdicts[outcome.verdict];
    totals.failed += outcome.passed ? 0 : 1;
}

models::Outcome outcomeOf(const models::ChildResult& result)
{
    if (result.signal == SIGALRM) return {false, "HANGS", "after " + std::to_string(result.seconds) + " s"};
    if (result.signal) return {false, "CRASHES", std::string("with ") + strsignal(result.signal)};
    const std::size_t end = result.text.find('\n');
    if (end == std::string::npos) return {false, "DIES", "with exit code " + std::to_string(result.exitCode)};
    return {result.exitCode == 0, result.text.substr(0, end), result.text.substr(end + 1)};
}

// A refused optimum is told in the details. Only what the list names may be without one, for the reason given there.
std::string complaintAboutOptimum(const models::Case& c, const models::Outcome& outcome)
{
    const std::size_t refused = outcome.detail.find("not optimal in ");
    if (c.expectation != models::Expectation::Equal || outcome.verdict != "equal") return "";
    if (refused == std::string::npos) return c.noOptimum.empty() ? "" : "it has an optimum, unlike the list says";
    if (c.noOptimum.empty()) return "its optimum is refused";
    return outcome.detail.find(c.noOptimum, refused) == std::string::npos ? "its optimum is refused for another reason"
                                                                          : "";
}

models::Outcome runOne(const models::Case& c, const Arguments& arguments, const models::Complaint& complaint)
{
    const models::Outcome outcome = models::runCase(c, arguments.device);
    std::string text = complaint ? complaint() : "";
    if (text.empty()) text = complaintAboutOptimum(c, outcome);
    return text.empty() ? outcome : models::Outcome{false, "FOUND", text + " [" + outcome.detail + "]"};
}

void runInChildren(const std::vector<models::Case>& cases, const Arguments& arguments,
                   const models::Complaint& complaint, Totals& totals)
{
    models::Work work;
    work.run = [&](std::size_t job, const auto& say) {
        const models::Outcome outcome = runOne(cases[job], arguments, complaint);
        say(outcome.verdict + "\n" + outcome.detail);
        return outcome.passed ? 0 : 1;
    };
    work.finished = [&](std::size_t job, const models::ChildResult& result) {
        printRow(cases[job], outcomeOf(result), result.seconds, totals);
    };
    models::runForked(cases.size(), {arguments.children, 200, 0}, work);
}

int summary(const Totals& totals, std::size_t count)
{
    std::printf("%zu models:", count);
    for (const auto& [verdict, number] : totals.verdicts) std::printf(" %d %s", number, verdict.c_str());
    std::printf("%s\n", totals.failed ? "  FAILED" : "");
    return totals.failed || count == 0 ? 1 : 0;
}

}  // namespace

int hopscope::models::runModels(int argc, char** argv, const Complaint& complaint)
{
    const Arguments arguments = parse(argc, argv);
    graph::assumeFastPages();
    const auto listed = readCases(arguments.list);
    if (!listed) {
        std::fprintf(stderr, "%s\n", base::describe(listed.error()).c_str());
        return 1;
    }
    const std::vector<Case> cases = select(*listed, arguments);
    Totals totals;
    if (arguments.fork) runInChildren(cases, arguments, complaint, totals);
    else
        for (const Case& c : cases) printRow(c, runOne(c, arguments, complaint), 0, totals);
    return summary(totals, cases.size());
}
