#pragma once

// What happened: the verdict of a verification, and report.json of a run.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "plan/plan.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

struct TensorRecord {
    std::string name;
    double maxAbsolute = 0, maxRelative = 0;
    std::int64_t rows = 0, different = 0, notFinite = 0;
    bool operator==(const TensorRecord&) const = default;
};

struct CoverageRecord {
    std::string method;  // "full", "sampled", "sample"
    std::int64_t rows = 0, chosen = 0, skipped = 0, withInEdges = 0;
    int hops = 0;
    bool operator==(const CoverageRecord&) const = default;
};

struct ToleranceRecord {
    double absolute = 0, relative = 0, scale = 0;
    bool operator==(const ToleranceRecord&) const = default;
};

struct Verification {
    std::string verdict = "unverifiable";  // "equal", "different", "unverifiable"
    std::string reason;
    CoverageRecord coverage;
    std::vector<TensorRecord> outputs, checkpoints;
    ToleranceRecord tolerance;
    double seconds = 0;
    bool operator==(const Verification&) const = default;
};

struct PhaseRecord {
    double block = 0, gather = 0, h2d = 0, compute = 0, d2h = 0, write = 0;
    bool operator==(const PhaseRecord&) const = default;
};

struct StageRecord {
    int index = 1;
    double seconds = 0;
    PhaseRecord phases;
    std::int64_t batches = 0, smallestBatch = 0, largestBatch = 0, destinations = 0, frontierRows = 0, backOffs = 0;
    plan::Bytes bytes;
    std::int64_t peakMemory = 0;
    std::optional<std::int64_t> reservedMemory;  // of a GPU: the most that its allocator had taken from the driver
    std::optional<double> overlap;  // of a GPU's copies with its computing, as a share of the shorter of the two
    bool operator==(const StageRecord&) const = default;
};

struct OutputRecord {
    std::string name;  // "out", "out.KEY"
    std::string file;  // in the output folder
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    bool operator==(const OutputRecord&) const = default;
};

struct Report {
    std::string model, modelClass;
    std::string strategy, device;
    std::map<std::string, std::string> hashes;  // "model", "data", "roles"
    std::vector<StageRecord> stages;
    double prologueSeconds = 0, seconds = 0;
    std::int64_t peakMemory = 0;
    std::vector<OutputRecord> outputs;
    std::vector<std::string> notes;
    std::optional<Verification> verify;  // none: --verify none
    bool operator==(const Report&) const = default;
};

json::Value reportValue(const Report& report);
std::string writeReport(const Report& report);  // its text
base::Result<Report> readReport(const std::string& text, const std::string& file);

// `verify --json`, and the "verify" member of a report. `check` is the quick one on the sample, where it was made.
std::string writeVerification(const Verification& verification, const std::optional<Verification>& check);
base::Result<Verification> readVerification(const std::string& text, const std::string& file);

json::Value verificationValue(const Verification& verification);
Verification verificationFrom(const json::Reader& reader);

}  // namespace hopscope::schema
