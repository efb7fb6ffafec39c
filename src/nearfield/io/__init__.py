"""Tables in, maps out: the first and the last station of the way of the data.

`files`     files that are written whole or not at all
`tables`    files of many forms → numbers, labels and ids; maps to tables and back
`columns`   what a table is, and which of a file's columns go into it
`delimited` how a text table is understood: delimiter, numeric columns
`headers`   … whether its first line names the columns
`cells`     … what a cell of it holds
`arrays`    NumPy's files as tables
`batches`   Parquet, Arrow and JSON Lines as one thing: typed columns
`arrow`     … and these as tables
`vectors`   columns of vectors, lists of equally many numbers
`cellsfile` files of AnnData as tables
`unpacking` gzip, zip and pipes as plain files
`indexes`   columns that number the rows
`others`    the columns of a table that are kept beside its map
`parquet`   Parquet files as they are written
`streams`   tables that are larger than memory, some rows at a time
`missing`   what becomes of rows in which a number is missing
`datasets`  the small data sets that come with scikit-learn
`maps`      the result of a run, saved and loaded without pickle
`archive`   archives of arrays, looked at before they are unpacked
`levels`    tables in which every number takes one byte
`packing`   values as JSON and arrays, and back: the one serializer
`schema`    what a value from a file has to be
"""
