"""Flows and commands. Numerical libraries read which kernels to run when they load, so that is settled first of all."""

from flows.system.cpu_kernels import pin_kernels

pin_kernels()
