#!/usr/bin/env node
'use strict';

// The command `relay`: what the operator of a relay types.
require('./launch.cjs').launch(['cli/main.ts'].concat(process.argv.slice(2)));
