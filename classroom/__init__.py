"""A class in one room: phones vote on what torch does, then see it as a movie. Independent of Streamlit.

A room is an append-only list of events; its state (state.py) is the fold over them, and its revision is their number. A
request makes events (events.py) or is refused (RefusedError: an HTTP status and a sentence). `rooms` (rooms.py) holds
those in use: it decides, stores and only then shows a change. A store (store.py) is append and read; SQLite here, Redis
elsewhere.
The routes are listed in routes.py; the teacher's page calls the same functions from its own thread:

    from classroom.rooms import rooms
    code, host = rooms.call(rooms.create([spec, ...]))                  # RefusedError: .status, .sentence
    rooms.call(rooms.act(code, host, "ask", {"question": 0}))           # or a spec, see specs.py
    seen = rooms.call(rooms.snapshot(code, host))
    film = rooms.call(rooms.film(code, host, seen["shown"]))            # .data gzipped JSON, .step, .steps
    text = rooms.call(rooms.answers(code, host))                        # CSV

Phases: lobby -> open -> vote -> close -> closed -> talk -> talk -> reopen -> vote (round 2) -> close -> reveal. `ask`,
`next` and `twin` put up a question in the phase lobby; `open` without one takes the first of the list. `item` shows one
of the list by its number, or one that is sent with it: in a plan it then stands after what was on the screen. `reveal`
may follow either vote, and `reopen` a closed one; `talk` and `reveal` close an open one. `back` undoes the last of
these as long as nothing has been shown. `step` moves the movie of the reveal. Anything else is refused with 409. An
action may have `at`, the place in the lesson ([number of what is shown, phase, round]) for which it is meant: elsewhere
nothing is done.

A snapshot (snapshot.py) is what one token may see of a room: seen.py has its type.
"""
