"""Which systems can be told apart?"""
