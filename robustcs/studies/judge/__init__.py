"""Which unjudged passages are worth judging?"""
