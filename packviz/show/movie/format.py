"""The format of a movie: each record of the data that `Movie.to_dict` returns, with each of its fields.

It is described here and nowhere else. `make player` writes these records as types of the player (player/movie.d.ts),
and what a mark is by default (player/format.json). Tests hold every movie to them; changes.py shows a small one.
"""

from typing import Final, Literal, NamedTuple, NotRequired, Required, TypedDict

FORMAT: Final = 4
SCALE: Final = 10_000  # numbers are stored in ten-thousandths, which take fewer digits in JSON

Role = Literal[
    "token",  # one token of a sequence, in its hue
    "ghost",  # where a token was before it was packed
    "pad",  # filler that pad_sequence or pad_packed_sequence put in
    "value",  # one number on the diverging scale; `sub`: what is written in its place
    "vector",  # a row of numbers as stripes on the diverging scale
    "output",  # the same, with a frame in the hue of its sequence
    "label",  # the letter of a sequence
    "axis",  # a small number or name beside a grid
    "note",  # a remark beside a row
    "title",  # the heading of a panel
    "count",  # one entry of batch_sizes, with its bar
    "bracket",  # the span of one time step in the packed strip
    "focus",  # the time step under discussion
    "ring",  # a state after its last valid step
    "thread",  # a row's path from one order to another: from its place `w` to the right and `h` down, or up
    "mark",  # the outline around what is read: `now`, `good` or `wrong` by its tone
    "flag",  # True or False in a mask
]
Tone = Literal["", "now", "good", "wrong"]
Scale = Literal["input", "state", "influence", "weight", "gradient"]

Texts = str | list[str]
Numeric = float | list[float]
Numbered = int | None | list[int | None]
Line = tuple[str, str]  # of code, and the shape of its result
At = dict[str, tuple[float, float]]
Breaks = dict[str, list[float]]


class Cell(NamedTuple):
    """One mark at one moment, with what it is unless the data say otherwise.

    p: its panel; x, y, w, h: its place and size there, in units. sub: a second line; for a note, the text that is shown
    if there is no room for all of it. token: its number. v: a number. vec: a row of numbers, with null for NaN and
    infinities. seq: its sequence. k: its last key, such as a time step, if its role or its tooltip needs it.
    """

    role: Role
    p: str = ""
    x: float = 0
    y: float = 0
    w: float = 1
    h: float = 1
    text: str = ""
    sub: str = ""
    token: int | None = None
    v: float | None = None
    vec: tuple[float | None, ...] | None = None
    scale: Scale = "state"
    tone: Tone = ""
    shown: bool = False
    seq: int | None = None
    k: int | None = None


class LookData(TypedDict, total=False):
    """Fields of cells: for each one value for all marks, or a list with one for each.

    v: in ten-thousandths. vec: which row of the movie's numbers.
    """

    p: Texts
    x: Numeric
    y: Numeric
    w: Numeric
    h: Numeric
    text: Texts
    sub: Texts
    token: Numbered
    v: Numeric
    vec: Numbered
    scale: Scale | list[Scale]
    tone: Tone | list[Tone]
    shown: bool | list[bool]


class GroupData(LookData, total=False):
    """Marks of one kind, n of them if there are several, before the first step. tip: which of the tips, if any."""

    role: Required[Role]
    n: int
    seq: Numbered
    k: Numbered
    tip: int


_FromData = TypedDict("_FromData", {"from": tuple[Texts, Numeric, Numeric]}, total=False)  # a keyword of Python


class ChangedData(LookData, _FromData, total=False):
    """The new values of what changes. from: where the marks come from: panel, x and y."""


class StepData(TypedDict):
    """A step. stage: absent if it is that of the previous step. frames: what changes in each of them.

    A change is the number of a group, which of its marks change (null: all of them), and their new values.
    """

    stage: NotRequired[str]
    caption: str
    detail: NotRequired[list[Line]]
    tone: NotRequired[Literal["wrong"]]
    error: NotRequired[str]
    scene: NotRequired[str]
    frames: list[list[tuple[int, list[int] | None, ChangedData]]]


class WatchedData(TypedDict):
    """What a run shows of its layers, directions (1 is backward) and heads of attention."""

    layer: int
    direction: int
    head: NotRequired[int]


class StackData(WatchedData):
    """How many layers, directions and heads there are, and which of them the run shows; heads: if several."""

    layers: int
    directions: int
    heads: NotRequired[int]


class TokensData(TypedDict):
    """Columns of the tokens, and their tooltips, with blanks.

    b, t, n: the sequence of each, its time step, and its packed row (-1 if it was not packed). said: what was typed, if
    that was text. offsets: the packed row at which each time step begins.
    """

    b: list[int]
    t: list[int]
    n: list[int]
    said: NotRequired[list[str]]
    offsets: list[int]
    tip: str
    typed: str
    address: str


class PartsData(TypedDict):
    """How a typed answer is read.

    skipped, one: regular expressions of what stands between its parts, and of a part. words: what other words mean.
    unread: the message for anything else. single: whether it is one letter.
    """

    skipped: str
    one: str
    words: dict[str, list[str]]
    unread: str
    single: bool


class QuestionData(TypedDict):
    """A prediction to make before the movie shows the answer, from its step `first` to its step `step`.

    sealed: a SolutionData as base64 of JSON.
    """

    prompt: str
    form: Literal["numbers", "letters", "choice"]
    example: str
    choices: list[str]
    parts: PartsData
    first: int
    step: int
    sealed: str


class SolutionData(TypedDict):
    """The answer to a question, and why it is right.

    slips: typical wrong answers as they are typed, each with its reason. otherwise, miscounted: the reply to any other
    one, also if it has too few or too many parts.
    """

    answer: str
    why: str
    slips: list[tuple[str, str]]
    otherwise: str
    miscounted: str


class MovieData(TypedDict):
    """A movie.

    stages: their names, in order. groups: marks of one kind each, in painting order. tips: tooltips: for each line its
    wordings, of which the first whose blanks can all be filled is shown. numbers: the rows that marks show as stripes,
    in ten-thousandths; null stands for NaN and infinities. lines: for each stage the number of its line of the code.
    views: width and height in units, where each panel is, and for each strip that is broken its pitch and where its
    lines start. scenes: the numbers of the views for a desktop and, if they differ, a phone. sequences: the label of
    each, its hue, and how often the hues have been used up before it. scales: the numbers at which the diverging scale
    ends. notes: what is not shown, and other remarks. proof: how the numbers compare with torch's own. exact: whether
    they are the same.
    """

    format: Literal[4]
    title: str
    stages: dict[str, str]
    groups: list[GroupData]
    tips: list[list[list[str]]]
    tokens: TokensData
    numbers: list[list[int | None]]
    steps: list[StepData]
    lines: dict[str, int]
    views: list[tuple[float, float, At] | tuple[float, float, At, Breaks]]
    scenes: dict[str, list[list[int]]]
    code: list[Line]
    sequences: list[tuple[str, int, int]]
    scales: dict[Scale, float]
    notes: list[str]
    proof: str
    exact: bool
    stack: NotRequired[StackData]
    questions: NotRequired[list[QuestionData]]
