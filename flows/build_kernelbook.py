"""The flow ``build-kernelbook``: from real source code to a verified dataset of PyTorch->Triton pairs."""

from __future__ import annotations

from prefect import flow, get_run_logger
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from flows.build_options import BuildOptions
from flows.finish import Outcome, finish
from flows.kernelbook import Build, begun
from flows.prefect_runner import PrefectWatcher, prefect_tasks


@flow(name="build-kernelbook", flow_run_name="build {options.out}", persist_result=False, validate_parameters=True)
def build_kernelbook(options: BuildOptions = BuildOptions()) -> Outcome:  # noqa: B008 - frozen
    """Mine, align, verify, filter, deduplicate, write the dataset and its report.

    Raises:
        ValueError: the options cannot be followed, or another build is at work in the folder.
        flows.finish.BuildError: no pair came through, or shards failed for a reason that lies with us.
    """
    with begun(options):
        with prefect_tasks(options) as runner:
            build = Build(options, runner, PrefectWatcher(options.parallel))
            published = build.run()
        outcome = finish(build, published)
    create_table_artifact(outcome.funnel, key="build-funnel", description="What each stage kept, and why it dropped.")
    create_markdown_artifact(outcome.markdown(), key="build-summary")
    if outcome.report:
        create_link_artifact(outcome.report, link_text="report.html", key="build-report")
    get_run_logger().info(outcome.line())
    outcome.check()
    return outcome
