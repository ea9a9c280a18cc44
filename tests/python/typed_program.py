"""A program that uses the whole package, for mypy --strict (run_static.py): it is checked, and not run. The marked lines are mistakes that the
types have to find."""
from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import hopscope
import numpy
import torch
from typing_extensions import assert_type


def runs(model: Any, data: Any) -> hopscope.Inference:
    result = hopscope.inference(model, data, device=torch.device("cuda", 0), memory=2**30, store=torch.bfloat16, verify=True, deadline=2)
    assert_type(result, hopscope.Inference)
    result = hopscope.inference(model, {"x": data}, memory="1GiB", host_memory=1e9, plan=result.plan)
    result = hopscope.inference(model, data, pins=[("checkpoint", "v4"), ("hop_stage", "v9", 2)], roles={"x": "node"})
    result = hopscope.inference(Path("model.pt"), ["x=x.npy"], fuse=["chain", "softmax"], cache=Path("cache"), scratch="scratch", batch=None)
    result = hopscope.run(model, data, Path("out"), resume=True, cluster="local", workers=2, threads=1)
    hopscope.inference(model, data, progress=lambda what, done, total: print(f"{what}: {done} of {total}"))
    hopscope.inference(model, data, strategy="fastest")  # type: ignore[arg-type]
    hopscope.inference(model, data, batch="100")  # type: ignore[arg-type]
    hopscope.inference(model, data, batchsize=100)  # type: ignore[call-arg]
    hopscope.run(model, data, "out", reorder="backwards")  # type: ignore[arg-type]
    hopscope.plan(model, data, resume=True)  # type: ignore[call-arg]
    assert_type(result.verdict, str | None)
    assert_type(result.folder, Path | None)
    assert_type(result.saved, hopscope.Saved | None)
    assert_type(result.notes, list[str])
    return result


def strategies() -> Iterator[Literal["optimal", "depth"]]:
    yield "optimal"
    yield "depth"


def plans(model: Any, data: Any) -> list[float | None]:
    made = [hopscope.plan(model, data, strategy=strategy, objective="bytes") for strategy in strategies()]
    assert_type(made[0].stages, hopscope.Table[hopscope.Stage])
    assert_type(made[0].save("plan.json"), Path)
    cut: hopscope.Cut = made[0].cuts[0]
    found = hopscope.inspect(model, data)
    assert_type(found, hopscope.Inspection)
    operator: hopscope.Operator = found.operators[0]
    value: hopscope.Value = found.values[0]
    lint: hopscope.Lint = found.lints[0]
    print(cut.written, operator.line, value.shape, lint.message, made[0].cuts.to_pandas())
    assert_type(hopscope.verify(model, data, plan=made[0], full=True).outputs, hopscope.Table[hopscope.Compared])
    compared = hopscope.compare(model, Path("model.onnx"), data)
    assert_type(compared, hopscope.Comparison)
    assert_type(compared.outputs, hopscope.Table[hopscope.ComparedOutput])
    assert_type(compared.where, hopscope.debug.Divergence | None)
    return [plan.cost for plan in made if isinstance(plan, hopscope.Plan)]


def reports(report: hopscope.Report) -> float:
    stage: hopscope.StageRun = report.stages[0]
    operators: hopscope.Table[hopscope.OperatorRun] = report.operators
    lost: hopscope.NotFinite | None = report.not_finite
    verification: hopscope.Verification | None = report.verification
    if verification is not None and verification.max_abs is not None:
        return verification.max_abs
    return (stage.bound_seconds or 0) + sum(operator.seconds for operator in operators) + (lost.numbers if lost else 0)


def exports(model: Any, data: Any) -> dict[str, Any]:
    saved = hopscope.save(model, data, "model.pt")
    assert_type(hopscope.export_program(model, data, "model.pt2"), hopscope.Saved)
    hopscope.save(model, data, "model.pt", via="onnx")  # type: ignore[arg-type]
    hopscope.trust(saved.path)
    made: hopscope.Export = hopscope.export(saved, data, "exported", objective="time")
    runner: hopscope.Exported = hopscope.load(made.folder, device=torch.device("cpu"), batch=100)
    with runner.flow(x=data) as flow:
        assert_type(flow, hopscope.LayeredFlow)
        layer: hopscope.Layer = flow.layers[0]
        block: hopscope.Block = next(layer.blocks(size=10))
        edges: hopscope.Edges = block.edges()
        nodes: hopscope.Nodes = edges.source
        layer.propagate(lambda some: some.source["x"], "mean", into="means")
        print(len(nodes), block.compute())
        return flow.run()


def debugs(model: Any, data: Any) -> None:
    assert_type(hopscope.debug.compare(model, data, against="other.pt"), hopscope.debug.Divergence)
    assert_type(hopscope.debug.compare(model, data, against=hopscope.save(model, data, "b.pt")), hopscope.debug.Divergence)
    assert_type(hopscope.debug.non_finite(model, data), hopscope.debug.NonFinite)
    assert_type(hopscope.debug.breakpoints(model, data, ["convs.0"], when="isnan"), hopscope.debug.Hits)
    assert_type(hopscope.debug.watch(model, data, "convs.0", nodes=numpy.array([1, 2])), hopscope.debug.Watched)
    assert_type(hopscope.debug.tensor(model, data, "out", nodes=torch.tensor([1])), hopscope.debug.Tensor)
    memory = hopscope.debug.memory(model, data, 1)
    assert_type(memory, hopscope.debug.StageMemory)
    loop: hopscope.debug.LoopMemory = memory.loops[0]
    maker: hopscope.debug.Maker = hopscope.debug.non_finite(model, data).makers[0]
    place: hopscope.debug.Place = maker.place
    row: hopscope.debug.Row = maker.shown[0]
    print(loop.label, place.source, row.ends)


def opens(model: Any, data: Any) -> int:
    devices: hopscope.Devices = hopscope.devices()
    device: hopscope.Device = devices.devices[0]
    engine: hopscope.Engine = hopscope.engine()
    logging.getLogger("hopscope").info("%s %s %s", device.id, engine.path, hopscope.__version__)
    window: hopscope.Window = hopscope.open(model, data)
    return window.wait()


def failures(model: Any, data: Any) -> str:
    try:
        hopscope.inference(model, data)
    except (hopscope.UsageError, hopscope.InputError, hopscope.Refused, hopscope.Untrusted, hopscope.Cancelled) as problem:
        return problem.hint
    except hopscope.VerificationError as problem:
        return str(problem.result)
    except (hopscope.ResourceError, hopscope.EngineError, hopscope.HopscopeError) as problem:
        return f"{problem.code} {problem.exit_code} {problem.message} {problem.where}"
    return ""
