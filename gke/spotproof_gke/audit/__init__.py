"""`spotproof audit`: the rules of the policy packs over what is already there.

It reads a live cluster (`kubectl get`, nothing else), what `kubectl get -o json` wrote to a file,
and Pulumi state files, and changes nothing.
"""
