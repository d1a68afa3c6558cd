import { takeShare } from '../support/share.ts';
import { parseRequest, type Request, usage } from './arguments.ts';
import { renderFaultMatrix } from './matrix-table.ts';
import { type Hunt, huntsOf } from './mutants.ts';
import { renderMutants, renderSummary, renderTimeline, reproOf } from './report.ts';
import { simulate } from './simulate.ts';
import { addTally, createTally, optionsOf, type Range, type Tally } from './tally.ts';
import { runJobs } from './worker-pool.ts';

/** Small enough that the cores finish together, and large enough to be worth a message to a thread. */
const seedsPerJob = 25;
const shownFindings = 3;

const request = readRequest();
process.exitCode = request === null ? 2 : await runRequest(request);

/** Null when the arguments cannot be read: the person has been told why. */
function readRequest(): Request | null {
  try {
    return parseRequest(process.argv.slice(2), Date.now());
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${usage}\n`);
    return null;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** @returns the exit code */
async function runRequest(request: Request): Promise<number> {
  switch (request.kind) {
    case 'seeds':
      return await runSeeds(request.range);
    case 'mutants':
      return await huntMutants(takeShare(huntsOf(request.orderKind, request.signals), request.share));
    case 'help':
      print(`Usage: ${usage}`);
      return 0;
    case 'matrix':
      print(await renderFaultMatrix({ part: 1, parts: 1 }));
      return 0;
  }
}

/** @returns the exit code: 1 when an invariant was broken */
async function runSeeds(range: Range): Promise<number> {
  const startedAt = performance.now();
  const total = createTally();
  const jobs = splitRange(range).map((part) => ({ range: part, endsAtFinding: false }));
  for (const tally of await runJobs(jobs)) addTally(total, tally);
  const seconds = (performance.now() - startedAt) / 1000;
  await showFindings(range, total);
  print(renderSummary(range, total));
  print(`${seconds.toFixed(1)} s, ${(total.runs / seconds).toFixed(0)} runs a second`);
  return total.findings.length === 0 ? 0 : 1;
}

function splitRange(range: Range): readonly Range[] {
  const parts: Range[] = [];
  for (let fromSeed = range.fromSeed; fromSeed <= range.toSeed; fromSeed += seedsPerJob)
    parts.push({ ...range, fromSeed, toSeed: Math.min(fromSeed + seedsPerJob - 1, range.toSeed) });
  return parts;
}

/** Prints the first findings with their timelines, and for all of them the command that repeats them. */
async function showFindings(range: Range, { findings }: Tally): Promise<void> {
  const byRun = [...Map.groupBy(findings, (finding) => reproOf(range, finding))];
  for (const [repro, found] of byRun.slice(0, shownFindings).reverse()) {
    const [first] = found;
    if (first === undefined) continue;
    const { history } = await simulate(optionsOf(range, first.seed, first.dialect));
    print(renderTimeline(history.timeline));
    print(repro);
    for (const { invariant, text } of found) print(`  ${invariant}: ${text}`);
    print('');
  }
  for (const [repro, found] of byRun.slice(shownFindings))
    print(`${found.map(({ invariant }) => invariant).join(', ')}: ${repro}`);
}

/** @returns the exit code: 1 when a mutant survived */
async function huntMutants(hunts: readonly Hunt[]): Promise<number> {
  const tallies = await runJobs(hunts.map(({ job }) => job));
  const rows = hunts.map((hunt, place) => ({ ...hunt, tally: tallies[place] ?? createTally() }));
  print(renderMutants(rows));
  const unmutated = rows.flatMap(({ tally }) => tally.unmutated);
  for (const finding of unmutated)
    print(
      `the relay itself breaks ${finding.invariant} at seed ${finding.seed} of ${finding.dialect}: ${finding.text}`,
    );
  const survivors = rows.filter(({ tally }) => tally.findings.length === 0).map(({ mutant }) => mutant.name);
  print(survivors.length === 0 ? `all ${rows.length} caught` : `survived: ${survivors.join(', ')}`);
  return survivors.length + unmutated.length === 0 ? 0 : 1;
}
