'use strict';

// node bin/run.cjs [options of Node] SCRIPT [arguments]
require('./launch.cjs').launch(process.argv.slice(2));
