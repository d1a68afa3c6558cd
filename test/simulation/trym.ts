import { simulate } from './simulate.ts';
import { mutants } from './mutants.ts';
const max = Number(process.argv[2] ?? 300); const only=process.argv[3];
for (const m of mutants) { if (only && m.name!==only) continue;
  for (const dialect of ['live','documented'] as const) {
  let found = '';
  for (let seed = 1; seed <= max; seed++) {
    const run = await simulate({ seed, dialect, signals: 12, mutation: m.mutation });
    if (run.violations.length > 0) { found = `seed ${seed}: ${[...new Set(run.violations.map(v=>v.invariant))]} ${run.violations[0]!.text}`; break; }
  }
  console.log(m.name.padEnd(28), dialect.padEnd(11), found || 'SURVIVES');
}}
