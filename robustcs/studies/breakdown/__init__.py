"""Attribution of failures to the rewriter or to the QA component."""
