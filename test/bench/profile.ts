import type { Profiler } from 'node:inspector';

interface Rule {
  readonly part: string;
  readonly pattern: RegExp;
}

/**
 * What each part of the work is known by, in a frame's `url function`. A sample belongs to the innermost frame that
 * is known, so that the code of Node and of packages counts for whoever called it.
 */
const rules: readonly Rule[] = [
  {
    part: 'SQLite: commits, waiting for the disk included',
    pattern: /lib\/base\/sqlite\.ts commitTogether$/,
  },
  { part: 'SQLite: ledger and queue', pattern: /lib\/(?:base\/sqlite|ledger|queue)/ },
  { part: 'log', pattern: /powertools|lib\/host\/log|infra\/local\/log-output/ },
  { part: 'signature and nonce', pattern: /lib\/exchange\/(?:signing|nonce)/ },
  { part: 'HTTP out', pattern: /lib\/base\/(?:transport|http-|deadlines|byte-store)/ },
  { part: 'order: check, rename, read the response', pattern: /lib\/exchange/ },
  { part: 'alert: authenticate, parse, size', pattern: /lib\/(?:signals|orders|risk|host\/file-secrets)/ },
  {
    part: 'function wrappers and worker loop',
    pattern: /@middy|lib\/host|infra\/local\/worker|\/functions\//,
  },
  { part: 'receive and execute', pattern: /lib\/relay/ },
  { part: 'HTTP in', pattern: /infra\/local\/http-server|node:_http_server/ },
];

/** Work that nobody known called. */
const looseRules: readonly Rule[] = [
  { part: 'garbage collection', pattern: / \(garbage collector\)$/ },
  { part: 'event loop and native code', pattern: / \((?:program|root)\)$/ },
  { part: 'sockets, streams, timers, promises', pattern: /^node:/ },
];
/** Waiting for something to do, and the profiler itself. */
const ignored = / \(idle\)$|^node:inspector/;
const rest = 'anything else';

/** One part's share of the time, in microseconds. */
export interface Share {
  readonly part: string;
  readonly micros: number;
}

/** Adds up the time of every sample by the part it belongs to, the largest first. */
export function sumByPart(profile: Profiler.Profile): readonly Share[] {
  const { samples = [], timeDeltas = [] } = profile;
  const parts = assignParts(profile.nodes);
  const sums = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const part = parts.get(id);
    if (part === undefined) continue;
    sums.set(part, (sums.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return Array.from(sums, ([part, micros]) => ({ part, micros })).sort((a, b) => b.micros - a.micros);
}

function assignParts(nodes: readonly Profiler.ProfileNode[]): ReadonlyMap<number, string> {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((id) => [id, node] as const)));
  const counted = nodes.filter((node) => !ignored.test(frameOf(node)));
  return new Map(counted.map((node) => [node.id, partOf(node, parents)]));
}

function partOf(node: Profiler.ProfileNode, parents: ReadonlyMap<number, Profiler.ProfileNode>): string {
  for (let at: Profiler.ProfileNode | undefined = node; at !== undefined; at = parents.get(at.id)) {
    const part = findPart(rules, at);
    if (part !== undefined) return part;
  }
  return findPart(looseRules, node) ?? rest;
}

function findPart(known: readonly Rule[], node: Profiler.ProfileNode): string | undefined {
  const frame = frameOf(node);
  return known.find(({ pattern }) => pattern.test(frame))?.part;
}

function frameOf({ callFrame }: Profiler.ProfileNode): string {
  return `${callFrame.url} ${callFrame.functionName}`;
}
