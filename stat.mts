import { simulate } from './test/simulation/simulate.ts';
import { judgeLastTargets } from './test/simulation/target-invariants.ts';
import { settings } from './test/simulation/simulated-world.ts';
import { isPositionSignal } from './lib/model/signal.ts';
const counts = new Map<string, number>();
const add = (k: string) => counts.set(k, (counts.get(k) ?? 0) + 1);
const [from, to] = [Number(process.argv[2]), Number(process.argv[3])];
for (let seed = from; seed <= to; seed += 1) {
  if (seed % 3 !== 2) continue;
  const run = await simulate({ seed, dialect: 'live', signals: 12 });
  add('runs');
  for (const v of run.violations) { add(`VIOLATION ${v.invariant}`); console.log(seed, v.invariant, v.text); }
  for (const t of judgeLastTargets({ ...run, dialect: 'live', settings, secrets: [] })) add('judged');
  for (const e of run.entries) {
    const s = e.signal;
    if (s === null) continue;
    const isPos = isPositionSignal(s) || (s.action === 'order' && s.requirePosition !== undefined);
    if (!isPos) continue;
    const leg = isPositionSignal(s) && s.action !== 'close' ? s.leg : '';
    add(`${s.action} ${leg} ${e.status}`);
    const ev = e.steps.at(-1)?.evidence as { rule?: string; code?: string } | undefined;
    if (e.status === 'denied') add(`  denied ${s.action} ${leg}: ${ev?.rule}`);
    if (e.status === 'rejected' || e.status === 'not_sent') add(`  ${e.status}: ${(e.steps.at(-1)?.note ?? '').slice(0, 90)}`);
  }
}
for (const [k, n] of [...counts].sort()) console.log(String(n).padStart(5), k);
