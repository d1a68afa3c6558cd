import { writeSync } from 'node:fs';

/** Loaded ahead of a measured program: tells, as it ends, the most memory it ever held, in kilobytes. */
process.once('exit', () => writeSync(3, String(process.resourceUsage().maxRSS)));
