"""A class in one room: phones vote on what torch does, then see it as a movie. Independent of Streamlit.

A room is an append-only list of events; its state (state.py) is the fold over them, and its revision is their number. A
request makes events (events.py) or is refused (RefusedError: an HTTP status and a sentence). `rooms` (rooms.py) holds
those in use: it decides, stores and only then shows a change. A store (store.py) is append and read; SQLite here, Redis
elsewhere.
The routes are listed in routes.py; the teacher's page calls the same functions from its own thread:

    from classroom.rooms import rooms
    code, host = rooms.call(rooms.create([spec, ...]))                  # RefusedError: .status, .sentence
    rooms.call(rooms.act(code, host, "ask", {"question": 0}))           # or a spec, see questions.py
    seen = rooms.call(rooms.snapshot(code, host))
    film = rooms.call(rooms.film(code, host, number))                   # .data gzipped JSON, .step, .steps
    text = rooms.call(rooms.answers(code, host))                        # CSV

Phases: lobby -> open -> vote -> close -> closed -> talk -> talk -> reopen -> vote (round 2) -> close -> reveal. `ask`,
`next` and `twin` put up a question in the phase lobby; `open` without one takes the first of the list. `reveal` may
follow either vote; `talk` and `reveal` close an open one. `back` undoes the last of these as long as nothing has been
shown. `step` moves the movie of the reveal. Anything else is refused with 409. An action may have `at`, the place in
the lesson ([number of the question, phase, round]) for which it is meant: elsewhere nothing is done.

snapshot, for everybody: code, revision, phase, round (1, 2), question (null, or number, kind, prompt, form, and where
it has them options, rows (the batch), settings (as code), letters, example, single), voted, joined, step (of the movie,
null before the reveal), mine (the phone's answer in this round as it was sent, or null), read (the same in its normal
form), following; phones: name.
form: choice, number, numbers, letters or cell; answers: index (or text), number, list or text, text, [sequence, t].
In the phase reveal, for everybody; for the teacher always: answer (as it would be sent), solution (as typed), why,
reasons ([{answer, reason}]), bars ([{answer, right, before, after, reason}]; answer null counts all others), rounds (1
or 2), movie (null for a teacher's own question, or {path, steps}; its path needs &token=). Phones that have voted also
get right and reason. For the teacher alone: host, place (as in `at`), hint (null, or {share, advice, told} after a
close), questions (the list), index (the current one's place in it or null), left (how many of the list come after it),
asked (all specs so far), following_count.
"""
