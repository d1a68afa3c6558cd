import { simulate } from './simulate.ts';
const [from, to, dialect='live', n='12'] = process.argv.slice(2);
const t = performance.now(); const cpu=process.cpuUsage();
const faults = new Map<string, number>(); const statuses = new Map<string, number>(); let events=0;
for (let seed = Number(from); seed <= Number(to); seed++) {
  const run = await simulate({ seed, dialect: dialect as 'live', signals: Number(n) });
  for (const [k, v] of run.history.faults) faults.set(k, (faults.get(k) ?? 0) + v);
  for (const e of run.entries) statuses.set(e.status, (statuses.get(e.status) ?? 0) + 1);
  events += run.history.timeline.length;
  for (const v of run.violations) console.log(seed, v.invariant, v.text);
  if (from === to) {
    for (const r of run.history.timeline) console.log(String(r.atMs - Date.UTC(2026,0,5)).padStart(8), r.actor, '|', r.what, r.fault ? `  [${r.fault}]` : '');
    for (const l of run.history.logs) if (l.level!=='info') console.log(l.atMs- Date.UTC(2026,0,5), l.level, l.message, JSON.stringify(l.facts));
    console.log(run.history.digest());
  }
}
const c = process.cpuUsage(cpu);
console.log(Math.round(performance.now() - t), 'ms', Math.round((c.user+c.system)/1000/(Number(to)-Number(from)+1)*10)/10, 'cpu ms/seed', events, 'rows');
console.log(Object.fromEntries([...faults].sort()), Object.fromEntries(statuses));
