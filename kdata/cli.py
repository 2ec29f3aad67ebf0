"""The command line: one verb a stage. It starts fast, so heavy imports happen inside the verbs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from flows.build_options import BuildOptions
from kdata.options import options_of
from kdata.sandbox import isolation
from sft.eval_options import EvalOptions
from sft.options import SftOptions

SHARD_SIZE = 25
AT_TRUST = 5  # of what takes long: a kill loses the shard in hand
MINED_SIZE = 60  # definitions: what a network teaches of its blocks is told to those of its own shard

app = typer.Typer(
    name="kdata", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown",
    help="From PyTorch source code to verified pairs of PyTorch and Triton. Every row carries its receipt.",
)  # fmt: skip
Out = Annotated[str, typer.Option("--out", "-o", help="Folder for the shards this verb writes.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Shards in work at once. Default: the number of cores.")]
Isolation = Annotated[str | None, typer.Option("--require-isolation", help=isolation.HELP)]
Problems = Annotated[str | None, typer.Option(help=BuildOptions.model_fields["problems"].description)]
Inputs = Annotated[list[str] | None, typer.Argument(help="Parquet files, or folders of them.")]


@app.command()
@options_of(BuildOptions)
def build(options: BuildOptions) -> None:
    """Run all stages: mine, align, verify, filter, deduplicate, write the dataset and its report.

    The same command again resumes a stopped build. Needs no GPU and no server; where PREFECT_API_URL names a Prefect
    server, the build is a flow run there.

    Example: `kdata build --sources pypi:timm,./mylib --limit 40 --out out/first`
    """
    from flows.launch import launch

    outcome = launch(options)
    outcome.check()
    print(outcome.line())


@app.command()
def serve(limit: Annotated[int, typer.Option(min=1, help="Flow runs at once.")] = 1) -> None:
    """Serve all flows from this machine: start a Prefect server if none answers, then wait for runs. Ctrl-C ends both.

    Example: `kdata serve`, and in another terminal `prefect deployment run build-kernelbook`
    """
    from flows.serve import serve_all

    serve_all(limit)


@app.command()
def mine(
    sources: Annotated[
        list[str],
        typer.Argument(help="Folders, pypi:NAME[==VERSION], git:URL[@COMMIT], stack-v3:Python, set:NAME, ops:torch."),
    ],
    out: Out = "",
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many tasks of one source.")] = None,
    seed: Annotated[int, typer.Option(help="Decides which are taken when there are more than the limit.")] = 0,
    explain: Annotated[str, typer.Option(help="Only tell of this class or function where and why it is lost.")] = "",
    inline: Annotated[
        bool, typer.Option(help="Fetch absent packages as source, and inline what definitions need of them.")
    ] = True,
    workers: Workers = None,
) -> None:
    """Cut self-contained tasks out of source code and prove that each runs.

    Writes a .py file for each task, index.jsonl, and the shards for the next verb, and tells what was lost and why.

    Example: `kdata mine ./mylib pypi:timm --limit 50 --out tasks`
    """
    from rich.console import Console

    from flows.mine_source import losses, mined, table
    from kdata import storage
    from sources import mine as mining
    from sources.explain import explain_source

    if explain:
        for line in (line for source in sources for line in explain_source(source, explain, inline)):
            print(line)
        return
    if not out:
        raise ValueError("name the folder for the tasks with --out")
    storage.demand_folder(out)
    rows = mined(sources, out, limit, seed, workers or os.cpu_count() or 1, MINED_SIZE, inline)
    tasks = [t for row in rows for t in row.tasks]
    mining.write_tasks(tasks, out)
    Console().print(table(rows), *([losses(rows)] if any(r.reasons for r in rows) else []))
    print(f"{len(tasks)} tasks in {out}")


@app.command()
def corpus(
    libraries: Annotated[
        list[str] | None, typer.Argument(help="Libraries, LIBRARY=DIR-or-URL[@COMMIT], or stack-v2:Cuda.")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Folder for the shards.")] = "",
) -> None:
    """Collect raw kernels with licence and provenance: CUDA, C++, Triton and other languages for tiles.

    Without arguments it lists the operator libraries that are known.

    Example: `kdata corpus liger-kernel cutlass=./cutlass --out corpus`
    """
    from sources import corpus as texts
    from sources.each_library import make_each

    make_each(libraries or [], out, lambda store, name: [texts.make(store, name)])


@app.command()
def pairs(
    libraries: Annotated[
        list[str] | None, typer.Argument(help="Libraries, or LIBRARY=DIR-or-URL[@COMMIT], LIBRARY=pypi:NAME.")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Folder for the shards.")] = "",
) -> None:
    """Cut hand-written kernels out of operator libraries, each beside what it ought to compute, for `kdata verify`.

    Kernels without a known reference become rows of their own. Without arguments it lists the libraries.

    Example: `kdata pairs liger-kernel flag-gems --out pairs`, then `kdata verify pairs --out verified`
    """
    from sources.each_library import make_each
    from sources.pairs import step

    make_each(libraries or [], out, step.make)


@app.command()
def align(
    tasks: Inputs = None,
    out: Annotated[str, typer.Option("--out", "-o", help="The kernel file, or a folder for shards.")] = "",
    task: Annotated[Path | None, typer.Option(help="One task file in the KernelBench interface.")] = None,
    workers: Workers = None,
) -> None:
    """Compile tasks to Triton that reads well, without a GPU.

    Takes one task file, or folders and parquet files of tasks (ours, or in KernelBook's columns).

    Examples: `kdata align --task relu.py --out relu_triton.py`; `kdata align tasks --out aligned`
    """
    from kdata import storage
    from kdata.align import step
    from kdata.terminal import waiting

    if task is not None:
        if out:
            storage.demand_file(out)
        with waiting(f"aligning {task}"):
            candidate = step.align_file(task)
        storage.put(out, candidate.source.encode()) if out else print(candidate.source, end="")
        if candidate.left_to_aten:
            print(f"kdata: left to ATen: {', '.join(candidate.left_to_aten)}", file=sys.stderr)
        return
    _stage(step.step(), tasks, out, SHARD_SIZE, workers)


@app.command()
def verify(
    candidates: Inputs = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Folder for the shards.")] = "",
    task: Annotated[Path | None, typer.Option(help="One task file in the KernelBench interface.")] = None,
    kernel: Annotated[Path | None, typer.Option(help="A file with a class ModelNew for that task.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the receipt as JSON.")] = False,
    targets: Annotated[str, typer.Option(help="GPUs to compile for, by commas; empty for none.")] = "sm_90,gfx942",
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Draws of weights and inputs for each shape. Default: by level, 2 or 8.")
    ] = None,
    level: Annotated[
        Literal["screen", "trust", "kernelbench"] | None,
        typer.Option(help="trust asks for more; kernelbench: its own rule. Default: trust for one pair, else screen."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="cpu (Triton's interpreter) or cuda (timing, and CUDA C++). Default: cuda if there is one."),
    ] = None,
    precision: Annotated[
        Literal["ieee", "tf32"], typer.Option(help="Of fp32's products, on both sides. tf32: on a GPU only.")
    ] = "ieee",
    require_isolation: Isolation = None,
    workers: Workers = None,
) -> None:
    """Run candidates against their tasks and write a receipt for each.

    For one pair of files the exit status is 0 verified, 1 rejected, 2 could not judge.  Others' data can be checked,
    too: parquet in KernelBook's columns (python_code, triton_code, entry_point) or with KernelBench's problems and
    answers (code, kernel), and folders of .py files with Model and ModelNew.  audit.md tells what fails and why.

    Examples: `kdata verify --task relu.py --kernel relu_triton.py --json`; `kdata verify aligned --out verified`
    """
    from kdata import audit
    from kdata.sandbox import pool
    from kdata.verify import files, step
    from kdata.verify.gpu import judge as gpu_judge

    if task is not None or kernel is not None:
        if candidates or out:
            more = "leave out what else is to be judged, and --out"
            _fail(ValueError(f"--task and --kernel name one pair, whose receipt is printed: {more}"), files.UNDECIDED)
        try:
            pool.demand(require_isolation)
            status = files.verdict(task, kernel, targets, seeds, device, as_json, level or "trust", precision)
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no verdict
            _fail(error, files.UNDECIDED)
        sys.exit(status)
    if as_json:
        raise ValueError("--json is of one pair, named by --task and --kernel; receipts of many go to --out")
    pool.demand(require_isolation)
    chosen = files.parse_targets(targets)
    stage = step.step(chosen, seeds, level=level or "screen", device=gpu_judge.choose(device), precision=precision)
    made = _stage(stage, candidates, out, AT_TRUST if level == "trust" else SHARD_SIZE, workers)
    print(f"what fails, and why: {audit.write(out, made)}")


@app.command("filter")
def filter_(pairs: Inputs, out: Out) -> None:
    """Keep the pairs that may be published: verified, complete, short enough, permissively licensed.

    Your own code is, too, by a file LICENSE at the root of its folder. Example: `kdata filter verified --out filtered`
    """
    from filters import chain

    _stage(chain.step(), pairs, out, None, 1)


@app.command()
def dedup(pairs: Inputs, out: Out, problems: Problems = None) -> None:
    """Drop exact and near duplicates over all pairs together, and what leaks a benchmark's problems.

    Example: `kdata dedup filtered --problems KernelBench --out unique`
    """
    from filters import dedup as deduplicate
    from flows.stages import benchmark

    _stage(deduplicate.step(problems=benchmark(problems)), pairs, out, None, 1)


@app.command()
def report(
    folder: Annotated[str, typer.Argument(help="The folder of a build.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The HTML file. Default: report.html in the folder.")] = "",
) -> None:
    """Write report.html anew: the funnel, the distributions, and pairs to look at, in one file.

    Example: `kdata report out/kernelbook`
    """
    from flows.finish import report_of

    print(report_of(folder, out))


@app.command()
def show(
    id: Annotated[str, typer.Argument(help="The id of a pair or its task, or how it begins.")],  # noqa: A002
    folder: Annotated[str, typer.Option("--in", help="A dataset, a build, or shards.")] = "out/kernelbook",
) -> None:
    """Print one pair, side by side, with its receipt.

    Example: `kdata show 3f2a --in out/kernelbook`
    """
    from rich.console import Console

    from kdata import show as showing

    Console().print(showing.render(showing.find(folder, id)))


@app.command()
def publish(
    pairs: Inputs,
    out: Annotated[str, typer.Option("--out", "-o", help="The dataset folder; not for one that is written.")] = "",
    to: Annotated[str | None, typer.Option(help="Also upload to this Hugging Face repository; needs HF_TOKEN.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the test split.")] = 0,
    problems: Problems = None,
) -> None:
    """Write pairs as a dataset folder with its card and licences; upload it, or one that a build wrote, if asked to.

    Example: `kdata publish unique --out dataset`, or `kdata publish out/kernelbook --to owner/name`
    """
    from cards import dataset
    from filters import chain
    from flows.stages import overlaps
    from kdata import publish as publishing
    from kdata.record import Pair
    from kdata.verbs import read_all

    if to and not (token := os.environ.get("HF_TOKEN")):
        raise ValueError(f"publishing to {to} needs a token: set HF_TOKEN")
    if not (folder := publishing.written(pairs or [], out, to)):
        read = read_all(pairs or [], Pair)
        info = publishing.write_dataset(read, [], out, dataset.render, seed, overlaps(read, problems))
        print(f"{info.train} train and {info.test} test rows in {out}")
    if to:
        chain.demand(publishing.read_dataset(folder or out))
        print(publishing.push(folder or out, to, token))


@app.command("eval")
@options_of(EvalOptions)
def eval_(
    options: EvalOptions,
    table: Annotated[bool, typer.Option("--table", help="Also print a line for every problem.")] = False,
) -> None:
    """Ask a model for kernels, judge its answers, and count: pass@k, fast_p, speedup@k, by level and operator family.

    Folder of the evaluation: results.json, and answers.parquet with a receipt for each answer. The same command goes
    on with a killed evaluation, and asks nothing twice.

    Example: `kdata eval --model out/sft/model --suite kernelbench --path KernelBench --level 1,2 --out out/eval`
    """
    from rich.console import Console

    from sft import tables
    from sft.evaluate import evaluate

    Console().print(tables.render(evaluate(options), table))
    print(f"results.json and answers.parquet in {options.out}")


@app.command()
@options_of(SftOptions)
def sft(options: SftOptions) -> None:
    """Fine-tune a model on a dataset: unsloth where it is installed with one CUDA device, else TRL; a CPU will do.

    Folder of the run: metrics.jsonl, loss.svg, and at last model/. The same command goes on with a killed run.
    On several GPUs: `torchrun --nproc-per-node 2 --no-python kdata sft ... --fsdp`

    Example: `kdata sft --base qwen:0.5b --data out/kernelbook --out out/qwen`
    """
    from cards import model
    from sft import train

    if outcome := train.run(options, model.render):
        print(outcome.line())


def _stage(step: Any, inputs: Sequence[str] | None, out: str, size: int | None, workers: int | None) -> list[Any]:
    """Read records, run a stage over them in shards, say what came out; the shards' manifests."""
    from kdata import storage
    from kdata.verbs import read_all, run, summary

    if not inputs or not out:
        raise ValueError("name what to read, and --out for the shards to write")
    storage.demand_folder(out)
    made = run(step, read_all(inputs, step.takes, step.name), out, size, workers or os.cpu_count() or 1)
    print(summary(made, f"{out}/{step.name}"))
    return made


def _expected() -> tuple[type[Exception], ...]:
    """Errors that bad input causes: they are told in one line."""
    from kdata.align.errors import AlignError
    from kdata.server import ServerError
    from sources.fetch.texts import SourceError

    return AlignError, SourceError, ServerError, isolation.IsolationError, ValueError, LookupError, OSError, ImportError


def _fail(error: Exception, code: int = 1) -> NoReturn:
    """End with one line for what bad input causes; anything else is a fault of ours and keeps its traceback."""
    if "KDATA_DEBUG" in os.environ or not isinstance(error, _expected()):
        raise error
    from kdata.terminal import line_of

    print(f"kdata: {line_of(error)}", file=sys.stderr)
    sys.exit(code)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C, of which typer says nothing
            print("kdata: stopped. The same command goes on from what was finished.", file=sys.stderr)
        raise
    except Exception as error:  # noqa: BLE001 - the front door: see _fail
        _fail(error)
