"""Clarifying questions: are they found, and do they help?"""
