"""Tables in, maps out: the first and the last station of the way of the data.

`files`     files that are written whole or not at all
`tables`    CSV, TSV, NumPy and Parquet → numbers, labels and ids; maps to tables and back
`delimited` how a text table is understood: delimiter, header, numeric columns
`datasets`  the small data sets that come with scikit-learn
`checks`    what is asked of the numbers before any work begins
`maps`      the result of a run, saved and loaded without pickle
`archive`   archives of arrays, looked at before they are unpacked
`packing`   values as JSON and arrays, and back: the one serializer
`schema`    what a value from a file has to be
"""
