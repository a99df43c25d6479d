"""Parts of the HTML page of results; `bench.report.report` puts them together."""
