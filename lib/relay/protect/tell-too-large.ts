import { type Clock, hasPassed } from '../../base/clock.ts';
import { type Decimal, formatDecimal, maximum, sumOf, zero } from '../../base/decimal.ts';
import { longestOrderLagMs } from '../../exchange/lag.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import { type Guard, type GuardView, guardPosition } from '../../protection/guards.ts';
import type { StandingExit } from '../../protection/known-exits.ts';
import { type GuardedPosition, shareOut } from '../../protection/shares.ts';
import { parseSight, parseWishes, sightFactOf, wishFactOf } from '../../protection/wishes.ts';
import { againAfterHours, nameOf } from './failed-alarm.ts';
import { inMarket, isKnown, type KeptReading, positionsOf } from './keep-protection.ts';

/** What telling needs. */
export interface TooLargeServices {
  readonly clock: Clock;
  readonly facts: Pick<AccountFacts, 'read'>;
  /** The options with which a command finds this relay. */
  readonly commandOptions: string;
}

/** A stop-loss or a take-profit which stands for more than is left of what it protects. */
interface TooLarge {
  readonly guard: Guard;
  readonly exits: readonly StandingExit[];
  /** It and how much is too much: nothing is left of what it protects, or a part. */
  readonly name: string;
}

/**
 * Tells of stop-losses and take-profits that are more than what is left of what they protect, where the account only raises
 * alarms: nothing fits them. One that the exchange made of an entry opens a position that nobody asked for when it fires. One
 * that the relay has placed, when it kept the protection, only reduces: it closes what another order opened. It is told when
 * it has lasted longer than the lists may lag behind: once of a position, and again after hours. Beside no position it is told
 * once, however often one comes and goes.
 *
 * @param sinceMs since when each of them is seen; kept from one reading to the next
 */
export async function tellTooLarge(
  { clock, facts, commandOptions }: TooLargeServices,
  teller: Teller,
  account: string,
  reading: KeptReading,
  sinceMs: Map<string, number>,
): Promise<void> {
  const nowMs = clock.nowMs();
  const seen = new Set<string>();
  for (const position of positionsOf(reading, listRecords(reading.entries))) {
    const place = placeOf(position);
    if (!isKnown(position, reading)) {
      for (const name of sinceMs.keys()) if (name.startsWith(`${place} `)) seen.add(name);
      continue;
    }
    const inPlace = inMarket(reading, position.market);
    const view = { ...inPlace, nowMs, wishes: [], sight: parseSight(null) };
    const hasPlaced = inPlace.entries.some(({ signal }) => signal?.action === 'protect');
    const found = [
      ...listTooLarge(position, view),
      ...(hasPlaced ? listLeft(position, { ...view, ...(await readAsked(facts, account, position)) }) : []),
    ];
    for (const { name } of found) {
      seen.add(name);
      // A time in the future was noted before the clock was set back.
      sinceMs.set(name, Math.min(sinceMs.get(name) ?? nowMs, nowMs));
    }
    const lasting = found.filter(({ name }) =>
      hasPassed(sinceMs.get(name) ?? nowMs, longestOrderLagMs, nowMs),
    );
    const [newest] = lasting;
    if (newest === undefined) continue;
    const { market } = position;
    const held = describeHeld(position);
    const orderIds = lasting.flatMap(({ exits }) => exits.map(({ orderId }) => orderId));
    const commands = orderIds.map(
      (orderId) => `npx relay cancel ${market} --order-id ${orderId} --account ${account}${commandOptions}`,
    );
    await teller.tell(account, {
      key: `too large: ${newest.name}`,
      alarm: {
        name: 'protection_failed',
        message: `${explain(lasting, { account, market, held })}; ${promise}`,
      },
      facts: { signalId: newest.guard.of, market, held, orderIds, whatToDo: commands.join('; ') },
      everyMs: againAfterHours * 3_600_000,
    });
  }
  for (const name of sinceMs.keys()) if (!seen.has(name)) sinceMs.delete(name);
}

const promise = `the relay changes nothing here (protection: 'alarm'), and tells this again after ${againAfterHours} hours`;

function placeOf({ market, side }: GuardedPosition): string {
  return `${market} ${side}`;
}

/** One position: another direction, or another opening, is another one. */
function describePosition(position: GuardedPosition): string {
  const { amount, openedAtMs } = position;
  if (amount.eq(zero)) return `${placeOf(position)} flat`;
  return `${placeOf(position)} ${amount.gt(zero) ? 'long' : 'short'} ${openedAtMs ?? ''}`;
}

async function readAsked(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
  position: GuardedPosition,
): Promise<Pick<GuardView, 'wishes' | 'sight'>> {
  const wishes = parseWishes(await facts.read(account, wishFactOf(position)));
  return { wishes, sight: parseSight(await facts.read(account, sightFactOf(position))) };
}

/** What the exchange made of entries, the newest first. */
function listTooLarge(position: GuardedPosition, view: GuardView): readonly TooLarge[] {
  return guardPosition(position, view).guards.flatMap((guard) => {
    const { of, role, amount, beside } = guard;
    const exits = guard.standing.filter(({ isMade, remaining }) => isMade && remaining !== null);
    if (!remainingOf(exits).gt(amount)) return [];
    // One that only reduces takes no more than there is, unless that is of something else.
    const isAlone = amount.gt(zero) && beside.eq(zero);
    if (isAlone && exits.every(({ onlyReduces }) => onlyReduces)) return [];
    const left = amount.eq(zero) ? 'nothing' : 'a part';
    return [{ guard, exits, name: `${describePosition(position)} ${of} ${left} ${role}` }];
  });
}

/** What the relay itself has placed, in a time in which it kept the protection. */
function listLeft(position: GuardedPosition, view: GuardView): readonly TooLarge[] {
  const shares = shareOut(listRecords(view.entries), position);
  const whole = position.amount.abs();
  // An entry that is not followed any more may have opened it: what protects that still fits.
  const unknown = shares.reduce((rest, { amount }) => rest.minus(amount), whole);
  return guardPosition(position, view).guards.flatMap((guard) => {
    const { of, role, record, part, amount, beside } = guard;
    const exits = guard.standing.filter(({ isMade, remaining }) => !isMade && remaining !== null);
    const isLeft = record === null && amount.eq(zero);
    const reduces = guard.side === 'sell' ? position.amount.gt(zero) : position.amount.lt(zero);
    const most = isLeft && reduces ? maximum(unknown, zero) : amount;
    if (!remainingOf(exits).gt(most)) return [];
    const share = shares.find((one) => one.record.signalId === of)?.amount ?? whole;
    const others = isLeft ? whole.minus(most) : part === undefined ? beside : whole.minus(share);
    // One that only reduces takes no more than there is.
    if (most.gt(zero) && others.eq(zero)) return [];
    const left = amount.eq(zero) ? 'nothing' : 'a part';
    return [
      { guard, exits, name: `${describePosition(position)} placed ${of} ${left} ${role} ${part ?? ''}` },
    ];
  });
}

function remainingOf(exits: readonly StandingExit[]): Decimal {
  return sumOf(exits.map(({ remaining }) => remaining ?? zero));
}

function describeHeld({ side, amount }: GuardedPosition): string {
  return [...(side === null ? [] : [side]), formatDecimal(amount)].join(' ');
}

function explain(
  found: readonly TooLarge[],
  { account, market, held }: { readonly account: string; readonly market: string; readonly held: string },
): string {
  const stand = found.flatMap(({ guard, exits }) =>
    exits.map(({ orderId, remaining, price }) => {
      const at = price === null ? '' : ` at ${formatDecimal(price)}`;
      return `the ${nameOf(guard)} of "${guard.of}" (order ${orderId}) is to ${guard.side} ${formatDecimal(remaining ?? zero)}${at}, and ${formatDecimal(guard.amount)} of what it protects is left`;
    }),
  );
  const onlyReduces = found.every(({ exits }) => exits.every((exit) => exit.onlyReduces));
  const danger = onlyReduces
    ? 'one that fires closes what another order opened'
    : 'one that fires may open a position that nobody asked for, or close what another order opened';
  const isStopLeft = found.some(({ guard: { role, amount } }) => role === 'stop_loss' && amount.gt(zero));
  const after = isStopLeft
    ? '; then nothing stops the rest out, and the alarm position_unprotected has the command for it'
    : '';
  return `the position in ${market} is ${held}, and exits stand for more: ${stand.join('; ')}; ${danger}: cancel them (\`npx relay cancel ${market} --order-id N --account ${account}\`)${after}`;
}
