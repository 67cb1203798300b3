"""The walls of the house: who may import whom, what stays out of where, and how long a thing may get."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARY = sorted((ROOT / "packviz").rglob("*.py"))
UI = sorted((ROOT / "ui").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))
APP = [ROOT / "app.py"]

# Nothing points back along the arrows: a part of the library imports only from lines above its own.
ORDER = [
    {"errors", "exactness", "theme", "visible"},
    {"examples", "parsing", "zero_length"},
    {"config", "sequences", "stages"},
    {"batch"},
    {"modules", "record", "starting"},
    {"checks", "reference"},
    {"grids"},
    {"trace"},
    {"charts", "compare", "cost", "predictions", "snippet", "studies", "tables", "training"},
    {"doctor", "movie", "quiz"},
    {"questions"},
]
LEVEL = {part: level for level, parts in enumerate(ORDER) for part in parts}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> Iterator[str]:
    """Yield the dotted name of everything that the file imports, at its head or inside a function."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def heads_of(path: Path) -> set[str]:
    """Return the top-level packages that the file imports."""
    return {name.partition(".")[0] for name in imports_of(path)}


def part_of(dotted: str) -> str | None:
    """Return the part of the library that a dotted name lies in: `packviz.stages.padding` lies in `stages`."""
    words = dotted.split(".")
    return words[1] if words[0] == "packviz" and len(words) > 1 else None


def own_part(path: Path) -> str:
    return path.relative_to(ROOT / "packviz").with_suffix("").parts[0]


each_library_file = pytest.mark.parametrize("path", LIBRARY, ids=named)


def test_there_is_something_to_guard() -> None:
    assert len(LIBRARY) > 10
    assert PAGES
    assert UI


@each_library_file
def test_the_library_knows_no_streamlit(path: Path) -> None:
    assert not heads_of(path) & {"streamlit", "ui", "pages", "app"}


@each_library_file
def test_plotly_and_pandas_stay_where_they_belong(path: Path) -> None:
    allowed = {"charts": {"plotly", "pandas"}, "theme": {"plotly"}, "tables": {"pandas"}}.get(own_part(path), set())
    assert heads_of(path) & {"plotly", "pandas"} <= allowed


@each_library_file
def test_nothing_points_back_along_the_arrows(path: Path) -> None:
    own = own_part(path)
    if own == "__init__":
        return
    assert own in LEVEL, f"{own} has no place in ORDER"
    used = {part for name in imports_of(path) if (part := part_of(name)) not in (None, own)}
    assert all(LEVEL[part] < LEVEL[own] for part in used if part is not None), used


@pytest.mark.parametrize("path", sorted((ROOT / "packviz" / "stages").glob("[!_]*.py")), ids=named)
def test_stages_do_not_know_each_other(path: Path) -> None:
    others = {name.split(".")[2] for name in imports_of(path) if name.startswith("packviz.stages.")}
    assert others <= ({"cells"} if path.stem == "recurrence" else set())


@pytest.mark.parametrize("path", UI, ids=named)
def test_ui_imports_no_page(path: Path) -> None:
    assert not heads_of(path) & {"app", "pages"}


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_pages_import_only_the_ui_the_library_and_streamlit(path: Path) -> None:
    assert heads_of(path) <= {"ui", "packviz", "streamlit"}


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_pages_keep_no_state_and_define_no_classes(path: Path) -> None:
    nodes = list(ast.walk(tree_of(path)))
    assert not [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "session_state"]
    assert not [node for node in nodes if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("path", [*UI, *PAGES, *APP], ids=named)
def test_what_a_user_typed_is_never_html(path: Path) -> None:
    names = {keyword.arg for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call) for keyword in node.keywords}
    assert not {name for name in names if name and name.startswith("unsafe_allow")}


@pytest.mark.parametrize("path", [*LIBRARY, *UI], ids=named)
def test_every_module_says_what_it_offers(path: Path) -> None:
    tree = tree_of(path)
    (offered,) = [
        [ast.literal_eval(name) for name in node.value.elts]
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.List)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id == "__all__"
    ]
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert not [name for name in offered if name.startswith("_") and name != "__version__"]
    assert {name for name in defined if not name.startswith("_")} <= set(offered)


@pytest.mark.parametrize(
    ("path", "most"),
    [*((path, 220) for path in [*LIBRARY, *UI]), *((path, 60) for path in [*PAGES, *APP])],
    ids=lambda value: named(value) if isinstance(value, Path) else str(value),
)
def test_no_file_and_no_function_grows_too_long(path: Path, most: int) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= most
    functions = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: lines for name, lines in lengths.items() if lines > 45} == {}


@pytest.mark.parametrize("path", [*LIBRARY, *UI], ids=named)
def test_no_module_is_a_drawer_for_anything(path: Path) -> None:
    assert not {"utils", "helpers", "manager", "common", "misc"} & set(path.relative_to(ROOT).with_suffix("").parts)


def test_importing_the_library_pulls_in_nothing_that_only_drawing_needs() -> None:
    code = "import sys, packviz; print(*(name for name in ('streamlit', 'plotly', 'pandas') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_library_exports_a_short_alphabetical_list() -> None:
    import packviz

    assert packviz.__all__ == sorted(packviz.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    assert all(hasattr(packviz, name) for name in packviz.__all__)


@pytest.mark.parametrize("path", [*LIBRARY, *UI, *PAGES, *APP], ids=named)
def test_colours_are_written_in_the_theme_alone(path: Path) -> None:
    if path.name == "theme.py":
        return
    texts = [node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant)]
    assert [text for text in texts if isinstance(text, str) and re.search(r"#[0-9a-fA-F]{6}\b|\brgba?\(", text)] == []
