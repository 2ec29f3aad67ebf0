"""Which distribution has an absent package, and in which version: what a repository's own files state of it.

Runs inside the sandbox: no hostile text is parsed outside.
"""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

MAX_TEXT = 64 << 10  # characters of a file that states requirements
MAX_LINE = 300  # and of one of them
# Distributions that have a module by another name than theirs, most usual first: one that is required goes before.
DISTRIBUTIONS = {
    "clip": ("openai-clip", "clip-anytorch"), "espnet2": ("espnet",), "fla": ("fla-core",),
    "mmcv": ("mmcv", "mmcv-full", "mmcv-lite"), "mmseg": ("mmsegmentation",), "open_clip": ("open-clip-torch",),
    "ot": ("POT",), "pl_bolts": ("lightning-bolts",), "pywt": ("PyWavelets",), "taming": ("taming-transformers",),
}  # fmt: skip
_ITEM = re.compile(r"""^[ \t]*-[ \t]*["']?([\w.-]+[ \t]*[=<>!~][^"'\n]*)""", re.M)  # of a list in YAML: a requirement
_CONDA = re.compile(r"^([\w.-]+)=([\w.]+)(=\w+)?\s*$")  # as conda says a version, and a build
# Modules without Python source that a task could hold, and names by which the index knows something else.
USELESS = frozenset(
    "accelerate aim albumentations apex av boto3 bs4 clearml click colorama coloredlogs comet_ml cupy cv2 cython dask "
    "datasets decord deepspeed detectron2 dgl docopt einx evaluate fairscale faiss fire flash_attn flask gguf google "
    "gradio graphviz h5py horovod hqq huggingface_hub hydra imageio imgaug ipdb ipykernel IPython ipywidgets jax "
    "jax2torch jaxlib jinja2 joblib jsonlines keras kernels librosa lmdb loguru matplotlib mlflow mlx mne mpi4py "
    "mxnet neptune nibabel nltk numba onnx onnxruntime open3d optuna orjson paddle pandas phonemizer PIL "
    "pkg_resources plotly polars prettytable psutil pyarrow pycocotools pydicom pygame pypinyin pytest ray rdkit "
    "regex requests rich sacrebleu safetensors scipy seaborn sentencepiece setuptools shapely SimpleITK skimage "
    "sklearn soundfile spacy streamlit swanlab tabulate tensorboard tensorboardX tensorflow tensorrt termcolor "
    "tiktoken tokenizers torch_xla torchcodec trimesh triton tutel typer tyro ujson unidecode visdom wandb wget "
    "xarray xformers yaml zarr".split()
)
# What only some versions of a distribution have.
FORMER = {"mmcv": ("mmcv.runner", "<2"), "torchtext": ("torchtext.legacy", "<0.12")}
# What repositories call modules of their own, which may be away: the index has something else by these names.
COMMON = frozenset(
    "args base blocks build common config configs const core data data_loader dataset datasets dist engine evaluate "
    "helper helpers layer layers lib libs logger loss losses main metric metrics misc model models module modules "
    "nets network networks ops opt option options params src test tests tools train trainer training transforms util "
    "utils utility vision".split()
)


def wanted(module: str, known: Mapping[str, str]) -> str:
    """The requirement by which a module is fetched, "" for one that is not worth it.

    ``known`` is what the repository requires, see ``stated``.
    """
    named = DISTRIBUTIONS.get(module, (module,))
    name = next((n for n in named if canonicalize_name(n) in known), named[0])
    required = canonicalize_name(name) in known
    if module in USELESS or module.startswith("_") or module in COMMON and not required:
        return ""
    return name + known.get(canonicalize_name(name), "")


def stated(files: Mapping[str, str]) -> dict[str, str]:
    """Versions that a repository's files ask for, by the distribution's canonical name: pinned ones go before.

    Of several files the one nearest to the top counts.  Where none states it, code that names what only older versions
    have does.
    """
    paths = sorted((p for p in files if len(files[p]) <= MAX_TEXT), key=lambda p: (p.count("/"), p))
    every = [known for path in paths for line in _lines(path, files[path]) if (known := _parsed(line))]
    found: dict[str, str] = {}
    for known in sorted(every, key=lambda r: "==" not in str(r.specifier)):
        found.setdefault(canonicalize_name(known.name), str(known.specifier))
    for name, (word, versions) in FORMER.items():
        if name not in found and any(word in text for text in files.values()):
            found[name] = versions
    return found


def _parsed(line: str) -> Requirement | None:
    line = re.sub(r"\s+(#|--).*", "", line.strip())
    if not line or len(line) > MAX_LINE or line.startswith(("#", "-")):
        return None
    try:
        found = Requirement(line)
    except InvalidRequirement:
        return None
    return None if found.url else found


def _lines(path: str, text: str) -> list[str]:
    """The requirements that a file lists, as they stand; none where it cannot be read."""
    name = posixpath.basename(path).lower()
    try:
        if name.startswith("requirements") and name.endswith(".txt"):
            return text.splitlines()
        if name == "pyproject.toml":
            return list(_of_project(tomllib.loads(text)))
        if name == "setup.cfg":
            parser = configparser.RawConfigParser()
            parser.read_string(text)
            return parser.get("options", "install_requires", fallback="").splitlines()
        if re.fullmatch(r"(conda_?)?env(ironment)?\w*\.ya?ml", name):
            return [_CONDA.sub(r"\1==\2", line) for line in _ITEM.findall(text)]
        return list(_of_setup(ast.parse(text))) if name == "setup.py" else []
    except (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error):
        return []


def _of_project(whole: dict[str, Any]) -> Iterator[str]:
    project = whole.get("project")
    lists = [project.get("dependencies")] if isinstance(project, dict) else []
    optional = project.get("optional-dependencies") if isinstance(project, dict) else None
    lists += optional.values() if isinstance(optional, dict) else []
    for lines in lists:
        yield from (line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ()


def _of_setup(tree: ast.Module) -> Iterator[str]:
    """Strings in lists, but for those that other arguments are, such as ``exclude``: only requirements count."""
    other = {id(k.value) for k in ast.walk(tree) if isinstance(k, ast.keyword) and "require" not in (k.arg or "")}
    for node in ast.walk(tree):
        if isinstance(node, ast.List) and id(node) not in other:
            yield from (e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str))
