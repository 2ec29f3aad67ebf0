"""Files of which a part is no Python 3: the rest of them is read."""

from __future__ import annotations

import ast

import pytest

from sources.text.partly import readable
from sources.text.symbols import Package
from tests.cuts import HEAD, cut

WHOLE = f"{HEAD}\n\nclass Good(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n\n"
HALF = WHOLE + "@register\nclass Bad(nn.Module):\n    def forward(self, x):\n        return x.relu((\n\n\nlast = Good\n"


def test_a_class_that_does_not_parse_is_all_that_is_lost() -> None:
    text, tree, why = readable(HALF)
    assert [n.name for n in tree.body if isinstance(n, ast.ClassDef)] == ["Good"]
    assert text.split("\n")[len(HALF.split("\n")) - 2] == "last = Good"  # on the line where it was
    assert why.startswith("SyntaxError: '(' was never closed")
    package = Package({"net.py": HALF})
    assert package.file("net.py") is not None and package.broken == {"net.py": why}
    assert "class Good" in cut({"net.py": HALF}, "net.py", "Good")


@pytest.mark.parametrize("said", ["if x.sum() > 0:\n            print 'wide', x", "print x; print 'y'"])
def test_what_python_2_printed_is_left_out(said: str) -> None:
    text = WHOLE.replace("return x.relu()", f"{said}\n        return x.relu()") + "other = 1\n"
    _, tree, _ = readable(text)
    kept = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    assert len(kept) == ("if" in said)  # of two statements on a line the rest is not to be lost: the class is
    assert all(ast.unparse(k).count("pass") == 1 and "x.relu()" in ast.unparse(k) for k in kept)


def test_an_exception_of_python_2_has_its_name() -> None:
    text, _, _ = readable("try:\n    x = 1\nexcept (KeyError, OSError), error:\n    x = error\n")
    assert "except (KeyError, OSError) as error:" in text


def test_marks_of_a_merge_do_not_cut_a_class_in_two() -> None:
    merged = WHOLE.replace(
        "        return", "<<<<<<< HEAD\n        x = x + 1\n=======\n        x = x + 2\n>>>>>>> b\n        return"
    )
    _, tree, _ = readable(merged + "other = 1\n")
    assert ast.unparse(tree.body[-1]) == "other = 1" and not any(isinstance(n, ast.ClassDef) for n in tree.body)


def test_a_file_of_which_nothing_parses_is_none() -> None:
    with pytest.raises(SyntaxError):
        readable("class :\n")


@pytest.mark.parametrize("rest", ['"""wide\nand"""', "'%d' % (\nx)"])
def test_a_print_of_several_lines_takes_no_half_of_a_function_with_it(rest: str) -> None:
    text = WHOLE + f"def printing(x):\n    print {rest}\n    return x\n\n\nother = 1\n"
    _, tree, _ = readable(text)
    assert "other = 1" in ast.unparse(tree) and "printing" not in ast.unparse(tree)


@pytest.mark.parametrize(
    "lost", ["class Good(nn.Module):\n    exec 'x'\n", "for name in TABLE:\n    exec 'x'\n", "TABLE['a'] = 0777\n"]
)
def test_nothing_is_read_that_would_mean_something_else_without_what_is_lost(lost: str) -> None:
    readable(f"TABLE = {{}}\n{WHOLE}if __name__ == '__main__':\n    exec 'TABLE'\n")
    with pytest.raises(SyntaxError):
        readable(f"TABLE = {{}}\n{WHOLE}{lost}")
