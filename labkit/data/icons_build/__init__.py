"""How the icons are made from the npm package `@iconify/json`."""
