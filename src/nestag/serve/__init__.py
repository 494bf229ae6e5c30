"""A recognizer behind HTTP: `nestag serve MODEL` (extra `serve`). It needs no torch if the model needs none.

limits       the limits of a server, and the error for refused requests
connection   how many connections may be open, for how long, and how they are closed
middleware   access control, limits on bodies, security headers, metrics and the log
app          the routes
schema       requests and answers as JSON
service      requests -> answers
batcher      texts that wait at the same time are tagged together, in a thread
server       binding the address and graceful shutdown
page/        the pages at / and /docs: plain HTML, CSS and JavaScript
"""
