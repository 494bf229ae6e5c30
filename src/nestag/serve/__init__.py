"""A recognizer behind HTTP: `nestag serve MODEL` (extra `serve`). It needs no torch if the model needs none.

    connection and middleware (limits, access) -> app (routes) -> service (requests to answers) -> batcher -> recognizer

`page/` has the pages at / and /docs: plain HTML, CSS and JavaScript.
"""
