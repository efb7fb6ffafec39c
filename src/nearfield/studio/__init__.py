"""The studio: a page, served on this computer only, on which a map is watched and steered by hand.

rows        what the page is told of the data
session     one run in one worker thread; frames out, commands in
messages    what a command may be given; `commands`: what each of them does
frames      a map on its way to the page
keeping     what is on the disk at any moment, and what a crash leaves
gate        who is let in
server      addresses, sockets, files
opening     from data to an open page
"""
