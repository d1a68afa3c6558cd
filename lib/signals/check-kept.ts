import type { Account, TradingGround } from '../model/account.ts';
import type { Fields } from './fields.ts';
import type { Issues } from './issues.ts';
import type { ExitsPart } from './read-exits.ts';

/** What only the relay itself can place and move, and the account that it is asked of. */
export interface KeptSource {
  readonly account: Pick<Account, 'name' | 'protection'>;
  /** Undefined when the account does not trade the market. */
  readonly tradesOn: TradingGround | undefined;
  readonly path: string;
  /** For example `a trailing stop-loss`. */
  readonly what: string;
}

/** Refuses what the relay would have to keep where it keeps nothing: it would be dropped. */
export function refuseUnkept({ account, tradesOn, path, what }: KeptSource, issues: Issues): void {
  if (tradesOn === 'spot')
    issues.add(
      path,
      `${what} protects a position, and a spot market has none`,
      'remove it, and send a "limit" or "stop_limit" order of the other side after the entry; or trade the market on margin (tradesOn in relay.config.ts)',
    );
  else if (account.protection !== 'keep')
    issues.add(
      path,
      `${what} is placed and moved by the relay, and account ${account.name} only raises alarms (protection: 'alarm')`,
      'write protection: \'keep\' in relay.config.ts; or one "stopLoss" and one "takeProfit" in the entry, which the exchange holds',
    );
}

/** The same of what an entry asks for. */
export function refuseUnkeptExits(
  { takeProfits, trailing }: ExitsPart,
  fields: Fields,
  source: Pick<KeptSource, 'account' | 'tradesOn'>,
  issues: Issues,
): void {
  if (takeProfits !== undefined)
    refuseUnkept({ ...source, path: fields.takeProfits?.path ?? '', what: 'a list of take-profits' }, issues);
  const path = (fields.trailing ?? fields.stopLoss)?.path ?? '';
  if (trailing !== undefined) refuseUnkept({ ...source, path, what: 'a trailing stop-loss' }, issues);
}
