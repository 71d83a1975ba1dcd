"""The record of a turn: schema, table of fields, and the filter language."""
