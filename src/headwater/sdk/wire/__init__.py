"""What a client and a server of Headwater tell each other beyond what the API of lakeFS has names for.

Both import it, and neither imports the other. Whatever has no form of its own here is sent as the SDK answers it: its
results are plain values, in `sdk/results`.
"""
