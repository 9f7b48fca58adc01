"""Shipped fakes: a synthetic web and its server, virtual time, record builders, parity runners."""
