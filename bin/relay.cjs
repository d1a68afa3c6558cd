#!/usr/bin/env node
'use strict';

// The command `relay`, for the operator of a relay.
require('./launch.cjs').launch(['cli/main.ts'].concat(process.argv.slice(2)));
