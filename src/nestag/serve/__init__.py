"""A recognizer behind HTTP: `nestag serve MODEL` (extra `serve`). It needs no torch where the model needs none.

limits       the limits of a server, and the error for requests over them
connection   how many connections may be open, for how long, and how they are closed
middleware   access control, limits, security headers, metrics and the log; no text in either
app          the routes
schema       requests and answers as JSON
service      requests -> sentences -> entities -> answers
batcher      texts that wait together are tagged together, in a separate thread
views        a drawing, a tree and labels: no model is used
server       binding the address and graceful shutdown
page/        the page at /: plain HTML, CSS and JavaScript
"""
