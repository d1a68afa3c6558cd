import { simulate } from './test/simulation/simulate.ts';

const run = await simulate({ seed: Number(process.argv[2]), dialect: 'live', signals: 12 });
for (const e of run.entries)
  if (/^p|^h-/.test(e.signalId))
    console.log(
      e.account,
      e.signalId,
      JSON.stringify(e.signal),
      e.steps.map((s) => `${s.status}: ${s.note} ${JSON.stringify(s.evidence)}`).join('\n      '),
    );
const t0 = Date.UTC(2026, 0, 5);
for (const d of run.exchange.deals)
  console.log(
    (d.atMs - t0) / 1000,
    d.account,
    d.market,
    d.side,
    d.amount.toFixed(),
    d.clientOrderId,
    d.orderId,
  );
for (const s of run.history.sends)
  if (s.path.includes('positions'))
    console.log((s.atMs - t0) / 1000, s.signer, s.body.slice(0, 90), JSON.stringify(s.outcome).slice(0, 200));
