// What makes a page easier to read; without it everything is still there.
"use strict";
