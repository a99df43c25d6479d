"""`fit_on_dask` and `predict`: on the workers of a Dask cluster."""

fit_on_dask = predict = None
