"""Which questions does no run answer yet?"""
