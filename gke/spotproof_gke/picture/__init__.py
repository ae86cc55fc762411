"""Pictures of a stack: what is in it, and what may run where, as SVG and as Mermaid."""
