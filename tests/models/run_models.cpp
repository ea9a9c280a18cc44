#include "models/run_models.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "graph/file.h"
#include "models/features.h"
#include "models/forked.h"
#include "models/run_case.h"

namespace {

using namespace hopscope;

struct Arguments {
    std::string program, device = "cpu", configuration;
    std::vector<std::string> lists;
    std::set<std::string> only;
    int children = 2;
    std::size_t configurations = 0;  // 0: all
    bool fork = true, quick = false, features = false;
};

Arguments parse(int argc, char** argv)
{
    Arguments arguments;
    arguments.program = argv[0];
    for (int i = 1; i < argc; ++i) {
        const bool last = i + 1 >= argc;
        if (!std::strcmp(argv[i], "--only") && !last) arguments.only.insert(argv[++i]);
        else if (!std::strcmp(argv[i], "-j") && !last) arguments.children = std::atoi(argv[++i]);
        else if (!std::strcmp(argv[i], "--device") && !last) arguments.device = argv[++i];
        else if (!std::strcmp(argv[i], "--configurations") && !last)
            arguments.configurations = std::strtoul(argv[++i], nullptr, 10);
        else if (!std::strcmp(argv[i], "--configuration") && !last) arguments.configuration = argv[++i];
        else if (!std::strcmp(argv[i], "--no-fork")) arguments.fork = false;
        else if (!std::strcmp(argv[i], "--quick")) arguments.quick = true;
        else if (!std::strcmp(argv[i], "--features")) arguments.features = true;
        else arguments.lists.emplace_back(argv[i]);
    }
    return arguments;
}

std::vector<models::Case> select(std::vector<models::Case> cases, const Arguments& arguments)
{
    const std::set<std::string>& only = arguments.only;
    if (!only.empty()) std::erase_if(cases, [&](const auto& c) { return !only.count(c.name); });
    if (arguments.quick) std::erase_if(cases, [](const auto& c) { return !c.quick; });
    return cases;
}

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> parts{""};
    for (const char c : text)
        if (c == ',') parts.emplace_back();
        else parts.back() += c;
    return parts;
}

constexpr std::size_t enoughForAllPairs = 12;  // configurations of each model

// The configurations of each model; in `missing` the pair of settings that they should cover and do not.
std::vector<models::Chosen> jobsOf(const std::vector<models::Case>& cases, const Arguments& arguments,
                                   std::string& missing)
{
    std::optional<std::size_t> count;
    if (arguments.configurations > 0) count = arguments.configurations;
    std::vector<models::Chosen> jobs = models::choose(cases, split(arguments.device), count);
    if (count && *count >= enoughForAllPairs) missing = models::missingPair(jobs);
    if (!arguments.configuration.empty())
        for (models::Chosen& each : jobs)
            std::erase_if(each.chosen, [&](const auto& job) { return nameOf(job) != arguments.configuration; });
    return jobs;
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
    if (c.expectation != models::Expectation::Equal || outcome.verdict != "equal" || !outcome.optimumAsked) return "";
    if (refused == std::string::npos) return c.noOptimum.empty() ? "" : "it has an optimum, unlike the list says";
    if (c.noOptimum.empty()) return "its optimum is refused";
    return outcome.detail.find(c.noOptimum, refused) == std::string::npos ? "its optimum is refused for another reason"
                                                                          : "";
}

std::string repetition(const models::Case& c, const Arguments& arguments, const std::string& configuration)
{
    return "\n    again: " + arguments.program + " " + c.list + " --device " + arguments.device + " --only " + c.name +
           (configuration.empty() ? "" : " --configuration " + configuration);
}

models::Outcome runOne(const models::Case& c, const models::Chosen& jobs, const Arguments& arguments,
                       const models::Complaint& complaint)
{
    if (arguments.features) return {true, "features", models::featuresOf(c)};
    models::Outcome outcome = models::runCase(c, jobs.chosen);
    std::string text = complaint ? complaint() : "";
    if (text.empty()) text = complaintAboutOptimum(c, outcome);
    if (!text.empty()) outcome = {false, "FOUND", text + " [" + outcome.detail + "]", outcome.configuration};
    if (!outcome.passed) outcome.detail += repetition(c, arguments, outcome.configuration);
    return outcome;
}

void runInChildren(const std::vector<models::Case>& cases, const std::vector<models::Chosen>& jobs,
                   const Arguments& arguments, const models::Complaint& complaint, Totals& totals)
{
    models::Work work;
    work.run = [&](std::size_t job, const auto& say) {
        const models::Outcome outcome = runOne(cases[job], jobs[job], arguments, complaint);
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
    std::vector<Case> cases;
    for (const std::string& list : arguments.lists) {
        const auto listed = readCases(list);
        if (!listed) {
            std::fprintf(stderr, "%s\n", base::describe(listed.error()).c_str());
            return 1;
        }
        cases.insert(cases.end(), listed->begin(), listed->end());
    }
    cases = select(std::move(cases), arguments);
    std::string missing;
    const std::vector<Chosen> jobs = jobsOf(cases, arguments, missing);
    Totals totals;
    if (!missing.empty()) {
        std::printf("the configurations do not cover %s\n", missing.c_str());
        totals.failed = 1;
    }
    if (arguments.fork) runInChildren(cases, jobs, arguments, complaint, totals);
    else
        for (std::size_t i = 0; i < cases.size(); ++i)
            printRow(cases[i], runOne(cases[i], jobs[i], arguments, complaint), 0, totals);
    return summary(totals, cases.size());
}
