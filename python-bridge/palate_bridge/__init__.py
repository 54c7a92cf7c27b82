"""Palate's tensor side: a job is a chain of stages over one loaded base model (docs/design.md, section 7)."""
