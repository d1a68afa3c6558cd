import { readPosition } from '../../account/read-position.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { toJson } from '../../base/json.ts';
import type { SignalEntry } from '../../ledger/entry.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import type { Side } from '../../model/order.ts';
import type { ExitRole, PriceOrDistance, ProtectPositionSignal } from '../../model/signal.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import { namesOfWish, pricedFrom } from '../../protection/wanted.ts';
import { wishFactOf } from '../../protection/wishes.ts';
import { deny, type Plan } from '../execute/action.ts';
import { checkPositions } from '../position/check-positions.ts';
import type { ExecuteServices } from '../services.ts';
import { askProtection, needOfWish } from './ask-protection.ts';

/** A stored signal about the protection of a whole position. */
export type WishEntry = SignalEntry & { readonly signal: ProtectPositionSignal };

/**
 * Notes what protects a position from now on, and asks for its orders. Nothing is sent by this signal itself.
 *
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function planWish(services: ExecuteServices, account: Account, entry: WishEntry): Promise<Plan> {
  const { signal, signalId } = entry;
  const { positionSide, trailing, strategy } = signal;
  const ground = await checkPositions(services, account, signal);
  if (!ground.ok) return ground.plan;
  const { market, client } = ground;
  if (account.protection !== 'keep')
    return deny(
      'protection_not_kept',
      "protection: 'keep'",
      account.protection ?? 'alarm',
      `account ${account.name} does not keep the protection of its positions, so the relay places no stop-loss by itself; write protection: 'keep' in relay.config.ts`,
    );
  const query = { account: account.name, market: market.name, signalId, positionSide };
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const reading = await readPosition(services, client, query, limits);
  if (reading.kind === 'waits') return { ...reading, verdict: 'waiting' };
  if (reading.kind === 'denied') return { verdict: 'denied', denial: reading.denial };
  const { amount, side } = reading.position;
  if (amount.eq(zero))
    return deny(
      'no_position',
      'an open position',
      'flat',
      `there is no open position in ${market.name} to protect; nothing was changed`,
    );
  const priced = pricesOf(signal, reading.basePrice, amount.gt(zero) ? 'buy' : 'sell');
  if (priced === null)
    return deny(
      'no_entry_price',
      'an average entry price',
      'none',
      `the exchange does not say the average entry price of the position in ${market.name}, which a distance and "entry" count from; write prices`,
    );
  const wish: PositionWish = {
    signalId,
    market: market.name,
    ...(side === null ? {} : { side }),
    ...(strategy === undefined ? {} : { strategy }),
    atMs: services.clock.nowMs(),
    amount: formatDecimal(amount),
    ...priced,
    ...(trailing === undefined ? {} : { trailing }),
  };
  const rehearsal = findRehearsalReason(account.mode, services.isPaperExchange);
  if (rehearsal !== null)
    return {
      verdict: 'ended',
      outcome: {
        status: 'dry_run',
        note: `${rehearsal}: nothing was changed; this would protect the position: ${describeWish(wish)}`,
        evidence: toJson(wish),
      },
    };
  // Noted before its outcome is: a process that dies between the two carries it out again.
  await services.facts.write(account.name, wishFactOf({ market: market.name, side }), toJson(wish));
  await askProtection(
    services,
    namesOfWish(wish).map((name) => needOfWish(account.name, wish, name)),
  );
  const note = `what protects the position of ${formatDecimal(amount)} is noted: ${describeWish(wish)}; its orders are signals of their own`;
  return {
    verdict: 'ended',
    outcome: { status: 'satisfied', note, evidence: toJson(wish), facts: { wish } },
  };
}

type Prices = Pick<PositionWish, 'stopLoss' | 'takeProfits'>;

/** @returns null when a distance counts from a price that is not known */
function pricesOf(
  { stopLoss, takeProfits }: ProtectPositionSignal,
  entryPrice: Decimal | null,
  side: Side,
): Prices | null {
  const price = (text: PriceOrDistance | 'entry', role: ExitRole): string | null => {
    const exact = text === 'entry' ? entryPrice : pricedFrom(text, entryPrice, role, side);
    return exact === null ? null : exact.round(pricePlaces).toFixed();
  };
  const stop = stopLoss === undefined ? undefined : price(stopLoss, 'stop_loss');
  const targets = takeProfits?.map((part) => ({ ...part, price: price(part.price, 'take_profit') }));
  if (stop === null) return null;
  const known = targets?.flatMap(({ price: exact, share }) =>
    exact === null ? [] : [{ price: exact, share }],
  );
  if (known?.length !== targets?.length) return null;
  return {
    ...(stop === undefined ? {} : { stopLoss: stop }),
    ...(known === undefined ? {} : { takeProfits: known }),
  };
}

/** Enough for every price; an average has no end. */
const pricePlaces = 8;

function describeWish({ stopLoss, trailing, takeProfits = [] }: PositionWish): string {
  return [
    ...(stopLoss === undefined ? [] : [`stop-loss at ${formatDecimal(parseDecimal(stopLoss))}`]),
    ...(trailing === undefined ? [] : [`stop-loss ${trailing} behind the best price`]),
    ...takeProfits.map(({ price, share }) => `take-profit at ${price} for ${share}`),
  ].join(', ');
}
