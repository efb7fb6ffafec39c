"""nearfield measured: a package of three folders, run from the root of the repository.

`parts` has what writes a section of RESULTS.md each (`python -m benchmarks`), `studies` what answers one
question by itself (`python -m benchmarks.studies.NAME`), and `shared` what more than one of them needs: data,
measures, tables, processes of their own. Figures, pages and pictures are kept in this folder.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
