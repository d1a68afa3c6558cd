import { protectionBoundMs } from '../../account/find-protection.ts';
import { type Clock, hasPassed } from '../../base/clock.ts';
import { formatDecimal, zero } from '../../base/decimal.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import { describeGuard } from '../../protection/wanted.ts';
import type { Kept, Unstopped } from './keep-protection.ts';

/** What telling of them needs. */
interface UnstoppedServices {
  readonly clock: Clock;
  /** The options with which a command finds this relay. */
  readonly commandOptions: string;
}

/**
 * Tells once of each stop-loss that an alert asked for the whole position, and that another than the relay has ended. It is told
 * when it has lasted as long as one of an entry may be missing: the position may be gone with it.
 *
 * @param sinceMs since when each of them is seen; kept from one reading to the next
 */
export async function tellUnstopped(
  { clock, commandOptions }: UnstoppedServices,
  teller: Teller,
  account: string,
  { unstopped, areAllKnown }: Kept,
  sinceMs: Map<string, number>,
): Promise<void> {
  const nowMs = clock.nowMs();
  const seen = new Set(unstopped.map(({ guard }) => describeGuard(guard)));
  if (areAllKnown) for (const name of sinceMs.keys()) if (!seen.has(name)) sinceMs.delete(name);
  for (const one of unstopped) {
    const name = describeGuard(one.guard);
    // A time in the future was noted before the clock was set back.
    const beganMs = Math.min(sinceMs.get(name) ?? nowMs, nowMs);
    sinceMs.set(name, beganMs);
    if (!hasPassed(beganMs, protectionBoundMs, nowMs)) continue;
    const { position, guard, amount } = one;
    const { market } = position;
    const direction = position.amount.gt(zero) ? 'long' : 'short';
    const size = formatDecimal(amount);
    const price = guard.price === null ? null : formatDecimal(guard.price);
    const at = price === null ? '' : ` at ${price}`;
    await teller.tell(account, {
      key: `unstopped: ${name}`,
      alarm: {
        name: 'position_unprotected',
        message: `the position ${direction} ${size} in ${market} has no stop-loss: that${at} of "${guard.of}" was ended by another than the relay, which does not place it again`,
      },
      facts: {
        signalId: guard.of,
        market,
        position: direction,
        amount: size,
        ...(price === null ? {} : { stopPrice: price }),
        whatToDo: `${composeProtectCommand(one, price)} --account ${account}${commandOptions}`,
      },
      everyMs: null,
    });
  }
}

function composeProtectCommand({ position, wish }: Unstopped, price: string | null): string {
  const { market, side } = position;
  return [
    `npx relay protect ${market}`,
    ...(price === null ? [] : [`--stop-loss ${price}`]),
    ...(wish.trailing === undefined ? [] : [`--trailing ${wish.trailing}`]),
    ...(side === null ? [] : [`--side ${side.toLowerCase()}`]),
  ].join(' ');
}
