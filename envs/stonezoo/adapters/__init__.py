"""What foreign libraries need beyond three lines: one module a library, which imports it.

docs/libraries.md says for each library how it takes the environments.
"""
