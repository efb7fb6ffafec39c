"""The gradient of any composition, derived link by link with SymPy.

The files in the order of the derivation:

* `links`: cost, kernel and transform as SymPy expressions, and the letters they are written in;
* `brackets`: what the normalization leaves of the cost's derivative, in closed form;
* `limits`: what becomes of it where p = 0;
* `steps`: the steps, each a sentence and its equations;
* `layout`, `text`, `latex`, `mathml`: how an equation is set;
* `documents`: how the steps are set, as plain text, LaTeX, Markdown and HTML;
* `derivation`: the result, with its numbers.

SymPy is imported when a derivation is asked for, and not before.
"""
