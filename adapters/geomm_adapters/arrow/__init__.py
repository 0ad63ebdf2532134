"""Tables of Arrow: Parquet and Arrow's own files, by pyarrow."""
