"""The lab: everything needed to test the claim, nothing needed to use a model."""
