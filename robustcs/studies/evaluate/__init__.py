"""Which systems differ significantly?"""
