"""The walls of the house: who may import whom, what stays out of where, and how long a thing may get."""

import ast
import doctest
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import streamlit as st
import torch

import packviz
from packviz import charts
from packviz.teach import pages

ROOT = Path(__file__).parent.parent
LIBRARY = sorted((ROOT / "packviz").rglob("*.py"))
CLASSROOM = sorted((ROOT / "classroom").rglob("*.py"))
UI = sorted((ROOT / "ui").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))
APP = [ROOT / "app.py"]
SCRIPTS = sorted(path for folder in ("player", "classroom/phone", "ui") for path in (ROOT / folder).rglob("*.js"))
EVERYTHING = [*LIBRARY, *CLASSROOM, *UI, *PAGES, *APP]

# The folders in the order of the data: one imports only from those before it; inside a folder, anything goes.
ORDER = ("inputs", "rules", "compute", "facts", "show", "lab", "doctor", "teach")
FLOORS = ("jobs", "state", "parts", "views", "server")  # of ui/, in the same way
DRAWERS = ("errors", "text", "validate")  # open to everybody
DOORS = ("__init__", "__main__", "charts", "predictions", "tables", "testing")  # for callers: not imported inside

NOT_PRIVATE = {"_asdict", "_field_defaults", "_fields", "_replace"}  # of named tuples
# Inner parts of frameworks that have no public way, each with what it is needed for. They may change with any version.
INNER = {
    "_NormBase": "the class of all batch normalizations of torch",
    "_buffers": "a copy of a module: named_buffers() leaves out a buffer with two names",
    "_closed": "whether a notebook's view of a movie still listens",
    "_dynamo": "whether torch.compile was imported: asking torch.compiler would import it",
    "_forward_hooks": "whether a module has hooks, which a run of ours would call",
    "_forward_pre_hooks": "the same before its call, and its spectral or weight norm",
    "_modules": "a copy of a module: named_children() leaves out a part with two names",
    "_pack_padded_sequence": "the name of the operator that pack_padded_sequence calls, to watch it",
    "_pad_packed_sequence": "the same of pad_packed_sequence",
    "_parameters": "the parameters of a layer itself, at every call that is watched",
    "_python_dispatch": "TorchDispatchMode, the only way to see operators in scripted code, stands there",
    "_schema": "the names of an operator's arguments",
    "_tensor_name": "which weight a pruning hook makes",
    "_version": "whether a weight was written to since the last call",
    "streamlit.config": "set_option: st.set_option refuses the options of the server",
    "streamlit.delta_generator.DeltaGenerator": "the type of a container, for annotations",
    "streamlit.logger": "setup_formatter, which is replaced",
    "streamlit.logger.setup_formatter": "Streamlit gives each logger that it makes later a handler of its own",
    "streamlit.navigation.page.Page": "the type of a page, for annotations",
    "streamlit.runtime.Runtime": "which sessions there are, to close them, and to keep files asked for",
    "streamlit.runtime.pages_manager.PagesManager": "uses_pages_directory, which is replaced",
    "streamlit.runtime.pages_manager.PagesManager.uses_pages_directory": "or pages skip app.py at the first visit",
    "streamlit.runtime.scriptrunner.get_script_run_ctx": "the session; run_with_active_hash keeps widgets across pages",
    "streamlit.runtime.stats.ACTIVE_SESSIONS_FAMILY": "the number of sessions, for the metrics",
    "streamlit.runtime.stats.GaugeStat": "the same",
    "streamlit.runtime.uploaded_file_manager.UploadedFile": "the type of an uploaded file, for annotations",
    "uvicorn.protocols.http.auto.AutoHTTPProtocol": "to close stalled connections; `cycle`: the latest request",
    "uvicorn.protocols.utils.ClientDisconnected": "what uvicorn raises if a client is gone",
    "uvicorn.protocols.websockets.websockets_sansio_impl.WebSocketsSansIOProtocol": "the same, for websockets",
    "warnings.showwarning": "warnings of one thread: catch_warnings changes those of all",
}
# Names in Streamlit's page that the app's styles and scripts use; of one that it composes, the part that is written.
IN_THE_PAGE = """
    InputInstructions stApp stAppScrollToBottomContainer stAppToolbar stAppViewContainer stBaseButton- stButton
    stButtonGroup stCheckbox stCode stDataFrame stElementContainer stElementToolbar stExpandSidebarButton stExpander
    stFileUploaderDropzoneInstructions stForm stFormSubmitButton stHeader stHeading stHeadingWithActionElements
    stHorizontalBlock stLayoutWrapper stLogoLink stMain stMainBlockContainer stMarkdown stMarkdownContainer
    stNumberInput stNumberInputStep stPageLink-NavLink stPlotlyChart stPopoverBody stPopoverButton stRadio stSelectbox
    stSidebar stSidebarCollapseButton stSidebarCollapsed stSidebarHeader stSidebarNav stSidebarNavItems stSidebarNavLink
    stStatusWidget stTable stText stTabsScroll stTextArea stTextAreaRootElement stTextInput stTooltipHoverTarget
    stTopNav stTopNavDropdownLink stTopNavSection stVerticalBlock stWidgetLabel rc-overflow data-test-connection-state
"""
NAME_IN_THE_PAGE = r"""\bst[A-Z][\w-]*|\brc-[\w-]+|(?<=testid=")\w+|(?<=dataset\.)test\w+"""
OURS = {"packviz", "classroom", "ui", "pages", "app"}


def offenders(paths: Sequence[Path], fault: Callable[[Path], object]) -> dict[str, object]:
    """Return what is wrong with each file that has a fault."""
    assert paths
    return {path.relative_to(ROOT).as_posix(): found for path in paths if (found := fault(path))}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports_of(path: Path) -> Iterator[str]:
    """Yield the dotted name of everything that the file imports, at its head or inside a function."""
    package = path.relative_to(ROOT).parent.parts
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def heads_of(path: Path) -> set[str]:
    """Return the top-level packages that the file imports."""
    return {name.partition(".")[0] for name in imports_of(path)}


def test_the_library_and_the_classroom_know_no_streamlit_and_ui_no_page() -> None:
    assert offenders(LIBRARY, lambda path: heads_of(path) & {"streamlit", "classroom", "ui", "pages", "app"}) == {}
    assert offenders(CLASSROOM, lambda path: heads_of(path) & {"streamlit", "ui", "pages", "app"}) == {}
    assert offenders(UI, lambda path: heads_of(path) & {"app", "pages"}) == {}


def test_folders_import_only_from_those_before_them() -> None:
    level = dict.fromkeys(DRAWERS, 0) | {folder: i for i, folder in enumerate(ORDER, 1)}

    def backwards(path: Path) -> list[str]:
        own = path.relative_to(ROOT / "packviz").with_suffix("").parts[0]
        parts = [name.split(".")[1] for name in imports_of(path) if name.startswith("packviz.")]
        return [] if own in DOORS else [part for part in parts if level.get(part, 99) > level[own]]

    assert {path.parent.name for path in (ROOT / "packviz").glob("*/__init__.py")} == {*ORDER, "text"}
    assert offenders(LIBRARY, backwards) == {}


def test_no_kind_of_run_shows_itself_with_the_parts_of_another() -> None:
    movie = ROOT / "packviz" / "show" / "movie"
    kinds = {folder.name for folder in movie.iterdir() if any(folder.glob("*.py"))}
    assert len(kinds) > 1

    def foreign(path: Path) -> list[str]:
        others = tuple(f"packviz.show.movie.{kind}." for kind in kinds - set(path.relative_to(movie).parts))
        return [name for name in imports_of(path) if name.startswith(others)]

    assert offenders([path for kind in sorted(kinds) for path in (movie / kind).rglob("*.py")], foreign) == {}


def test_the_floors_of_the_app_import_only_from_those_before_them() -> None:
    level = {floor: i for i, floor in enumerate(FLOORS)}

    def backwards(path: Path) -> list[str]:
        parts = [name.split(".")[1] for name in imports_of(path) if name.startswith("ui.")]
        return [part for part in parts if level.get(part, 99) > level[path.parent.name]]

    inside = [path for path in UI if path.parent.name != "ui"]
    assert {path.parent.name for path in inside} == set(FLOORS)
    assert [path.name for path in UI if path not in inside] == ["__init__.py"]
    assert offenders(inside, backwards) == {}


def test_no_files_of_the_app_import_one_another_in_a_circle() -> None:
    above = {name(path): {found for found in map(module, imports_of(path)) if found} for path in UI}
    left = dict(above)
    while free := [each for each, needs in left.items() if not needs & set(left)]:
        for each in free:
            del left[each]
    assert left == {}


def name(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


def module(imported: str) -> str | None:
    """Return the file of the app that an import names: `ui.state.runs` for `ui.state.runs.run`."""
    known = {name(path) for path in UI}
    return next((each for each in (imported, imported.rpartition(".")[0]) if each in known and each != "ui"), None)


def test_inner_parts_of_frameworks_are_those_in_the_list() -> None:
    found = {part for path in EVERYTHING for part in [*private(path), *deep(path), *replaced(path)]}
    assert found == set(INNER)


def test_names_in_streamlits_page_are_those_in_the_list_and_it_has_them() -> None:
    composed = {"stBaseButton-primary": "stBaseButton-", "rc-overflow-item": "rc-overflow"}
    composed |= {"testConnectionState": "data-test-connection-state"}
    shown = (
        path for folder in ("ui", "player") for end in ("*.py", "*.css", "*.js") for path in (ROOT / folder).rglob(end)
    )
    texts = [path.read_text("utf-8") for path in shown if "tests" not in path.parts]
    found = {name for text in texts for name in re.findall(NAME_IN_THE_PAGE, text)}
    assert {composed.get(name, name) for name in found} == {*IN_THE_PAGE.split()}
    scripts = "".join(path.read_text("utf-8") for path in (Path(st.__file__).parent / "static").rglob("*.js"))
    assert [name for name in IN_THE_PAGE.split() if name not in scripts] == []


def private(path: Path) -> Iterator[str]:
    """Yield the private names in a file that it does not define itself, also in module paths and as text of torch's."""
    nodes = nodes_of(path)
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    own |= {each.attr for each in attributes if isinstance(each.ctx, ast.Store) and ast.unparse(each.value) == "self"}
    own |= {ast.unparse(node.target) for node in nodes if isinstance(node, ast.AnnAssign)}
    used = [each.attr for each in attributes]
    used += [part for imported in imports_of(path) for part in imported.split(".")]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    used += [name for text in texts if (name := text.removeprefix("torch.")) and hasattr(torch, name)]
    yield from (name for name in used if re.match("_[^_]", name) and name not in own | NOT_PRIVATE)


def deep(path: Path) -> Iterator[str]:
    """Yield what a file imports from inside Streamlit and uvicorn."""
    yield from (imported for imported in imports_of(path) if imported.startswith(("streamlit.", "uvicorn.")))


def replaced(path: Path) -> Iterator[str]:
    """Yield the attributes of others' modules and classes that a file replaces."""
    meant = dict[str, str]()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            meant |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            meant |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            owner = meant.get(ast.unparse(node.value), "packviz")
            if owner.partition(".")[0] not in OURS:
                yield f"{owner}.{node.attr}"


def test_filters_for_warnings_change_in_one_place() -> None:
    """They belong to the whole process: two blocks that change them without one lock may leave them changed."""
    names = {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings", "filters"}

    def filtering(path: Path) -> list[str]:
        attributes = [node for node in nodes_of(path) if isinstance(node, ast.Attribute) and node.attr in names]
        used = [ast.unparse(node) for node in attributes if ast.unparse(node.value) == "warnings"]
        return [*used, *(each for each in imports_of(path) if each.removeprefix("warnings.") in names)]

    where = "packviz/inputs/torch_answers.py"
    assert offenders(EVERYTHING, filtering) == {where: ["warnings.catch_warnings", "warnings.simplefilter"]}


def test_pages_are_words_and_calls() -> None:
    def logic(path: Path) -> list[object]:
        classes = [node.name for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
        state = [node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)]
        foreign = heads_of(path) - {"ui", "packviz", "streamlit"}
        return [*classes, *foreign, *(name for name in state if name == "session_state")]

    assert offenders(PAGES, logic) == {}


def test_what_a_user_typed_is_never_html() -> None:
    def unsafe(path: Path) -> list[str]:
        calls = [node for node in nodes_of(path) if isinstance(node, ast.Call)]
        words = [word.arg or "" for node in calls for word in node.keywords]
        return [word for word in words if word.startswith("unsafe_allow")]

    assert offenders([*CLASSROOM, *UI, *PAGES, *APP], unsafe) == {}


def test_no_file_and_no_function_grows_too_long() -> None:
    def long_functions(path: Path) -> list[str]:
        functions = [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        return [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= 45]

    assert offenders(EVERYTHING, long_functions) == {}

    def lines(path: Path) -> int:
        return path.read_text(encoding="utf-8").count("\n")

    assert offenders([*LIBRARY, *CLASSROOM, *UI, *SCRIPTS], lambda path: lines(path) > 300) == {}
    assert offenders([*PAGES, *APP], lambda path: lines(path) > 60) == {}


def test_each_name_stands_beside_its_value() -> None:
    def apart(path: Path) -> list[int]:
        both = [node for node in nodes_of(path) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)]
        several = [node for node in both if node.end_lineno != node.lineno]
        return [node.lineno for node in several if any(isinstance(target, ast.Tuple) for target in node.targets)]

    tests = sorted((ROOT / "tests").rglob("*.py"))
    assert offenders([*EVERYTHING, *tests], apart) == {}


def test_the_library_exports_a_short_alphabetical_list() -> None:
    assert packviz.__all__ == sorted(packviz.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    assert all(hasattr(packviz, name) for name in packviz.__all__)
    assert [name for name in packviz.__all__ if find_spec(f"packviz.{name}")] == []  # none hides a module of its name
    assert len(packviz.__all__) <= 24


def test_names_in_packages_are_unique_and_docstring_examples_right() -> None:
    examples = 0
    for found in pkgutil.walk_packages(packviz.__path__, "packviz."):
        if not found.name.endswith("__main__"):
            module = import_module(found.name)
            package, _, name = found.name.rpartition(".")
            assert getattr(sys.modules[package], name) is module, found.name
            failed, tried = doctest.testmod(module)
            assert failed == 0, found.name
            examples += tried
    assert examples > 20


def test_each_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for path in EVERYTHING:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


# Where a bare `integer(value, ...)` is right: its value is only compared, or belongs to a module of the user's.
ONLY_COMPARED = {
    "packviz/inputs/limits.py": "settings, which their record has made integers",
    "packviz/rules/module.py": "the settings of the module itself, which torch reads",
    "packviz/show/movie/data.py": "the number of a step, which is looked up or printed",
    "packviz/show/movie/packing/about.py": "of a run that was refused nothing is watched",
    "packviz/teach/predictions/__init__.py": "the number of a question, which is looked up",
    "ui/parts/plan_file.py": "numbers of a JSON file, which are integers of Python",
}


def test_a_checked_integer_is_the_one_that_is_kept() -> None:
    """An integer of NumPy passes the check, but JSON and isinstance(value, int) refuse it: keep what integer() returns.

    What len() and sum() count is an integer of Python already.
    """

    def dropped(path: Path) -> list[int]:
        bare = [node.value for node in nodes_of(path) if isinstance(node, ast.Expr)]
        calls = [call for call in bare if isinstance(call, ast.Call) and ast.unparse(call.func) == "integer"]
        return [call.lineno for call in calls if not re.match(r"(len|sum)\(", ast.unparse(call.args[1]))]

    assert offenders(EVERYTHING, dropped).keys() == ONLY_COMPARED.keys()


def test_colours_are_written_in_the_theme_alone() -> None:
    def colours(path: Path) -> list[str]:
        texts = [node.value for node in nodes_of(path) if isinstance(node, ast.Constant)]
        return [text for text in texts if isinstance(text, str) and re.search(r"#[0-9a-fA-F]{6}\b|\brgba?\(", text)]

    assert offenders([path for path in EVERYTHING if path.name != "theme.py"], colours) == {}


def test_every_chart_and_every_page_is_in_its_list() -> None:
    files = [*(ROOT / "packviz/show/charts").glob("*.py"), *(ROOT / "packviz/lab").glob("*/charts.py")]
    functions = [node for path in files for node in nodes_of(path) if isinstance(node, ast.FunctionDef)]
    drawing = {node.name for node in functions if node.returns and ast.unparse(node.returns) == "go.Figure"}
    assert drawing - {"drawn"} <= set(charts.__all__) <= drawing | {"Panel", "template"}
    assert {path.stem for path in PAGES} == {page.address for page in pages.PAGES}
    first = [page.stages[0] for page in pages.LESSONS.values()]  # by it a lesson is known to be done
    assert len({*first}) == len(first)
