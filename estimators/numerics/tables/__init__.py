"""Readers of files of columns, a module for each kind of file; estimators/numerics/named_arrays.py chooses one."""
