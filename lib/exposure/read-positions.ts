import type { Clock } from '../base/clock.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn, toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { openPositions } from '../exchange/endpoints/open-positions.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { type PositionSide, positionSides } from '../model/order.ts';

/** The positions of an account at one time. */
export interface PositionsReading {
  /** When the reading began: nothing in it is older. */
  readonly readAtMs: number;
  readonly positions: readonly OpenPosition[];
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
  return { readAtMs, positions: await client.call(openPositions, {}, limits) };
}

/** A reading as the fact `positions` keeps it. */
export function describeReading({ readAtMs, positions }: PositionsReading): {
  readonly [field: string]: Json;
} {
  return { readAtMs, positions: toJson(positions) };
}

/** What {@link describeReading} wrote; null for anything else, as an older release may have left it. */
export function parseReading(fact: Json): PositionsReading | null {
  const { readAtMs, positions } = fieldsOf(fact);
  if (typeof readAtMs !== 'number' || !Array.isArray(positions)) return null;
  const read = (positions as readonly Json[]).flatMap((position) => parsePosition(position) ?? []);
  return { readAtMs, positions: read };
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
  };
}

function sideIn(json: Json | undefined): PositionSide {
  return positionSides.find((side) => side === json) ?? 'BOTH';
}
