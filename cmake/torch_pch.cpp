// Carries a precompiled header that LibTorch's translation units share.
