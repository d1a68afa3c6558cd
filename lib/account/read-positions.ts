import type { Clock } from '../base/clock.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn, toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { listPositions } from '../exchange/list-positions.ts';
import { type HiddenMarkets, mayHide } from '../exchange/listed.ts';
import type { AttachedExits, OpenPosition } from '../model/holdings.ts';
import { type PositionSide, positionSides } from '../model/order.ts';
import { positionIn } from './position-change.ts';

/** The positions of an account at one time. */
export interface PositionsReading {
  /** When the reading began: nothing in it is older. */
  readonly readAtMs: number;
  readonly positions: readonly OpenPosition[];
  /** Where a position may be open that could not be read. */
  readonly hidden: HiddenMarkets;
  /** When the last reading began that hid nothing. */
  readonly wholeAtMs: number;
}

/**
 * Reads the open positions of the account that signs, of all its markets.
 *
 * @throws ExchangeError when the exchange cannot be read
 */
export async function readPositions({
  client,
  clock,
  limits,
}: {
  readonly client: ExchangeClient;
  readonly clock: Clock;
  readonly limits: SendOptions;
}): Promise<PositionsReading> {
  const readAtMs = clock.nowMs();
  return { readAtMs, wholeAtMs: readAtMs, ...(await listPositions(client, limits)) };
}

/** What is not known of the positions, one sentence each. */
export function describeHidden({ hidden }: PositionsReading): readonly string[] {
  return hidden.map((market) =>
    market === null
      ? 'a position cannot be read, and its market is not known'
      : `a position in ${market} cannot be read`,
  );
}

/** Adds what was read before and what a record may be that cannot be read: nobody knows that it has changed. */
export function keepHidden(reading: PositionsReading, before: PositionsReading | null): PositionsReading {
  const { positions, hidden } = reading;
  const kept = (before?.positions ?? []).filter(
    (position) => mayHide(hidden, position.market) && positionIn(positions, position) === null,
  );
  const wholeAtMs = hidden.length === 0 || before === null ? reading.readAtMs : before.wholeAtMs;
  return { ...reading, positions: [...positions, ...kept], wholeAtMs };
}

/** A reading as the fact `positions` keeps it. */
export function describeReading({ readAtMs, positions, hidden, wholeAtMs }: PositionsReading): {
  readonly [field: string]: Json;
} {
  return {
    readAtMs,
    positions: toJson(positions),
    ...(hidden.length === 0 ? {} : { hidden, wholeAtMs }),
  };
}

/** What {@link describeReading} wrote; null for anything else, as an older release may have left it. */
export function parseReading(fact: Json): PositionsReading | null {
  const { readAtMs, positions } = fieldsOf(fact);
  if (typeof readAtMs !== 'number' || !Array.isArray(positions)) return null;
  const read = (positions as readonly Json[]).flatMap((position) => parsePosition(position) ?? []);
  const { hidden, wholeAtMs } = fieldsOf(fact);
  const markets = Array.isArray(hidden) ? (hidden as readonly Json[]) : [];
  return {
    readAtMs,
    positions: read,
    hidden: markets.map((market) => (typeof market === 'string' ? market : null)),
    wholeAtMs: numberIn(wholeAtMs) ?? readAtMs,
  };
}

function parsePosition(json: Json): OpenPosition | null {
  const fields = fieldsOf(json);
  const { positionId, market } = fields;
  const amount = decimalIn(fields['amount']);
  if (typeof positionId !== 'number' || typeof market !== 'string' || amount === null) return null;
  return {
    positionId,
    market,
    amount,
    positionSide: sideIn(fields['positionSide']),
    basePrice: decimalIn(fields['basePrice']),
    realisedProfit: decimalIn(fields['realisedProfit']),
    floatingProfit: decimalIn(fields['floatingProfit']),
    margin: decimalIn(fields['margin']),
    liquidationPrice: decimalIn(fields['liquidationPrice']),
    liquidationState: textIn(fields['liquidationState']),
    openedAtMs: numberIn(fields['openedAtMs']),
    modifiedAtMs: numberIn(fields['modifiedAtMs']),
    tpsl: exitsIn(fields['tpsl']),
  };
}

function exitsIn(json: Json | undefined): AttachedExits | null {
  // An older release stored none.
  if (json === undefined || json === null) return null;
  const fields = fieldsOf(json);
  return {
    stopLossId: numberIn(fields['stopLossId']),
    stopLoss: decimalIn(fields['stopLoss']),
    takeProfitId: numberIn(fields['takeProfitId']),
    takeProfit: decimalIn(fields['takeProfit']),
  };
}

function sideIn(json: Json | undefined): PositionSide {
  return positionSides.find((side) => side === json) ?? 'BOTH';
}
