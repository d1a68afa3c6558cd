import type { Violation } from '../evidence.ts';
import {
  print,
  printOutcomes,
  printSenders,
  printTroubles,
  printVerdict,
  printViolations,
  row,
  seconds,
} from '../report.ts';
import type { PowerRun } from './run.ts';

export function printPowerRun(run: PowerRun, violations: readonly Violation[]): void {
  const { facts, ends, changes, starts, tookMs } = run;
  printSenders(facts.alerts);
  const cuts = Object.values(ends).reduce((sum, count) => sum + count, 0) - ends.killed;
  row(
    'power cut',
    `${cuts} times: ${ends.calls} after a call on a file, ${ends.flushes} after a flush, ${ends.sends} after a send, ${ends.anytime} at any time, ${ends.stopped} after a stop, ${ends.firstStarts} in a first start`,
  );
  row('killed', `${ends.killed} times with the power on`);
  row(
    'unflushed writes',
    `${changes.dropped} dropped, ${changes.torn} torn, ${changes.kept} kept; names of files: ${changes.entriesDropped} dropped, ${changes.entriesKept} kept`,
  );
  row('relay', `started ${starts} times, failed to start ${facts.ownEnds.length} times`);
  printTroubles(run.troubles);
  printOutcomes(facts);
  printViolations(violations);
  printVerdict(violations);
  print(`${seconds(tookMs)} s`);
}
