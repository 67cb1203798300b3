"""The rounds of the quiz that a visitor has begun, and where each of them stands."""

from dataclasses import dataclass, field

from packviz.teach.quiz import Scorecard


@dataclass
class Game:
    """A visitor's progress in a round."""

    level: int
    number: int
    scorecard: Scorecard
    at: int = 0  # the question on the screen; after the last one, the result
    problem: str = ""
    unread: dict[int, str] = field(default_factory=dict)  # for each question, the last input that cannot be read
    handled: bool = False  # whether a click of this run has been handled; after a restart of the server, none has

    def key(self, i: int) -> str:
        """Return the key of the input for question i."""
        return f"quiz {self.level} {self.number} {i}"


@dataclass
class Games:
    """All rounds of a visitor. current: the level and the number of the last one."""

    current: tuple[int, int] | None = None
    rounds: dict[tuple[int, int], Game] = field(default_factory=dict)

    @property
    def question(self) -> int:
        """The number of the question on the screen; 1 on the result page."""
        game = self.rounds.get(self.current) if self.current is not None else None
        return 1 if game is None or game.at == len(game.scorecard.questions) else game.at + 1
