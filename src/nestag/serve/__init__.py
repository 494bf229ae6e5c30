"""A recognizer behind HTTP: `nestag serve MODEL` (extra `serve`). It needs no torch where the model needs none.

limits    what a request may ask for
batcher   texts that wait together are tagged together, in a thread of its own
memory    what batches leave behind, given back to the machine
service   requests -> sentences -> entities -> answers
schema    requests and answers as JSON
drawing   a text with its entities as HTML, as `nestag.render` draws it
labels    the tree and the labels of a sentence, for teaching
gate      who may come in, and how large a body may be
watch     headers, metrics and a log line for every answer, none of them with text
app       the routes        server   listening, and ending well
page/     the page at /: plain HTML, CSS and JavaScript
"""
