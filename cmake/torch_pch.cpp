// Carries the precompiled header that every LibTorch translation unit reuses.
