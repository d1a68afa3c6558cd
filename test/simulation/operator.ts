import { floorToStep, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import type { Deployment } from './deployment.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import type { MiddlePrice } from './price-drift.ts';
import { resolveUnknown } from './resolving.ts';
import type { SimulatedWorld } from './simulated-world.ts';
import type { SpotRun } from './spot-runs.ts';

const accountNames = ['main', 'second', 'rehearsal'] as const;
const secondMs = 1000;
const longestFreezeMs = 100 * secondMs;

/** The valid keys of the paper exchange. */
const goodKeys = {
  main: { apiKey: 'paper-key', apiSecret: 'paper-secret' },
  second: { apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' },
  rehearsal: { apiKey: 'paper-key', apiSecret: 'paper-secret' },
};
/** Keys that the exchange refuses until the rotation: the first may not trade, the second is disabled. */
const refusedKeys = {
  main: { apiKey: 'paper-key-4', apiSecret: 'paper-secret-4' },
  second: { apiKey: 'paper-key-3', apiSecret: 'paper-secret-3' },
};

export function fillSecrets({ secrets }: SimulatedWorld): void {
  for (const account of accountNames) {
    secrets.tokens.set(account, { current: `first-token-of-${account}`, previous: null });
    secrets.keys.set(account, goodKeys[account]);
  }
}

/** Schedules what the operator and the environment do to relay, exchange and clocks while alerts arrive. */
export function scheduleInterventions(world: SimulatedWorld, deployment: Deployment, untilMs: number): void {
  const { random, loop } = world.stage;
  const sometime = () => rollWhole(random, 0, untilMs - loop.nowMs);
  if (rollChance(random, 0.4)) schedulePause(world, sometime());
  if (rollChance(random, 0.3)) scheduleTokenRotation(world, sometime());
  if (rollChance(random, 0.25)) scheduleKeyRotation(world, sometime());
  if (rollChance(random, 0.3)) scheduleOutage(world, sometime());
  if (rollChance(random, 0.25)) scheduleStoreOutage(world, sometime());
  if (rollChance(random, 0.4)) scheduleListOutage(world, deployment, sometime());
  if (rollChance(random, 0.5)) loop.schedule(sometime(), () => deployment.redrive());
  if (rollChance(random, 0.5)) loop.schedule(sometime(), () => resolveUnknown(world));
  for (let count = 0; count < 2; count += 1) {
    loop.schedule(sometime(), () => perhapsKill(world, deployment));
    loop.schedule(sometime(), () => perhapsFreeze(world, deployment));
    loop.schedule(sometime(), () => perhapsStepClocks(world, deployment));
  }
}

function note({ stage }: SimulatedWorld, what: string, fault: string): void {
  stage.history.note(stage.loop.nowMs, 'operator', what, fault);
}

function schedulePause(world: SimulatedWorld, delayMs: number): void {
  const { stage, ledger } = world;
  const account = pickOne(stage.random, ['main', 'second'] as const);
  const lastsMs = rollWhole(stage.random, 10, 60) * secondMs;
  stage.loop.schedule(delayMs, async () => {
    const fromMs = stage.loop.nowMs;
    await ledger.writePause(account, { sinceMs: fromMs, reason: 'simulated', kind: 'everything' });
    const span = { account, fromMs, untilMs: Number.POSITIVE_INFINITY };
    stage.history.pauses.push(span);
    note(world, `pauses ${account}`, 'operator: pause');
    stage.loop.schedule(lastsMs, async () => {
      span.untilMs = stage.loop.nowMs;
      await ledger.writePause(account, null);
      note(world, `resumes ${account}`, 'operator: resume');
    });
  });
}

function scheduleTokenRotation(world: SimulatedWorld, delayMs: number): void {
  const { stage, secrets } = world;
  const account = pickOne(stage.random, accountNames);
  const graceMs = rollWhole(stage.random, 0, 60) * secondMs;
  stage.loop.schedule(delayMs, () => {
    const token = secrets.tokens.get(account)?.current ?? '';
    const validUntilMs = stage.loop.nowMs + graceMs;
    secrets.tokens.set(account, {
      current: `second-token-of-${account}`,
      previous: { token, validUntilMs },
    });
    note(world, `rotates the token of ${account}`, 'operator: token rotation');
  });
}

/** The exchange refuses the key until it is replaced. */
function scheduleKeyRotation(world: SimulatedWorld, delayMs: number): void {
  const { stage, secrets } = world;
  const account = pickOne(stage.random, ['main', 'second'] as const);
  secrets.keys.set(account, refusedKeys[account]);
  stage.loop.schedule(delayMs, () => {
    secrets.keys.set(account, goodKeys[account]);
    note(world, `replaces the key of ${account}`, 'operator: key rotation');
  });
}

function scheduleOutage(world: SimulatedWorld, delayMs: number): void {
  const { stage } = world;
  const lastsMs = rollWhole(stage.random, 5, 40) * secondMs;
  stage.loop.schedule(delayMs, () => {
    world.outages.isExchangeDown = true;
    note(world, 'the exchange goes down', 'exchange: down');
    stage.loop.schedule(lastsMs, () => {
      world.outages.isExchangeDown = false;
      note(world, 'the exchange is back', 'exchange: back');
    });
  });
}

/** A full disk or a throttled table: stores cannot be read or written for a while. */
function scheduleStoreOutage(world: SimulatedWorld, delayMs: number): void {
  const { stage } = world;
  const lastsMs = rollWhole(stage.random, 5, 90) * secondMs;
  const failing = pickOne(stage.random, ['ledger.', 'ledger.', 'queue.', 'secrets.', ''] as const);
  stage.loop.schedule(delayMs, () => {
    world.outages.failingSteps = failing;
    note(world, `the stores go down (${failing === '' ? 'all of them' : failing})`, 'stores: down');
    stage.loop.schedule(lastsMs, () => {
      world.outages.failingSteps = null;
      note(world, 'the stores are back', 'stores: back');
    });
  });
}

/** Only the market list fails, often just after a restart of the relay. */
function scheduleListOutage(world: SimulatedWorld, deployment: Deployment, delayMs: number): void {
  const { stage, outages } = world;
  const lastsMs = rollWhole(stage.random, 20, 240) * secondMs;
  const fault = pickOne(stage.random, [
    'lost_before',
    'hung',
    'error_before',
    'rate_429',
    'garbage_after',
  ] as const);
  const restartsAfterMs = rollWhole(stage.random, 0, 5) * secondMs;
  stage.loop.schedule(delayMs, () => {
    outages.marketList = fault;
    note(world, `the market list goes down (${fault})`, 'exchange: market list down');
    if (rollChance(stage.random, 0.7)) stage.loop.schedule(restartsAfterMs, () => deployment.forget());
    stage.loop.schedule(lastsMs, () => {
      outages.marketList = null;
      note(world, 'the market list is back', 'exchange: market list back');
    });
  });
}

function perhapsKill({ stage }: SimulatedWorld, deployment: Deployment): void {
  if (stage.faults.strikes('killed')) deployment.busyProcess()?.die('killed', 'hazard: killed');
}

function perhapsFreeze({ stage }: SimulatedWorld, deployment: Deployment): void {
  if (stage.faults.strikes('frozen'))
    deployment.busyProcess()?.freeze(rollWhole(stage.random, 1000, longestFreezeMs));
}

function perhapsStepClocks(world: SimulatedWorld, deployment: Deployment): void {
  const { faults, random } = world.stage;
  if (!faults.strikes('clock_step')) return;
  const skewMs = rollWhole(random, -8000, 8000);
  deployment.setClocks(skewMs);
  note(world, `the clocks jump to ${skewMs} ms from the true time`, 'hazard: clock_step');
}

const longestAheadMs = 40 * 60_000;

/** The clocks start far ahead of the true time, and are set right later. */
export function perhapsStartAhead(world: SimulatedWorld, deployment: Deployment, untilMs: number): void {
  const { faults, random, loop } = world.stage;
  if (!faults.strikes('clock_set_back')) return;
  const skewMs = rollWhole(random, 120 * secondMs, longestAheadMs);
  deployment.setClocks(skewMs);
  note(world, `the clocks are ${skewMs} ms ahead`, 'hazard: clock_set_back');
  loop.schedule(rollWhole(random, 10 * secondMs, untilMs - loop.nowMs), () => {
    deployment.setClocks(rollWhole(random, -1000, 1000));
    note(world, 'the clocks are set right', 'clocks: set back');
  });
}

const markets = ['BTC_USDT', 'BTC_PERP', 'ETH_USDT', 'SOL_USDT'] as const;
const widestMove = 0.004;

/** Moves prices around the middle ones, so that stop orders trigger and some orders fill. */
export function wanderPrices(world: SimulatedWorld, untilMs: number, middleOf: MiddlePrice): void {
  const { loop, random, history } = world.stage;
  if (loop.nowMs >= untilMs) return;
  const name = pickOne(random, markets);
  const next = (middleOf(name, loop.nowMs) * (1 + (random() - 0.5) * widestMove)).toFixed(2);
  world.exchange.setPrice(name, next, loop.nowMs);
  history.note(loop.nowMs, 'exchange', `${name} trades at ${next}`);
  loop.schedule(rollWhole(random, 1, 10) * secondMs, () => wanderPrices(world, untilMs, middleOf));
}

/** In one market: a buy that rests fills in part, and later the price falls through the rest of it and its stop-loss at once. */
export function fallThrough(world: SimulatedWorld, run: SpotRun, untilMs: number): void {
  const { loop, history } = world.stage;
  const { random, shared } = run;
  if (loop.nowMs >= untilMs) return;
  const market = world.settings.tickers[shared.ticker] ?? '';
  const { amountStep, priceStep } = marketNamed(market);
  const own = [...world.exchange.state.open.values()].filter(
    (order) => order.account === shared.account && order.market === market && order.clientOrderId !== '',
  );
  const buy = own.find(
    ({ side, price, activationPrice }) => side === 'buy' && price !== null && activationPrice === null,
  );
  const stop = own.find(
    ({ side, activated, activationPrice }) => side === 'sell' && activationPrice !== null && !activated,
  );
  if (buy?.price != null && buy.filled.eq(zero)) {
    const part = floorToStep(buy.amount.times(parseDecimal(pickOne(random, ['0.3', '0.6']))), amountStep);
    world.exchange.setPrice(market, formatDecimal(buy.price), loop.nowMs, part);
    history.note(
      loop.nowMs,
      'exchange',
      `${market} trades ${formatDecimal(part)} at a buy that rests`,
      'price: part of a buy',
    );
  } else if (stop?.activationPrice != null && rollChance(random, 0.5)) {
    const price = formatDecimal(floorToStep(stop.activationPrice.times(parseDecimal('0.9995')), priceStep));
    world.exchange.setPrice(market, price, loop.nowMs);
    history.note(loop.nowMs, 'exchange', `${market} falls to ${price}`, 'price: fall through a stop-loss');
  }
  loop.schedule(rollWhole(random, 3, 20) * secondMs, () => fallThrough(world, run, untilMs));
}
