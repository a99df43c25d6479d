"""Many cases in turn: numbering, state that goes on where it stopped, and the corpus."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from imputefree._files import replacing
from imputefree.lab.runs import commit

from ._frame import Broken, Case, Target, run_case

ROOT = Path(__file__).parents[1]
CORPUS = Path(__file__).parent / "corpus"  # cases that once broke a promise
STATE = ROOT / "build" / "attacks"  # untracked
TURN = 2.0  # seconds, until the next target has its turn
LARGE = 20_000  # bytes of a case
SAVED = 3  # cases of one kind of failure


@dataclass
class State:
    """How far a target has come.

    first, next : the numbers of the first and of the next case
    suspect : the case within which an earlier process ended
    commits : what was attacked
    """

    first: int = 0
    next: int = 0
    suspect: int | None = None
    answered: int = 0
    refused: int = 0
    broken: int = 0
    seconds: float = 0.0
    commits: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        """How many there were."""
        return self.next - self.first


class Runner:
    """Runs the cases of one target, and remembers them.

    corpus, folder : where broken cases and the state go
    report : is told of every broken promise
    first : the number at which a new run begins; other numbers are other cases
    """

    def __init__(
        self,
        target: Target,
        corpus: Path = CORPUS,
        folder: Path = STATE,
        report: Callable[[str], None] = print,
        first: int = 0,
    ) -> None:
        self.target, self.corpus, self.report = target, corpus, report
        self.path, self._mark = folder / f"{target.name}.json", folder / f"{target.name}.running"
        self.state = State(first=first, next=first)
        self.broken = self.done = 0  # in this run
        self._kinds: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self.state = State(**json.loads(self.path.read_text()))
        self._deadly: int | None = None
        if self._mark.exists():  # a process ended within this case: it may have been stopped
            within = int(self._mark.read_text())
            if within == self.state.suspect:  # but not twice
                self._deadly = within
            self.state.suspect = within
            self._save()
        self._commit = commit()

    def turn(self, most: int, seconds: float = TURN) -> None:
        """Run the next cases: at most so many, for about so many seconds, but one at least."""
        begun = time.monotonic()
        if self._commit not in self.state.commits:
            self.state.commits.append(self._commit)
        try:
            for _ in range(most):
                self._mark.write_text(str(self.state.next))
                self._run(self.state.next)
                self.state.next, self.done = self.state.next + 1, self.done + 1
                if time.monotonic() - begun > seconds:
                    break
        finally:  # also if it is interrupted
            self.state.seconds += time.monotonic() - begun
            self._save()
            self._mark.unlink(missing_ok=True)

    def _run(self, number: int) -> None:
        case = self.target.case(number)
        try:
            if number == self._deadly:
                raise Broken("the process died of it twice", "died")
            outcome = run_case(self.target, case)
        except Broken as error:
            self._failed(number, case, error)
        else:
            setattr(self.state, outcome, getattr(self.state, outcome) + 1)

    def _save(self) -> None:
        with replacing(self.path) as place:
            place.write_text(json.dumps(asdict(self.state)))

    def _failed(self, number: int, case: Case, error: Broken) -> None:
        self.state.broken, self.broken = self.state.broken + 1, self.broken + 1
        self._kinds[error.place] += 1
        if self._kinds[error.place] <= SAVED:
            saved = save_case(case, self.corpus / self.target.name, str(number))
            self.report(f"{self.target.name} {number} BROKEN: {error} (saved as {saved})")


def save_case(case: Case, folder: Path, stem: str) -> Path:
    """Write a case to the corpus, compressed if it is large."""
    folder.mkdir(parents=True, exist_ok=True)
    ending, content = ".bin", case
    if not isinstance(case, bytes):
        ending, content = ".json", (json.dumps(case) + "\n").encode()
    if len(content) > LARGE:
        ending, content = f"{ending}.gz", gzip.compress(content, mtime=0)
    path = folder / f"{stem}{ending}"
    path.write_bytes(content)
    return path


def read_case(path: Path) -> Case:
    """A case of the corpus."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content, path = gzip.decompress(content), path.with_suffix("")
    return content if path.suffix == ".bin" else json.loads(content)


def corpus_files(corpus: Path = CORPUS) -> Iterator[tuple[str, Path]]:
    """The name of the target and the file of every case of the corpus."""
    for path in sorted(corpus.glob("*/*")):
        yield path.parent.name, path
