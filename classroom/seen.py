"""The wire format of a room: what its server sends to a phone, the projector or the teacher. snapshot.py makes it."""

from collections.abc import Mapping, Sequence
from typing import Literal, Required, TypedDict

from classroom.phases import Advice, Move, Phase, Round
from classroom.question import Answer, PublicQuestion
from classroom.specs import Spec
from classroom.state import Confidence, Kind, Pace, Place


class Sure(TypedDict, total=False):
    """How many of those who gave an answer were sure of it or guessed, in each round that counts."""

    sure: list[int]
    guessing: list[int]


class Bar(Sure):
    """How often an answer was given before and after the talk; answer: None counts all others."""

    answer: Required[str | None]
    right: Required[bool]
    before: Required[int]
    after: Required[int]
    reason: Required[str]


class MovieLink(TypedDict):
    """The path of a movie, which needs &token=, and how many steps it has; None before it was made."""

    path: str
    steps: int | None


class Reason(TypedDict):
    """Why an answer is wrong."""

    answer: str
    reason: str


class Hint(TypedDict):
    """The share of right answers in the round that was closed, and what research advises, also in words."""

    share: float
    advice: Advice
    told: str


class Wonder(TypedDict):
    """A question from a student, and whether the projector shows it."""

    id: int
    text: str
    shown: bool


class ForPhones(TypedDict, total=False):
    """What a phone may see of a room; in JavaScript, `make player` writes the same types to phone/seen.d.ts.

    For everybody:
        item    the place in the list of what is on the screen, from 0; None if it is not from the list
        kind, shown     of what is on the screen: what it is, and its number among all that was shown, from 1
        question        None if it is a slide or a movie, and before the first item
        slide, html     Markdown of a slide, and the same as HTML
        step            of the movie; None if none is shown
        wonder          the question from a student that the teacher shows
        channels        which of pace, wonder and confidence the phones offer
        mine, read      the token's answer in this round, as it was sent and as the server read it
    For a phone:
        following       whether it follows the teacher's steps
        pace            what it says about the pace
        right, reason   of its answer, in the phase reveal; right: None in a poll
    For the teacher at any time, for others in the phase reveal:
        answer          as it would be sent: an index or a text for a choice, a number, a list or text for numbers, a
                        text for letters and for a text, [sequence, t] for a cell. solution: as the server reads it
        why, reasons    why it is right; why others are wrong
        bars, rounds    how often each answer was given; how many rounds count
        movie           None for a question of the teacher's own
    """

    code: str
    revision: int
    phase: Phase
    round: Round
    item: int | None
    kind: Kind | None
    shown: int | None
    question: PublicQuestion | None
    voted: int
    joined: int
    slide: str
    html: str
    step: int | None
    wonder: str | None
    channels: list[str]
    mine: Answer | None
    read: str | None
    following: bool
    name: str
    confidence: Confidence | None
    pace: Pace | None
    right: bool | None
    reason: str
    answer: Answer | None
    solution: str
    why: str
    reasons: list[Reason]
    bars: list[Bar]
    rounds: int
    movie: MovieLink | None


class Seen(ForPhones, total=False):
    """What one token may see of a room. For the teacher alone:

    place           as in `at` of a request
    hint            after a round is closed
    offered         the actions that lead on, first the one that is advised or usual
    undo            whether `back` undoes the last action; before, after: whether there is something
    items           the plan, or None; questions: the list, empty in a plan; done: places in it that were shown
    index           as item; upcoming: the next item; left: how many come after it
    seconds         since the first item
    asked, spec     all specs so far; that of the current question
    paces           how many phones say what about the pace
    """

    host: bool
    place: Place
    hint: Hint | None
    offered: Sequence[Move | Literal["next"]]
    undo: bool
    before: bool
    after: bool
    note: str | None
    items: Sequence[Spec] | None
    questions: Sequence[Spec]
    done: list[int]
    index: int | None
    upcoming: Spec | None
    left: int
    seconds: int | None
    asked: Sequence[Spec]
    spec: Spec | None
    following_count: int
    paces: Mapping[Pace, int]
    wonders: list[Wonder]
