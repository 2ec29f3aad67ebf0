"""Mining: what runs, is documented or configured in a package tells with what its classes are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut import users
from sources.cut.modules import candidates
from sources.cut.slicer import Slicer
from sources.cut.writer import cut
from sources.fetch import texts
from sources.hints.hints import Hints
from sources.infer.constructor.signatures import as_called, parameters_of
from sources.infer.inputs import Many, Plain, Tensor
from sources.infer.search import Solution
from sources.mine import replacements
from sources.probe import _seen, attempt_one, warm
from sources.text import documents
from sources.text.on_cpu import OnOne
from sources.text.rewrite import without_docstrings
from sources.text.symbols import Package
from sources.text.targets import Here, Inner, Missing
from sources.watch.capture import decoded, encoded

HEAD = "import torch\nimport torch.nn as nn\n"
# The size of the input follows from the arguments in a way that no search finds.
NET = HEAD + (
    "class Odd(nn.Module):\n    def __init__(self, key):\n        super().__init__()\n"
    "        self.size = {'seventeen': 17}[key]\n"
    "    def forward(self, x):\n        assert divmod(x.shape[-1], self.size) == (3, 0), 'no'\n        return x.cumsum(-1)\n\n\n"
    "class Net(nn.Module):\n    def __init__(self, key, width):\n        super().__init__()\n"
    "        self.inner = Odd(key)\n        self.out = nn.Linear(51, width)\n"
    "    def forward(self, x):\n        return self.out(self.inner(x))\n\n\n"
    "def build(key):\n    return Net(key, 8)\n"
)
README = """# A package

```python
from net import build

model = build('seventeen').cuda()
model(torch.rand(4000, 51).to('cuda'))
```

```python
this is no python
```

    ```python
    import net
    net.build('x')
    ```
"""
README = README.replace("from net", "import torch\nfrom net")


def package() -> tuple[Package, Hints]:
    code, shown, _ = documents.split({"net.py": NET, "README.md": README})
    found = Package(code, replacements(), shown)
    return found, Hints(found)


def test_examples_of_a_readme_are_users_and_no_candidates() -> None:
    found, hints = package()
    assert {c.symbol for c in candidates(found)} == {"Odd", "Net"}
    assert hints.users(Here("net.py", "Odd"))[0] == Here("README_md_0.py", "run_as_script")


def test_a_class_is_seen_at_work_two_calls_away_and_on_a_device_that_is_absent(tmp_path: Path) -> None:
    warm()
    found, hints = package()
    key = Here("net.py", "Odd")
    slicer = Slicer(found)
    user = hints.users(key)[0]
    text = cut(slicer, user.file, user.name, [key])
    told = {"source": text.source, "name": text.name, "wanted": text.names[key]}
    assert "cuda" not in text.source
    assert decoded(_seen(told, tmp_path)["Odd"]) == Solution({"key": "'seventeen'"}, (Tensor((4000, 51)),))
    whole = cut(slicer, key.file, key.name)
    alone = {"source": whole.source, "name": "Odd", "lacks": [], "told": {"sites": [], "defaults": {}, "users": []}}
    assert attempt_one(alone, 60, tmp_path)["reason"]
    made = attempt_one(alone | {"told": {"sites": [], "defaults": {}, "users": [told]}}, 60, tmp_path)
    assert made["reason"] == ""
    assert made["inputs"][0]["shape"][-1] == 51


def test_who_uses_many_classes_is_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    net = "from torch import nn\n\n\nclass {}(nn.Module):\n    def forward(self, x):\n        return x\n"
    train = "from pkg.nets import A, B\n\nNETS = [A, B]\n\n\ndef train():\n    return A(), NETS, B()\n"
    found = Package({"pkg/nets.py": net.format("A") + net[len("from torch import nn\n"):].format("B"),
                     "pkg/train.py": train})  # fmt: skip
    made = list[str]()
    monkeypatch.setattr(
        users, "cut", lambda slicer, path, name, more, most: made.append(name) or cut(slicer, path, name, more)
    )
    used = users.Users(Slicer(found), Hints(found))
    texts = [u for name in "AB" for u in used.of(Here("pkg/nets.py", name))]
    assert [(u["name"], u["wanted"]) for u in texts] == [("train", "A"), ("train", "B")]
    assert made == ["train"]


@pytest.mark.parametrize("most", [4, 5])
def test_a_script_that_needs_most_of_a_package_is_no_user(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "MAX_PIECES", most)
    net = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    steps = "".join(f"\n\ndef step_{n}():\n    return {f'step_{n - 1}' if n else 'Net'}()\n" for n in range(3))
    found = Package({"net.py": net, "train.py": f"from net import Net\n{steps}\n\ndef main():\n    return step_2()\n"})
    hints = Hints(found)
    monkeypatch.setattr(hints, "users", lambda _: [Here("train.py", "main")])
    assert len(users.Users(Slicer(found), hints).of(Here("net.py", "Net"))) == (most == 5)


def test_values_of_configurations_are_defaults() -> None:
    settings = {"conf/a.yaml": "model:\n  depth_of_net: 3\n  rates: [1, 2]\n", "config.json": '{"widths": [[8, 9]]}',
                "b.yaml": "a: [\n"}  # fmt: skip
    assert documents.split(settings)[2].keys() == settings.keys()
    hints = Hints(Package({}), settings.values())
    known = hints.defaults(["depth_of_net", "rates", "widths", "model"])
    assert known == {"depth_of_net": "3", "rates": "[1, 2]", "widths": "[[8, 9]]"}


PROTOCOLS = HEAD + (
    "from typing import List, NamedTuple, Optional\n"
    "class Shape(NamedTuple):\n    channels: Optional[int] = None\n    stride: int = 1\n\n\n"
    "class Layer(nn.Module):\n    def __init__(self, attention, d_model):\n        super().__init__()\n"
    "        self.attention, self.norm = attention, nn.LayerNorm(d_model)\n"
    "    def forward(self, x):\n        return self.norm(self.attention.attend(x))\n\n\n"
    "class Attention(nn.Module):\n    def __init__(self, d_model):\n        super().__init__()\n"
    "        self.value = nn.Linear(d_model, d_model)\n    def attend(self, x):\n        return self.value(x)\n"
    "    def forward(self, x):\n        return self.value(x)\n\n\n"
    "class Head(nn.Module):\n    def __init__(self, shapes: List[Shape], *, depth: 'Optional[Layer]' = None):\n"
    "        super().__init__()\n        self.conv = nn.Conv2d(shapes[0].channels, 4, 1)\n"
    "    def forward(self, x):\n        return self.conv(x)\n\n\n"
    "def build(d_model, n, cfg):\n    return [Layer(Attention(d_model), d_model) for _ in range(n)], Layer(cfg.make(), 3)\n"
)


def test_calls_and_hints_tell_what_modules_are_made_of() -> None:
    hints = Hints(Package({"p.py": PROTOCOLS}))
    names = {Here("p.py", n): n for n in ("Shape", "Layer", "Attention", "Head")}
    sites = [site.spelled(names.get) for site in hints.sites(Here("p.py", "Layer"))]
    assert {"positional": ["Attention(64)", "64"], "named": {}} in sites  # the same size outside as inside
    assert all("make" not in str(site) for site in sites)
    (typed,) = hints.sites(Here("p.py", "Head"))
    assert typed.needs == {Here("p.py", "Shape"), Here("p.py", "Layer")}
    shapes = typed.spelled(names.get)["named"]["shapes"]  # type: ignore[call-overload]
    assert shapes == "[Shape(channels=64), Shape(channels=64)]"


def test_calls_of_its_own_file_are_among_those_that_tell_of_a_class() -> None:
    made = "from own import Net, Block\n\n\ndef build():\n    return " + ", ".join(
        f"Net(Block, [{n}], {n}, {n}, bias=True)" for n in range(1, 7)
    )
    own = "from torch import nn\n\n\nclass Block(nn.Module):\n    pass\n\n\nclass Net(nn.Module):\n    pass\n\n\n"
    own += "def build(**given):\n    return Net(Block, [9], **given)\n"
    sites = Hints(Package({"a_maker.py": made, "own.py": own})).sites(Here("own.py", "Net"))
    spelled = [site.spelled({Here("own.py", n): n for n in ("Net", "Block")}.get) for site in sites]
    assert len(spelled) == 4
    assert {"positional": ["Block", "[9]"], "named": {}} in spelled


def test_what_a_name_means_is_not_told_of_what_takes_its_place_in_memory() -> None:
    """``Attention`` is given up with the argument that cannot be read: its node is no more, and its id another's."""
    text = PROTOCOLS + (
        "\n\ndef more(cfg, d_model):\n"
        "    return Layer([Attention(d_model), cfg.make(1)] + [Attention(d_model), Attention(cfg.make())], Attention(d_model))\n"
    )
    hints = Hints(Package({"p.py": text}))
    sites = hints.sites(Here("p.py", "Layer"))
    assert any(len(site.targets) > 2 for site in sites)
    for site in sites:
        assert set(site.targets) == {id(node) for node in site.kept}


def test_hostile_documents_tell_nothing() -> None:
    laughs = "a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]\n" for i in range(9))
    deep = "[" * 30_000 + "]" * 30_000
    for text in (
        laughs,
        deep,
        f"a: {deep}",
        "a: " * 9000,
        "{a: " * 9000,
        '{"a": ' + "9" * 5000 + "}",
        "a: !!python/object/apply:os.system [ls]\n",
        "\x00",
        "",
    ):
        assert documents.sections(text) == []
    code = "```python\nimport a\nx = " + "-" * 20_000 + "1\n```\n"
    assert list(documents.examples("README.md", code + "> " * 5000 + "x")) == []


def test_attributes_and_dictionaries_tell_defaults() -> None:
    text = "def main(args):\n    args.radius = 3\n    return dict(a=1), {'levels': 4, 'wide': [1, 2]}\n"
    hints = Hints(Package({"m.py": text}))
    assert hints.defaults(["radius", "levels", "wide"]) == {"radius": "3", "levels": "4", "wide": "[1, 2]"}


def test_what_is_read_of_a_repository() -> None:
    for path in ("a/b.py", "README.md", "x/readme_zh.md", "configs/net.yaml", "config.json", "conf/a/b.yml"):
        assert texts.wanted(path)
    for path in ("docs/guide.md", "data/train.json", ".github/config.yml", "build/config.json", "a.txt"):
        assert not texts.wanted(path)


def test_a_solution_survives_json() -> None:
    batch = Many((Tensor((2, 3)),), "dict", ("image",))
    specs = (Tensor((2, 3), "int", 7), Many((Plain((1, None)), Tensor((4,), "bool")), "tuple"), Plain("x"), batch)
    assert decoded(encoded(Solution({"a": "nn.ReLU"}, specs))) == Solution({"a": "nn.ReLU"}, specs)


def test_devices_and_weights_that_are_absent_are_not_spelled() -> None:
    text = HEAD + (
        "class M(nn.Module):\n    def __init__(self, device='cuda:0', pretrained=True):\n        super().__init__()\n"
        "    def forward(self, x):\n        return (x.cuda() + torch.ones(3, device='cuda').to('cuda')).cuda(0)\n"
    )
    source = cut(Slicer(Package({"m.py": text})), "m.py", "M").source
    assert "device='cpu', pretrained=False" in source
    assert "return (x + torch.ones(3, device='cpu').to('cpu'))\n" in source


def test_on_one_device_nothing_moves() -> None:
    with OnOne():
        assert torch.ones(2, device="cuda").cuda().to("cuda:1").device == torch.device("cpu")
    with torch.device("meta"), OnOne(torch.device("meta")):
        assert torch.ones(2).cpu().to("cpu").is_meta


def test_all_of_a_third_party_package_may_be_served_by_one_file() -> None:
    text = "from mmcv.cnn.bricks import ConvModule\nfrom mmengine.model import BaseModule\nfrom mmcv.ops import nothing\nimport tqdm\n"
    found = Package({"a.py": text}, replacements())
    assert found.lookup("a.py", "ConvModule") == Here("mmcv.py", "ConvModule")
    assert found.lookup("a.py", "BaseModule") == Here("mmcv.py", "BaseModule")
    assert isinstance(found.lookup("a.py", "nothing"), Missing)
    assert found.lookup("a.py", "tqdm") == Inner("tqdm.py")


def test_what_touches_the_system_is_left_out_where_it_is_not_needed() -> None:
    text = HEAD + (
        "import os\nfrom yacs.config import CfgNode as CN\n_C = CN()\n_C.MODEL = CN()\n_C.MODEL.WIDTH = 3\n"
        "def read(path):\n    return open(path).read()\n"
        "class M(nn.Module):\n    def __init__(self, path=None):\n        super().__init__()\n"
        "        self.text = read(path) if path else self.from_file\n"
        "    @classmethod\n    def from_file(cls, path):\n        return cls(open(path))\n"
        "    def forward(self, x):\n        return torch.cuda.FloatTensor([_C.MODEL.WIDTH]) * x\n"
    )
    source = cut(Slicer(Package({"m.py": text}, replacements())), "m.py", "M").source
    assert "open" not in source.replace("what uses open", "")
    assert "read = None" in source
    namespace: dict[str, Any] = {}
    exec(compile(source.replace("self.from_file", "0"), "cut", "exec"), namespace)
    assert namespace["M"]()(torch.ones(1)).item() == 3


def test_docstrings_go_where_a_text_is_too_long() -> None:
    text = 'def f():\n    """Long."""\n\n\nclass C:\n    """Long."""\n\n    x = 1\n'
    assert without_docstrings(text) == "def f():\n    pass\n\n\nclass C:\n\n    x = 1\n"


def test_holders_of_settings_and_constants_of_scripts_tell_defaults() -> None:
    text = (
        "class hparams:\n    mel_channels = 80\n    strides = [2, 3]\n    use_gate = True\n\n\n"
        "class Layer:\n    growth = 7\n    def run(self):\n        return 3\n\n\n"
        "@dataclass\nclass Sizes:\n    layers: str = field(default='128-64', metadata={'help': 'sizes'})\n"
        "    widths: list = field(default_factory=lambda: [8, 9])\n    rate: float = Field(0.5, gt=0)\n\n\n"
        "def get(**given):\n    return Namespace(**dict(conv_kernel=(3, 5, 5), rnn_dim=1024, **given))\n\n\n"
        "HIDDEN_SIZE = 96\nx = torch.zeros(4, dtype=3)\nn = 5\n"
        "def train(flag_of=True):\n    Net(code_size=24, flag_of=True)\n"
    )
    known = Hints(Package({"m.py": text})).defaults(
        ["mel_channels", "strides", "use_gate", "growth", "conv_kernel", "rnn_dim", "hidden_size", "dtype", "n",
         "code_size", "flag_of", "layers", "widths", "rate"]
    )  # fmt: skip
    assert known == {"mel_channels": "80", "strides": "[2, 3]", "use_gate": "True", "growth": "7", "conv_kernel": "(3, 5, 5)",
                     "rnn_dim": "1024", "hidden_size": "96", "code_size": "24", "layers": "'128-64'", "widths": "[8, 9]",
                     "rate": "0.5"}  # fmt: skip


LIKE = HEAD + (
    "class Other:\n    def encode(self, x):\n        return x\n\n\n"
    "class Base(nn.Module):\n    def hidden_size(self):\n        return self.size\n\n\n"
    "class Language(Base):\n    def __init__(self, vocab, size):\n        super().__init__()\n        self.size = size\n"
    "        self.table = nn.Embedding(vocab, size)\n    def encode(self, x):\n        return self.table(x)\n"
    "    def forward(self, x):\n        return self.table(x).sum()\n\n\n"
    "class Head(nn.Module):\n    def __init__(self, lm, width, opt):\n        super().__init__()\n        self.lm = lm\n"
    "        self.proj = nn.Linear(lm.hidden_size(), width)\n        self.opt = opt.get('a'), opt.rate\n"
    "    def forward(self, x):\n        return self.proj(self.lm.encode(x))\n\n\n"
    "def main(lm):\n    return Head(lm, 24, None)\n"
)


def test_a_parameter_becomes_the_class_that_has_what_it_is_asked_for() -> None:
    package = Package({"p.py": LIKE})
    found = Hints(package).sites(Here("p.py", "Head"))
    (call, typed) = (site.spelled({Here("p.py", "Language"): "Language"}.get) for site in found)
    assert call["positional"][:2] == ["Language(vocab=1024, size='32')".replace("'", ""), "24"]  # type: ignore[index]
    assert typed["named"].keys() == {"lm"}  # type: ignore[union-attr]
    assert found[0].needs == {Here("p.py", "Language")}


def test_devices_that_are_put_together_are_the_cpu() -> None:
    text = HEAD + (
        "DEVICE = 'cuda' if torch.cuda.device_count() >= 0 else 'cpu'\n\n\n"
        "class M(nn.Module):\n    def __init__(self, gpu):\n        super().__init__()\n"
        "        self.device = torch.device(f'cuda:{gpu}')\n        self.second = torch.device('cuda:%d' % gpu)\n"
        "        self.gate = torch.ones(3).to('cuda:{}'.format(gpu))\n"
        "    def forward(self, x):\n        return x.to(self.device) + self.gate.to(DEVICE).to(self.second)\n"
    )
    source = cut(Slicer(Package({"m.py": text})), "m.py", "M").source
    assert "'cuda" not in source
    scope: dict[str, Any] = {}
    exec(source, scope)
    assert scope["M"](0)(torch.zeros(3)).sum() == 3
    call = "\n\ndef main():\n    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n    M(device)\n"
    (site,) = Hints(Package({"m.py": text + call})).sites(Here("m.py", "M"))
    assert site.spelled(lambda _: "M")["positional"] == ["torch.device('cpu')"]
    options = "def main(parser):\n    parser.add_argument('--device_of', default='cuda:0')\n"
    assert Hints(Package({"m.py": options})).defaults(["device_of"]) == {"device_of": "'cpu'"}


FACTORY = """class Base(nn.Module):
    def __init__(self, part, widths, scale=1):
        super().__init__()
        assert widths[0] == 24 and part.wide, "of the factory's only"
        self.parts = nn.ModuleList(part(w) for w in widths)
        self.scale = scale

    def forward(self, x):
        return [part(x) * self.scale for part in self.parts]


class Net(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Part(nn.Linear):
    wide = True

    def __init__(self, width):
        super().__init__(width, 8)


def net(loaded=False, **kwargs):
    return Net(Part, [24, 24], **kwargs)
"""


def test_what_a_factory_makes_is_called_and_may_be_given_to_a_base(tmp_path: Path) -> None:
    user = {"name": "net", "source": HEAD + FACTORY, "wanted": "Net"}
    assert decoded(_seen(user, tmp_path)["Net"]).arguments == {"part": "Part", "widths": "[24, 24]"}
    told: dict[str, Any] = {"sites": [], "defaults": {}, "users": [user]}
    made = attempt_one({"source": HEAD + FACTORY, "name": "Net", "lacks": [], "told": told}, 60, tmp_path)
    assert not made["reason"], made
    (site,) = as_called([{"positional": ["Part", "[8]"], "named": {}}], parameters_of(_kind(FACTORY)))
    assert site == {"part": "Part", "widths": "[8]"}


def _kind(text: str) -> Any:
    space: dict[str, Any] = {}
    exec(HEAD + text, space)
    return space["Net"]
