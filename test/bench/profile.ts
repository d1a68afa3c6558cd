import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of V8's CPU profile that are read; times in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node on top of the stack at each sample. */
  readonly samples: readonly number[];
  /** Microseconds between a sample and the one before. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface Rule {
  readonly part: string;
  readonly pattern: RegExp;
}

/**
 * What each part of the work is known by, in a frame's `url function`. A sample belongs to the innermost frame that
 * any rule knows, so that Node's own code counts for whoever called it.
 */
const rules: readonly Rule[] = [
  { part: 'ledger and queue (SQLite)', pattern: /lib\/(?:base\/sqlite|ledger|queue)/ },
  { part: 'log', pattern: /powertools|lib\/host\/log|node:internal\/console/ },
  { part: 'signing', pattern: /lib\/exchange\/(?:signing|nonce)/ },
  { part: 'http out', pattern: /lib\/exchange\/transport|node:_http_(?:client|agent)|parserOnIncomingClient/ },
  { part: 'order: check, rename, read the answer', pattern: /lib\/exchange/ },
  { part: 'alert: authenticate, parse, identify, size', pattern: /lib\/(?:signals|risk|host\/file-secrets)/ },
  { part: 'function wrappers (middy) and local run', pattern: /@middy|lib\/host|infra\/local\/worker-loop|\/functions\// },
  { part: 'stories', pattern: /lib\/relay/ },
  { part: 'http in', pattern: /infra\/local\/http-server|node:_http_server/ },
  { part: 'sockets, streams, timers, promises', pattern: /node:(?!internal\/(?:process|modules))/ },
  { part: 'garbage collection', pattern: / \(garbage collector\)$/ },
  { part: 'event loop and native code', pattern: / \((?:program|root)\)$/ },
];
const idle = / \(idle\)$/;

/** One part's share of the work, in microseconds. */
export interface Share {
  readonly part: string;
  readonly micros: number;
}

/** Adds up the time of every sample by the part it belongs to, the largest first; idle time is left out. */
export function sumByPart({ nodes, samples, timeDeltas }: CpuProfile): readonly Share[] {
  const partOfNode = assignParts(nodes);
  const sums = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const part = partOfNode.get(id);
    if (part !== undefined) sums.set(part, (sums.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return Array.from(sums, ([part, micros]) => ({ part, micros })).sort((a, b) => b.micros - a.micros);
}

function assignParts(nodes: readonly ProfileNode[]): ReadonlyMap<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const [root] = nodes;
  const open = root === undefined ? [] : [{ node: root, inherited: 'else' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, inherited } = next;
    const frame = `${node.callFrame.url} ${node.callFrame.functionName}`;
    const part = rules.find(({ pattern }) => pattern.test(frame))?.part ?? inherited;
    if (!idle.test(frame)) parts.set(node.id, part);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) open.push({ node: child, inherited: part });
    }
  }
  return parts;
}

/** @throws Error when the folder holds no profile */
export function readProfile(folder: string): CpuProfile {
  const name = readdirSync(folder).find((file) => file.endsWith('.cpuprofile'));
  if (name === undefined) throw new Error(`no CPU profile was written to ${folder}`);
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
}
