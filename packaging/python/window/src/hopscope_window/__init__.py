"""The programs, libraries and fonts of Hopscope's window. The package `hopscope` starts them."""
